import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { CAPABILITY_NAMES, SESSION_ERRORS } from "../../src/protocols/a2e/index.js";
import { PACKAGE } from "./doc-comments.js";

// The tables of docs/a2e.md list everything that exists, and nothing else.

const text = readFileSync(join(PACKAGE, "docs/a2e.md"), "utf8");

function rows(heading: string): readonly (readonly string[])[] {
  const section = text.split(`\n## ${heading}\n`)[1]?.split("\n## ")[0] ?? "";
  return section
    .split("\n")
    .filter((line) => line.startsWith("| `") && !line.startsWith("| `code`"))
    .map((line) => line.slice(2, -2).split(" | "));
}

test("docs/a2e.md lists every error, whether it is retryable, and whether it counts as a fault", () => {
  const shown = rows("Errors").map(([code = "", retryable = "", when = ""]) => [
    code.replaceAll("`", ""),
    { retryable: retryable === "yes", ...(when.endsWith("¹") ? { counts: true } : {}) },
  ]);
  expect(Object.fromEntries(shown)).toEqual(SESSION_ERRORS);
});

test("docs/a2e.md lists every capability", () => {
  const names = rows("How a token binds a message").map(([name = ""]) => name.replaceAll("`", ""));
  expect([...names, "multi_agent", "planning", "test"]).toEqual([...CAPABILITY_NAMES]);
});
