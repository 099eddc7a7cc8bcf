// The revocation list at 10 million entries. bench/revocations.mjs measures it in a separate process, which needs
// access to the garbage collector, and gigabytes of memory for the `Set` in the comparison.
import { spawnSync } from "node:child_process";
import { rounded } from "../measure.mjs";

/** @import { Figures } from "../measure.mjs" */

const PROGRAM = new URL("../revocations.mjs", import.meta.url).href;

/** @param {boolean} quick @returns {Record<string, number>} */
function measured(quick) {
  const code = `const { run } = await import(${JSON.stringify(PROGRAM)});
    console.log("\\n" + JSON.stringify(await run({ quick: ${quick} })));`;
  const args = ["--expose-gc", "--input-type=module", "--eval", code];
  const { status, signal, stdout } = spawnSync(process.execPath, args, {
    encoding: "utf8",
    stdio: ["ignore", "pipe", "inherit"],
  });
  if (status !== 0) throw new Error(`bench/revocations.mjs ended: ${status ?? signal}`);
  return JSON.parse(stdout.trim().split("\n").at(-1) ?? "");
}

/** @param {{ quick: boolean }} size @returns {Promise<Figures[]>} */
export async function run({ quick }) {
  return figuresOf(measured(quick));
}

/** @param {Record<string, number>} figures @returns {Figures[]} */
export function figuresOf(figures) {
  const of = (/** @type {string} */ name) => figures[name] ?? Number.NaN;
  const { entries = 0, ...rest } = figures;
  return [
    {
      title: "The revocation list",
      about: `${entries.toLocaleString("en-US")} ids with the time when each goes.`,
      columns: ["", "value"],
      rows: Object.entries(rest).map(([name, value]) => [worded(name), rounded(value)]),
      ratios: {
        "revocations, an id in the list: time to a Set of the ids": rounded(
          of("packedHitNanoseconds") / of("setHitNanoseconds"),
        ),
        "revocations, an id not in the list: time to a Set of the ids": rounded(
          of("packedMissNanoseconds") / of("setMissNanoseconds"),
        ),
      },
      values: Object.fromEntries(
        Object.entries(rest).map(([name, value]) => [
          `revocations: ${worded(name)}`,
          rounded(value),
        ]),
      ),
    },
  ];
}

/** Converts `bytesPerEntry` to `bytes per entry`. @param {string} name */
function worded(name) {
  return name.replaceAll(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`);
}
