// One server in a separate process: `node server.mjs KIND SIZE-AS-JSON`. Answers messages of its parent.
import { writeSync } from "node:fs";
import { Session } from "node:inspector/promises";
import { startServer } from "./servers.mjs";

const [kind = "bare", size = "{}"] = process.argv.slice(2);
const server = await startServer(
  /** @type {import("./servers.mjs").Kind} */ (kind),
  JSON.parse(size),
);
const session = new Session();
session.connect();
await session.post("Profiler.enable");
await session.post("Profiler.setSamplingInterval", { interval: 500 });

/** @type {Record<string, () => Promise<unknown>>} */
const answers = {
  address: async () => ({ url: server.url, token: server.token }),
  profile: async () => session.post("Profiler.start"),
  profiled: async () => (await session.post("Profiler.stop")).profile,
  // Microseconds of processor time, which other programs on the machine influence less.
  cpu: async () => {
    const { user, system } = process.cpuUsage();
    return user + system;
  },
  memory: async () => {
    globalThis.gc?.();
    const { heapUsed, rss } = process.memoryUsage();
    return { heapUsed, rss };
  },
  close: async () => {
    await server.close();
    setImmediate(() => process.disconnect());
    return true;
  },
};

process.on("message", (asked) => {
  const answer = answers[String(asked)];
  answer?.().then(
    (value) => process.send?.(value),
    (error) => {
      writeSync(2, `${error?.stack}\n`);
      process.exit(1);
    },
  );
});
process.send?.("ready");
