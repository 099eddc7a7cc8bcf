// Time from start to end of `proviso attenuate` and `proviso inspect`, beside `node -e 0`, in turns.
// Prints medians and their differences. Run with: npm run bench
import { spawnSync } from "node:child_process";
import { fileURLToPath } from "node:url";
import { createIssuer, createKeyring, createRevocationList } from "proviso/issuer";

const ROUNDS = 20;
const TARGET = 60;
const main = fileURLToPath(new URL("../dist/cli/main.js", import.meta.url));

const issuer = createIssuer({
  name: "documents-agent",
  keys: createKeyring(),
  revocations: createRevocationList(),
});
const { token } = issuer.mint({ grant: "documents:read", operations: ["retrieve", "search"] });

/** @type {readonly { name: string, args: readonly string[], times: number[] }[]} */
const candidates = [
  { name: "node -e 0", args: ["-e", "0"], times: [] },
  {
    name: "proviso attenuate",
    args: [main, "attenuate", token, "--op", "retrieve"],
    times: [],
  },
  { name: "proviso inspect", args: [main, "inspect", token], times: [] },
];

/** @param {readonly number[]} values */
function median(values) {
  const sorted = [...values].sort((a, b) => a - b);
  const middle = sorted.length / 2;
  return ((sorted[Math.ceil(middle) - 1] ?? 0) + (sorted[Math.floor(middle)] ?? 0)) / 2;
}

for (let round = 0; round < ROUNDS; round++) {
  for (const { args, times } of candidates) {
    const start = performance.now();
    const { status } = spawnSync(process.execPath, args, { stdio: "ignore" });
    times.push(performance.now() - start);
    if (status !== 0) throw new Error(`exit code ${status}: ${args.slice(0, 2).join(" ")}`);
  }
}

console.log(`start-up, Node ${process.version}, median of ${ROUNDS} rounds in turns`);
const base = median(candidates[0]?.times ?? []);
for (const { name, times } of candidates) {
  const time = median(times);
  const more = times === candidates[0]?.times ? "" : `  ${(time - base).toFixed(1)} ms more`;
  console.log(`  ${name.padEnd(18)} ${time.toFixed(1).padStart(7)} ms${more}`);
}
console.log(`  (aim: at most ${TARGET} ms more)`);
