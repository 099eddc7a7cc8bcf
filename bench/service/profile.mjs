// Prints a CPU profile of a server: the time that is spent in each file of this package and in each other package.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { startChild, startLoad } from "./children.mjs";
import { warmUp } from "./warm.mjs";

/** @import { Profiler } from "node:inspector" */
/** @import { Kind } from "./servers.mjs" */

/** Milliseconds to profile, and lines to print. */
const PROFILED = 5000;
const LINES = 50;

/**
 * Prints self time of a warm server, in microseconds a call.
 * @param {Kind} kind @param {boolean} byFunction `true` for one line for each function, `false` for one line for each
 *   file
 */
export async function printProfile(kind, byFunction) {
  const folder = mkdtempSync(join(tmpdir(), "proviso-service-"));
  const load = await startLoad();
  try {
    const server = await startChild(kind, { grants: 1, revocations: 100_000, folder });
    await warmUp(load, server);
    await server.ask("profile");
    const { calls } = await load.calls(server.address, { milliseconds: PROFILED });
    const taken = await server.ask("profiled");
    await server.ask("close");
    console.log(`${kind}: ${calls} calls while profiled; microseconds a call\n`);
    for (const { what, microseconds, share } of selfTimes(taken, byFunction).slice(0, LINES)) {
      const each = (microseconds / calls).toFixed(1).padStart(7);
      console.log(`${each}  ${(share * 100).toFixed(1).padStart(5)} %  ${what}`);
    }
  } finally {
    load.stop();
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Leaves out idle time, and the profiler itself. */
const LEFT_OUT = ["(idle)", "dispatch"];

/** Returns self times, the largest first. @param {Profiler.Profile} profile @param {boolean} byFunction */
function selfTimes({ nodes, samples = [], timeDeltas = [] }, byFunction) {
  const names = new Map(nodes.map(({ id, callFrame }) => [id, nameOf(callFrame, byFunction)]));
  /** @type {Map<string, number>} */
  const times = new Map();
  let all = 0;
  samples.forEach((id, at) => {
    const name = names.get(id) ?? "unknown";
    const time = timeDeltas[at] ?? 0;
    if (LEFT_OUT.includes(name)) return;
    times.set(name, (times.get(name) ?? 0) + time);
    all += time;
  });
  return [["all", all], ...[...times].sort(([, a], [, b]) => b - a)].map(
    ([what, microseconds]) => ({
      what: String(what),
      microseconds: Number(microseconds),
      share: Number(microseconds) / all,
    }),
  );
}

/** @param {Profiler.Profile["nodes"][number]["callFrame"]} frame @param {boolean} byFunction */
function nameOf(frame, byFunction) {
  const file = fileOf(frame);
  const { functionName, lineNumber } = frame;
  return byFunction && file !== functionName ? `${file}:${lineNumber + 1} ${functionName}` : file;
}

/** @param {{ url: string, functionName: string }} frame */
function fileOf({ url, functionName }) {
  const [, own] = /\/dist\/(src\/.+)$/.exec(url.includes("node_modules") ? "" : url) ?? [];
  if (own !== undefined) return own;
  const [, name] = /.*\/node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(url) ?? [];
  if (name !== undefined) return name;
  if (url.startsWith("node:")) return url;
  return functionName === "" || url !== "" ? "bench" : functionName;
}
