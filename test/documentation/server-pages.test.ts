import { readFileSync } from "node:fs";
import { beforeAll, expect, test } from "vitest";
import { runExamples } from "./run-examples.js";

// The programs of the README and of the pages do what their comments say.

const PAGES = [
  ["README.md", 1],
  ["docs/guides/sub-agent.md", 1],
  ["docs/guides/limit-arguments.md", 1],
  ["docs/guides/guard.md", 1],
  ["docs/resource-server.md", 4],
  ["docs/agent.md", 1],
  ["docs/a2e.md", 1],
  ["docs/sessions.md", 1],
  ["docs/delegation.md", 1],
  ["docs/declaring-capabilities.md", 1],
] as const;

const programs = PAGES.flatMap(([file]) => {
  const text = readFileSync(new URL(`../../${file}`, import.meta.url), "utf8");
  return (
    [...text.matchAll(/^```js\n([\s\S]*?)^```$/gm)]
      .map(({ 1: code = "", index }) => ({
        file,
        line: text.slice(0, index).split("\n").length + 1,
        code: code.trimEnd().split("\n"),
      }))
      // Another test runs a program that continues an earlier one, together with the earlier one.
      .filter(({ code: [first = "", ...lines] }) => {
        const imports = [first, ...lines].some((line) => line.startsWith("import "));
        return imports && !first.startsWith("// Goes on from ");
      })
  );
});
let failures = new Map<number, string>();

beforeAll(async () => {
  failures = await runExamples(programs);
});

test.each(PAGES)("the programs of %s do what their comments say", (file, count) => {
  const own = programs.filter((program) => program.file === file);
  expect(own).toHaveLength(count);
  for (const { code } of own)
    expect(code.filter((line) => line.includes("// => ")).length).toBeGreaterThan(1);
  expect(own.map((program) => failures.get(programs.indexOf(program)) ?? "right")).toEqual(
    own.map(() => "right"),
  );
});
