// Measures memory on the heap of a separate process: the bytes that an AuthenticToken retains, and the bytes that an
// allowance with a warm cache allocates.
import { spawnSync } from "node:child_process";
import { fileURLToPath } from "node:url";
import { ALLOWED, decide, issuer, pool } from "../workload.mjs";

/** @import { Figures } from "../measure.mjs" */

const CHILD = "--count";

function count() {
  const collect = globalThis.gc;
  if (collect === undefined) throw new Error("needs --expose-gc");
  const used = () => {
    collect();
    return process.memoryUsage().heapUsed;
  };
  const tokens = pool(3, 4000);
  for (const token of tokens) issuer.authenticate(token);
  const before = used();
  const kept = tokens.map((token) => issuer.authenticate(token));
  const retained = (used() - before) / kept.length;
  const same = tokens[0] ?? "";
  for (let at = 0; at < 50_000; at++) decide(same, ALLOWED, true);
  // Few enough calls that their garbage fits into the young generation and is not collected before the second reading.
  const CALLS = 500;
  used();
  const start = process.memoryUsage().heapUsed;
  for (let at = 0; at < CALLS; at++) decide(same, ALLOWED, true);
  const allocated = (process.memoryUsage().heapUsed - start) / CALLS;
  console.log(JSON.stringify({ retained, allocated, kept: kept.length }));
}

/** @returns {Promise<Figures[]>} */
export async function run() {
  const args = ["--expose-gc", "--max-semi-space-size=64", fileURLToPath(import.meta.url), CHILD];
  const { stdout, stderr, status } = spawnSync(process.execPath, args, { encoding: "utf8" });
  if (status !== 0) throw new Error(stderr);
  const { retained, allocated } = JSON.parse(stdout);
  return [
    {
      title: "Memory",
      about: "Bytes of the heap, a token of 3 hops.",
      columns: ["", "bytes"],
      rows: [
        ["retained for each AuthenticToken", Math.round(retained)],
        ["allocated for each warm allowance", Math.round(allocated)],
      ],
      ratios: {},
      values: { "bytes allocated for each warm allowance": Math.round(allocated) },
    },
  ];
}

if (process.argv.includes(CHILD)) count();
