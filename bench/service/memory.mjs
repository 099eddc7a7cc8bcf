// Checks that the memory of a guarded server stays flat: `node bench/service/memory.mjs --minutes 10 [--kind
// durable]`. Prints the heap after a collection at each step, and the growth per minute in the second half.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { startChild, startLoad } from "./children.mjs";

const { values } = parseArgs({
  options: { minutes: { type: "string", default: "10" }, kind: { type: "string" } },
});
const kind = /** @type {import("./servers.mjs").Kind} */ (values.kind ?? "durable");
const STEPS = 20;
const milliseconds = (Number(values.minutes) * 60_000) / STEPS;
const folder = mkdtempSync(join(tmpdir(), "proviso-service-"));
const load = await startLoad();
try {
  const server = await startChild(kind, { grants: 1, revocations: 0, folder });
  /** @type {number[]} */
  const heaps = [];
  for (let step = 1; step <= STEPS; step++) {
    const { calls } = await load.calls(server.address, { milliseconds });
    const { heapUsed, rss } = await server.ask("memory");
    heaps.push(heapUsed);
    const [heap, resident] = [heapUsed, rss].map((bytes) => (bytes / 2 ** 20).toFixed(1));
    const minutes = ((step * milliseconds) / 60_000).toFixed(1);
    console.log(`${minutes} min: ${calls} calls, heap ${heap} MiB, resident ${resident} MiB`);
  }
  const half = heaps.slice(STEPS / 2);
  const grown = ((half.at(-1) ?? 0) - (half[0] ?? 0)) / 2 ** 20;
  const minutes = ((half.length - 1) * milliseconds) / 60_000;
  console.log(`${(grown / minutes).toFixed(2)} MiB of heap a minute in the second half`);
  await server.ask("close");
} finally {
  load.stop();
  rmSync(folder, { recursive: true, force: true });
}
