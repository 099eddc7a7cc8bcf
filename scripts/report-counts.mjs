// Prints the counts of the last test run on one line, and fails if a test was skipped. In CI, every other
// implementation is installed, so a skipped test means that something was not checked.
import { readFileSync } from "node:fs";

const report = JSON.parse(readFileSync(new URL("../reports/vitest.json", import.meta.url), "utf8"));
const passed = report.numPassedTests;
const failed = report.numFailedTests;
const skipped = report.numPendingTests + report.numTodoTests;

console.log(`${passed} passed, ${failed} failed, ${skipped} skipped`);
if (passed === 0 || failed > 0) process.exitCode = 1;
if (skipped > 0) {
  for (const file of report.testResults) {
    for (const test of file.assertionResults) {
      if (test.status !== "passed") console.error(`not run: ${test.fullName}`);
    }
  }
  process.exitCode = 1;
}
