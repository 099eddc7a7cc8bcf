import { existsSync } from "node:fs";
import { join } from "node:path";
import { beforeAll, describe, expect, test } from "vitest";
import { docCommentOf, ENTRIES, examples, PACKAGE, valueExports } from "./doc-comments.js";
import { programOf, runExamples } from "./run-examples.js";

const all = examples();

describe("the examples in doc comments", () => {
  let failures = new Map<number, string>();

  beforeAll(async () => {
    if (!existsSync(join(PACKAGE, "dist/src/index.js"))) {
      throw new Error(
        "the package is not built, and examples run against the build: npm run build",
      );
    }
    failures = await runExamples(all);
  });

  test.each(all.map(({ file, line }, at) => [`${file}:${line}`, at] as const))(
    "%s does what it says",
    (_, at) => {
      expect(failures.get(at) ?? "nothing wrong").toBe("nothing wrong");
    },
  );

  test("are more than 20, of which at most two state no result", () => {
    expect(all.length).toBeGreaterThan(20);
    const checked = all.filter((example) => programOf(example).includes("$check("));
    expect(all.length - checked.length).toBeLessThan(3);
  });
});

describe.each(ENTRIES)("the exports of %s", (entry, shown) => {
  const exported = valueExports(entry);
  const commentOf = (name: string): string => {
    const file = exported.find((one) => one.name === name)?.file;
    return file === undefined ? "" : (docCommentOf(name, file) ?? "");
  };

  test("all have a doc comment", () => {
    expect(exported.filter(({ name }) => commentOf(name) === "")).toEqual([]);
    expect(exported).not.toEqual([]);
  });

  test("that a program calls first have an example", () => {
    expect(shown.filter((name) => !/@example\s*\n\s*\* ```ts\n/.test(commentOf(name)))).toEqual([]);
  });
});

describe("the check of examples finds a wrong example", () => {
  const wrong: [string, string[], RegExp | undefined][] = [
    [
      "if its result differs from the comment",
      ["const one = 1;", "one; // => 2"],
      /^src\/x\.ts:11: /,
    ],
    [
      "if its result differs from a comment on the next line",
      ["[1, 2];", "// => [1]"],
      /^src\/x\.ts:11: /,
    ],
    ["if its result is of another type", ['"1"; // => 1'], /^src\/x\.ts:10: /],
    ["if it throws", ['throw new Error("no");'], /^no$/],
    [
      "if it imports an export that does not exist",
      ['import { absent } from "proviso";'],
      /absent/,
    ],
    ["but no fault in a right example", ["({ a: [1] }); // => { a: [1] }"], undefined],
  ];
  let failures = new Map<number, string>();

  beforeAll(async () => {
    failures = await runExamples(wrong.map(([, code]) => ({ file: "src/x.ts", line: 10, code })));
  });

  test.each(wrong.map(([name, , failure], at) => [name, at, failure] as const))(
    "%s",
    (_, at, failure) => {
      if (failure === undefined) expect(failures.get(at)).toBeUndefined();
      else expect(failures.get(at)).toMatch(failure);
    },
  );
});
