// Proviso on a runtime that has no digest of its own, behind the protocol of ../children.mjs. Verifies the first token
// of a pool repeatedly.
import { createInterface } from "node:readline";

Object.defineProperty(process, "getBuiltinModule", { value: undefined });
const { ALLOWED, decide } = await import("../../workload.mjs");

/** @type {string[]} */
const pools = [];
let [awaited, total] = [0, 0];
for await (const line of createInterface({ input: process.stdin })) {
  const [op, first = "", second = ""] = line.split(" ");
  if (awaited > 0) {
    if (awaited === total) pools.push(line);
    if (--awaited > 0) continue;
    // Warms up the code as far as in the process of the benchmark, where other contenders have run the same code.
    for (let at = 0; at < 5000; at++) decide(pools.at(-1) ?? "", ALLOWED, true);
    console.log(pools.length - 1);
  } else if (op === "key") console.log(0);
  else if (op === "load") awaited = total = Number(first);
  else {
    const token = pools[Number(first)] ?? "";
    const began = performance.now();
    let done = 0;
    while (performance.now() - began < Number(second)) {
      for (let at = 0; at < 16; at++) decide(token, ALLOWED, true);
      done += 16;
    }
    console.log(((performance.now() - began) * 1e6) / done);
  }
}
