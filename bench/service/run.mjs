// Measures SendMessage with one skill call, over HTTP on loopback: guarded servers in turns with the same
// server without a guard. `node bench/service/run.mjs [--quick] [--json FILE] [--profile KIND]`
import { writeFileSync } from "node:fs";
import { parseArgs } from "node:util";
import { KINDS, measure, SECTIONS } from "./figures.mjs";
import { printProfile } from "./profile.mjs";

/** @import { Kind } from "./servers.mjs" */

const { values } = parseArgs({
  options: {
    quick: { type: "boolean", default: false },
    json: { type: "string" },
    /** The kinds of servers to measure, separated by commas. */
    kinds: { type: "string" },
    /** Measures only the throughput. */
    only: { type: "boolean", default: false },
    revocations: { type: "string" },
    rounds: { type: "string" },
    profile: { type: "string" },
    by: { type: "string", default: "file" },
  },
});

/** @param {string} text @returns {Kind} */
function kindOf(text) {
  const kind = KINDS.find((one) => one === text);
  if (kind === undefined) throw new TypeError(`${text}: must be one of ${KINDS.join(", ")}`);
  return kind;
}

/** @param {Awaited<ReturnType<typeof measure>>} figures */
function print({ about, throughput, latency, concurrency, grants }) {
  const { connections, rounds, milliseconds, revocations, fsyncMilliseconds } = about;
  console.log(
    `Node ${about.node}, ${connections} connections, ${rounds} rounds of ${milliseconds} ms, ` +
      `${revocations} revocations, fsync ${fsyncMilliseconds} ms`,
  );
  console.table(throughput);
  if (latency.length > 0) console.table(latency);
  if (concurrency.length > 0) console.table(concurrency);
  if (grants.length > 0) console.table(grants);
}

const { quick, profile } = values;
if (profile !== undefined) await printProfile(kindOf(profile), values.by === "function");
else {
  const figures = await measure({
    rounds: Number(values.rounds ?? (quick ? 7 : 15)),
    milliseconds: quick ? 500 : 1000,
    warming: quick ? 30_000 : 60_000,
    revocations: Number(values.revocations ?? (quick ? 100_000 : 10_000_000)),
    kinds: values.kinds?.split(",").map(kindOf) ?? KINDS,
    sections: values.only ? [] : SECTIONS,
  });
  print(figures);
  if (values.json !== undefined)
    writeFileSync(values.json, `${JSON.stringify(figures, null, 2)}\n`);
}
