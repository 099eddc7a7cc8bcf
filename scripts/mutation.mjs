// `npm run test:mutation [folder…]`: mutation tests of src. Each folder is tested with its own unit tests.
// Exits with 1 if the score of a folder is below 90%. See docs/testing.md.
import { spawnSync } from "node:child_process";
import { copyFileSync, readFileSync } from "node:fs";

const FOLDERS = ["bytes", "caveats", "macaroon", "capability"];
const LEAST = 90;
const REPORT = "reports/mutation.json";

/**
 * @typedef {{ line: number, column: number }} Place
 * @typedef {{ status: string, static?: boolean, mutatorName: string, replacement: string, location: { start: Place, end: Place } }} Mutant
 * @typedef {{ files: Record<string, { mutants: Mutant[] }> }} Report
 */

/**
 * Runs Stryker, and reads its report.
 * @param {string} folder
 * @param {string} mutate
 * @param {string} onlyStatic - "1" to test only mutants that run while a module is loaded.
 * @returns {Report}
 */
function stryker(folder, mutate, onlyStatic) {
  const { status } = spawnSync("npx", ["stryker", "run", "--mutate", mutate], {
    stdio: "inherit",
    env: {
      ...process.env,
      PROVISO_TEST_SIZE: "full",
      PROVISO_MUTATE: folder,
      PROVISO_MUTATE_STATIC: onlyStatic,
    },
  });
  if (status !== 0) process.exit(1);
  return JSON.parse(readFileSync(REPORT, "utf8"));
}

/**
 * Returns a name for a mutant, from its position and its replacement. The name is unique within the file.
 * @param {string} file
 * @param {Mutant} mutant
 */
function nameOf(file, { location: { start, end }, mutatorName, replacement }) {
  return [file, start.line, start.column, end.line, end.column, mutatorName, replacement].join(":");
}

/**
 * Returns the status of every mutant in a folder, by the mutant's name.
 *
 * Stryker can switch most mutants on while the tests run, and then runs only the tests that reach them. Some
 * mutants run while a module is loaded, such as those in tables and constants; others run when a test file
 * builds its tokens. Such a mutant may survive wrongly, so it is tested once more by itself: Stryker loads
 * everything anew, and runs all tests.
 * @param {string} folder
 * @returns {Map<string, string>}
 */
function statuses(folder) {
  const first = stryker(folder, `src/${folder}/**/*.ts,!src/**/index.ts`, "0");
  copyFileSync(REPORT, `reports/mutation-${folder}.json`);
  const all = new Map();
  const left = [];
  for (const [file, { mutants }] of Object.entries(first.files)) {
    for (const mutant of mutants) {
      all.set(nameOf(file, mutant), mutant.status);
      const { start, end } = mutant.location;
      const again = mutant.status === "Ignored" || (mutant.static && mutant.status === "Survived");
      // Stryker's ranges count columns from 0.
      const range = `${start.line}:${start.column - 1}-${end.line}:${end.column}`;
      if (again) left.push(`${file}:${range}`);
    }
  }
  if (left.length === 0) return all;
  const second = stryker(folder, [...new Set(left)].join(), "1");
  copyFileSync(REPORT, `reports/mutation-${folder}-static.json`);
  for (const [file, { mutants }] of Object.entries(second.files)) {
    for (const mutant of mutants) {
      const name = nameOf(file, mutant);
      if (["Ignored", "Survived"].includes(all.get(name))) all.set(name, mutant.status);
    }
  }
  return all;
}

const chosen = process.argv.slice(2);
const lines = (chosen.length === 0 ? FOLDERS : chosen).map((folder) => {
  const found = [...statuses(folder).values()];
  const killed = found.filter((status) => status === "Killed" || status === "Timeout").length;
  const tried = found.filter((status) => status !== "Ignored" && !status.endsWith("Error")).length;
  const score = (100 * killed) / tried;
  if (!(score >= LEAST)) process.exitCode = 1;
  return `src/${folder}: ${score.toFixed(1)}% (${killed} of ${tried} mutants killed)`;
});
console.log(`\n${lines.join("\n")}`);
