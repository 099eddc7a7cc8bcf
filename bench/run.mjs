// The benchmark: runs every part, prints its tables, and writes bench/results.json, the results in
// docs/performance.md and the plots in docs/bench. `--quick` measures in a minute, leaves out the long parts,
// and writes nothing unless `--write` is given. `--only NAME` runs one part and writes nothing. `--show`
// measures nothing: it writes the page and the plots from bench/results.json. Run with: npm run bench
import { spawnSync } from "node:child_process";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { availableParallelism, cpus, loadavg } from "node:os";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { svg } from "./plot.mjs";
import { markdown, withResults } from "./report.mjs";

/** @import { Figures, Size } from "./measure.mjs" */
/** @import { Results } from "./report.mjs" */

const load = createRequire(import.meta.url);
const ROOT = fileURLToPath(new URL("../", import.meta.url));
const RESULTS = `${ROOT}bench/results.json`;
const SHORT = ["startup", "decisions", "making", "growth", "memory", "refusals", "ledger"];
const PARTS = [...SHORT, "callers", "revocations", "service"];
/** Parts that are left out if they fail; the exit code is then 1. */
const OPTIONAL = ["revocations", "service"];
const PACKAGES = [
  "@noble/hashes",
  "macaroon",
  "macaroons.js",
  "jose",
  "@biscuit-auth/biscuit-wasm",
  "mitata",
];
const FULL = { rounds: 15, milliseconds: 40 };
const QUICK = { rounds: 5, milliseconds: 10 };

/** Returns the installed version of every package. */
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
  const names = quick ? SHORT : PARTS;
  for (const name of only === undefined ? names : [only]) {
    const began = performance.now();
    const part = await import(`./parts/${name}.mjs`);
    try {
      figures.push(...(await part.run({ ...size, quick })));
    } catch (error) {
      if (only !== undefined || !OPTIONAL.includes(name)) throw error;
      console.error(`${name} is left out:`, error);
      process.exitCode = 1;
    }
    console.error(`${name}: ${Math.round((performance.now() - began) / 1000)} s`);
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
    size,
    figures,
  };
}

/** Writes the page and the plots. @param {Results} results */
function show(results) {
  const page = `${ROOT}docs/performance.md`;
  writeFileSync(page, withResults(readFileSync(page, "utf8"), results));
  mkdirSync(`${ROOT}docs/bench`, { recursive: true });
  for (const plot of results.figures.flatMap(({ plots = [] }) => plots)) {
    writeFileSync(`${ROOT}docs/bench/${plot.file}.svg`, svg(plot));
  }
}

/** @param {Results} results */
function write(results) {
  writeFileSync(RESULTS, `${JSON.stringify(results, null, 2)}\n`);
  const biome = load.resolve("@biomejs/biome/bin/biome");
  spawnSync(process.execPath, [biome, "format", "--write", RESULTS], { stdio: "inherit" });
  show(results);
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const { values } = parseArgs({
    options: {
      quick: { type: "boolean", default: false },
      write: { type: "boolean", default: false },
      show: { type: "boolean", default: false },
      only: { type: "string" },
    },
  });
  const { quick, only } = values;
  if (only !== undefined && !PARTS.includes(only)) {
    throw new TypeError(`--only ${only}: must be one of ${PARTS.join(", ")}`);
  }
  if (values.show) show(JSON.parse(readFileSync(RESULTS, "utf8")));
  else {
    const results = await run({ quick, only });
    console.log(markdown(results));
    if ((!quick || values.write) && only === undefined) write(results);
  }
}
