// Compares the ratios of five rounds with those in bench/results.json. A ratio that is worse by more than 15 % is
// measured again before it is reported. Run with: npm run bench:check
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { run } from "./run.mjs";

/** @typedef {Record<string, number>} Ratios */

const TOLERANCE = 0.15;
const PARTS = ["decisions", "making"];

/**
 * Returns the ratios that are worse than the committed ones by more than 15 %: lower for speeds, higher for
 * times. A peer that is not installed here has no ratio, so it is not compared.
 * @param {Ratios} committed
 * @param {Ratios} measured
 */
export function worse(committed, measured) {
  return Object.entries(committed)
    .filter(([name, before]) => {
      const now = measured[name];
      if (now === undefined) return false;
      return name.includes("speed to")
        ? now < before * (1 - TOLERANCE)
        : now > before * (1 + TOLERANCE);
    })
    .map(([name]) => name);
}

/**
 * Measures all ratios, and measures them again if one is worse. Returns the ratios that are worse both times.
 * @param {Ratios} committed
 * @param {() => Promise<Ratios>} measure
 */
export async function check(committed, measure) {
  const measured = await measure();
  const first = worse(committed, measured);
  if (first.length === 0) return { measured, failed: [] };
  const again = await measure();
  const second = worse(committed, again);
  return { measured: again, failed: first.filter((name) => second.includes(name)) };
}

/** @param {{ figures: readonly { ratios: Ratios }[] }} results @returns {Ratios} */
function ratiosOf({ figures }) {
  return Object.assign({}, ...figures.map(({ ratios }) => ratios));
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  /** @type {import("./report.mjs").Results} */
  const stored = JSON.parse(readFileSync(new URL("./results.json", import.meta.url), "utf8"));
  const committed = ratiosOf(stored);
  const { measured, failed } = await check(committed, async () => {
    /** @type {Ratios} */
    const all = {};
    for (const only of PARTS) {
      const size = { rounds: 5, milliseconds: 20 };
      Object.assign(all, ratiosOf(await run({ quick: true, only, size })));
    }
    return all;
  });
  for (const [name, now] of Object.entries(measured)) {
    const mark = failed.includes(name) ? "  worse" : "";
    console.log(`${name.padEnd(48)} ${now} (committed: ${committed[name] ?? "none"})${mark}`);
  }
  if (failed.length > 0) process.exitCode = 1;
}
