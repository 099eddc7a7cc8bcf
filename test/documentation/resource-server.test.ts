import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { runExamples } from "./run-examples.js";

// docs/resource-server.md: its programs do what their comments say.

test("the three programs of resource servers do what their comments say", () => {
  const file = "docs/resource-server.md";
  const text = readFileSync(new URL(`../../${file}`, import.meta.url), "utf8");
  const programs = [...text.matchAll(/^```js\n([\s\S]*?)^```$/gm)].map(
    ({ 1: code = "", index }) => ({
      file,
      line: text.slice(0, index).split("\n").length + 1,
      code: code.trimEnd().split("\n"),
    }),
  );
  expect(programs).toHaveLength(3);
  for (const { code } of programs)
    expect(code.filter((line) => line.includes("// => ")).length).toBeGreaterThan(1);
  expect([...runExamples(programs)]).toEqual([]);
});
