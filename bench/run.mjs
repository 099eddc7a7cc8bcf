// The benchmark: runs every part, prints its tables, and writes bench/results.json, the results in
// docs/performance.md and the plots in docs/bench. `--quick` measures in a minute and writes nothing unless `--write` is given.
// `--only NAME` runs one part and writes nothing. Run with: npm run bench
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { availableParallelism, cpus, loadavg } from "node:os";
import { fileURLToPath } from "node:url";
import { svg } from "./plot.mjs";
import { markdown, withResults } from "./report.mjs";

/** @import { Figures, Size } from "./measure.mjs" */
/** @import { Results } from "./report.mjs" */

const load = createRequire(import.meta.url);
const ROOT = fileURLToPath(new URL("../", import.meta.url));
const PARTS = ["decisions", "making", "growth", "memory", "startup"];
const PACKAGES = [
  ...["@noble/hashes", "macaroon", "macaroons.js", "jose", "@biscuit-auth/biscuit-wasm", "mitata"],
];
const FULL = { rounds: 15, milliseconds: 40 };
const QUICK = { rounds: 5, milliseconds: 10 };

/** Every package as it is installed. */
function versions() {
  /** @type {Record<string, string>} */
  const all = { Node: process.version };
  const { packages } = load("../package-lock.json");
  for (const name of PACKAGES) all[name] = packages[`node_modules/${name}`]?.version ?? "?";
  return all;
}

/** @param {{ quick: boolean, only?: string | undefined, size?: Size }} options @returns {Promise<Results>} */
export async function run({ quick, only, size = quick ? QUICK : FULL }) {
  /** @type {Figures[]} */
  const figures = [];
  for (const name of only === undefined ? PARTS : [only]) {
    const part = await import(`./parts/${name}.mjs`);
    figures.push(...(await part.run({ ...size, quick })));
  }
  return {
    command: quick ? "npm run bench -- --quick" : "npm run bench",
    machine: {
      CPUs: availableParallelism(),
      "load at the end": Math.round((loadavg()[0] ?? 0) * 10) / 10,
      model: cpus()[0]?.model ?? "unknown",
      arch: process.arch,
    },
    versions: versions(),
    ...{ size, figures },
  };
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const quick = process.argv.includes("--quick");
  const at = process.argv.indexOf("--only");
  const only = at < 0 ? undefined : process.argv[at + 1];
  const results = await run({ quick, only });
  console.log(markdown(results));
  if ((!quick || process.argv.includes("--write")) && only === undefined) {
    writeFileSync(`${ROOT}bench/results.json`, `${JSON.stringify(results, null, 2)}\n`);
    const page = `${ROOT}docs/performance.md`;
    writeFileSync(page, withResults(readFileSync(page, "utf8"), results));
    mkdirSync(`${ROOT}docs/bench`, { recursive: true });
    for (const plot of results.figures.flatMap(({ plots = [] }) => plots)) {
      writeFileSync(`${ROOT}docs/bench/${plot.file}.svg`, svg(plot));
    }
  }
}
