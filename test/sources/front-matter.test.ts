import fc from "fast-check";
import { beforeAll, describe, expect, test } from "vitest";
import {
  type FrontMatterReader,
  HEAD_BYTES,
  loadFrontMatterReader,
} from "../../src/sources/front-matter.js";
import { scalar } from "./support.js";

let read: FrontMatterReader;

beforeAll(async () => {
  read = await loadFrontMatterReader("documents");
});

const bytes = (text: string): Uint8Array => Buffer.from(text);
const within = (yaml: string): ReturnType<FrontMatterReader> =>
  read(bytes(`---\n${yaml}\n---\nThe text.\n`));

describe("front matter", () => {
  test("gives scalars as in YAML 1.2", () => {
    expect(
      within(
        [
          "title: Third quarter",
          "year: 2025",
          "share: 0.5",
          "huge: 1e300",
          "final: true",
          "author: null",
          "nobody:",
          "date: 2025-10-04",
          "moment: 2025-10-04T12:00:00Z",
          'quoted: "2025"',
          "yes: no",
          "hex: 0x1F",
          "folded: >-",
          "  one",
          "  two",
          "7: seven",
        ].join("\n"),
      ),
    ).toEqual({
      fields: {
        title: "Third quarter",
        year: 2025,
        share: 0.5,
        huge: 1e300,
        final: true,
        author: null,
        nobody: null,
        date: "2025-10-04",
        moment: "2025-10-04T12:00:00Z",
        quoted: "2025",
        yes: "no",
        hex: 31,
        folded: "one two",
        7: "seven",
      },
    });
  });

  test("leaves out arrays, objects, and numbers that are not exact", () => {
    const yaml = [
      "tags: [a, b]",
      "place: { city: Bern }",
      "more:",
      "  - 1",
      "none: .nan",
      "endless: .inf",
      "account: 12345678901234567890",
      "hex: 0x20000000000001",
      `long: ${"x".repeat(1025)}`,
      `${"n".repeat(257)}: 1`,
      'half: "\\ud800"',
      "kept: 9007199254740991",
    ].join("\n");
    expect(within(yaml)).toEqual({ fields: { kept: 9007199254740991 } });
  });

  test.each<[string, string, { readonly [field: string]: unknown }]>([
    ["no line of dashes", "title: x\n", {}],
    ["one that does not stand first", "\n---\ntitle: x\n---\n", {}],
    ["a longer line", "----\ntitle: x\n----\n", {}],
    ["nothing in it", "---\n---\n", {}],
    ["a comment in it", "---\n# title: x\n---\n", {}],
    ["the end of the file after it", "---\ntitle: x\n---", { title: "x" }],
    ["lines as on Windows", "---\r\ntitle: x\r\n---\r\n", { title: "x" }],
    ["spaces after the dashes", "---  \ntitle: x\n---\t\n", { title: "x" }],
    ["a byte order mark", "\ufeff---\ntitle: x\n---\n", { title: "x" }],
    [
      "dashes in a value",
      "---\ntitle: a --- b\nnext: ---x\n---\n",
      { title: "a --- b", next: "---x" },
    ],
    ["more dashes in the text", "---\ntitle: x\n---\ntext\n---\ntitle: y\n---\n", { title: "x" }],
    ["a character of several bytes", "---\ntitle: \u{1f600}\n---\n", { title: "\u{1f600}" }],
  ])("with %s", (_, text, fields) => {
    expect(read(bytes(text))).toEqual({ fields });
  });

  test("may have fields of any name, without inherited ones", () => {
    const { fields } = within("__proto__: 1\nconstructor: 2\ntoString: 3");
    expect(Object.entries(fields)).toEqual([
      ["__proto__", 1],
      ["constructor", 2],
      ["toString", 3],
    ]);
    expect(Object.getPrototypeOf(fields)).toBe(Object.prototype);
  });

  test("returns every scalar that was written as JSON", () => {
    fc.assert(
      fc.property(fc.dictionary(fc.string(), scalar, { maxKeys: 5 }), (fields) => {
        const { problem, ...rest } = within(JSON.stringify(fields));
        expect(problem).toBeUndefined();
        expect(JSON.stringify(rest.fields)).toBe(JSON.stringify(fields));
      }),
    );
  });
});

describe("invalid front matter gives no fields, and a reason", () => {
  test.each<[string, string, RegExp]>([
    ["a list", "- title", /not a list of fields/],
    ["a text", "title", /not a list of fields/],
    ["a field twice", "title: x\nTitle: y\ntitle: z", /has "title" twice/],
    ["an alias", "title: &x 1\nyear: *x", /an alias/],
    ["an alias as a key", "title: &x 1\n*x : 2", /alias|key/i],
    ["a tag of its own", "title: !secret x", /Unresolved tag: !secret/],
    ["a tag of another YAML", "title: !!binary eA==", /Unresolved tag/],
    ["a tag that would run code", "title: !!js/function x", /Unresolved tag/],
    ["a list as a key", "? [a]\n: b", /keys must be strings/],
    ["a bracket that stays open", "title: [x", /not sound YAML/],
    ["a tab as indentation", "title:\n\tx: y", /not sound YAML/],
    ["two documents", "title: x\n...\ntitle: y", /not one YAML document/],
    ["a directive", "%YAML 1.1\ntitle: yes", /not sound YAML/],
    [
      "65 fields",
      Array.from({ length: 65 }, (_, at) => `f${at}: 1`).join("\n"),
      /more than 64 fields/,
    ],
  ])("%s", (_, yaml, problem) => {
    expect(within(yaml)).toEqual({ fields: {}, problem: expect.stringMatching(problem) });
  });

  test("but 64 fields are accepted", () => {
    const { fields } = within(Array.from({ length: 64 }, (_, at) => `f${at}: 1`).join("\n"));
    expect(Object.keys(fields)).toHaveLength(64);
  });

  test("if it is longer than 64 KiB, or not UTF-8", () => {
    const unclosed = /not closed by "---" within 65536 bytes/;
    const padded = (length: number): Uint8Array =>
      bytes(`---\ntitle: x\n${"#\n".repeat(2)}#${"x".repeat(length)}\n---\nThe text.\n`);
    const overhead = "title: x\n#\n#\n#".length;
    expect(read(padded(65_536 - overhead)).fields).toEqual({ title: "x" });
    expect(read(padded(65_537 - overhead)).problem).toMatch(unclosed);
    expect(read(padded(100_000).subarray(0, HEAD_BYTES)).problem).toMatch(unclosed);
    expect(read(bytes("---\ntitle: x\n")).problem).toMatch(unclosed);
    const broken = Buffer.concat([bytes("---\ntitle: "), Buffer.of(0xff), bytes("\n---\n")]);
    expect(read(broken)).toEqual({ fields: {}, problem: "its front matter is not UTF-8" });
  });

  test("but not if the text after it ends inside a character", () => {
    const cut = Buffer.concat([bytes("---\ntitle: x\n---\n"), Buffer.of(0xf0, 0x9f)]);
    expect(read(cut)).toEqual({ fields: { title: "x" } });
  });
});

describe("hostile front matter is refused quickly", () => {
  const doubling = "bcdefghi"
    .split("")
    .map((name, at) => `${name}: &${name} [${`*${"abcdefgh"[at]},`.repeat(9)}]`)
    .join("\n");

  // What is nested too deep does not only throw in yaml: it can take V8, and the process, with it.
  test.each<[string, string]>([
    ["lists in lists", `a: ${"[".repeat(65_000)}`],
    ["lists in lists, all closed", `a: ${"[".repeat(32_000)}${"]".repeat(32_000)}`],
    ["objects in objects", `a: ${"{a: ".repeat(16_000)}`],
    ["dashes", "- ".repeat(32_000)],
    ["keys of keys", "? ".repeat(32_000)],
    ["values of values", `a${": a".repeat(21_000)}`],
    ["anchors of dashes", "- &a ".repeat(13_000)],
    [
      "ever more indentation",
      Array.from({ length: 350 }, (_, at) => `${" ".repeat(at)}a:`).join("\n"),
    ],
    [
      "keys without end",
      `{${Array.from({ length: 12_000 }, (_, at) => at.toString(36)).join(",")}}`,
    ],
    ["aliases without end", `a: &a 1\nb: [${"*a,".repeat(20_000)}]`],
    ["anchors without end", "&a ".repeat(21_000)],
    ["tags without end", "! ".repeat(32_000)],
    ["exclamation marks", "!".repeat(65_000)],
    ["closing brackets", "]".repeat(65_000)],
    ["errors in every line", "a: }\n".repeat(13_000)],
    ["a quote that stays open", `a: "${"\\".repeat(65_000)}`],
    ["colons", ":".repeat(65_000)],
  ])("%s", (_, yaml) => {
    expect(within(yaml)).toEqual({ fields: {}, problem: expect.any(String) });
  });

  test.each<[string, string]>([
    ["lists that double", `a: &a [x,x]\n${doubling}`],
    ["line ends", `a: |\n${" \n".repeat(32_000)}`],
    ["words", `a: x${"\n  x".repeat(13_000)}`],
  ])("and %s are read without expanding them", (_, yaml) => {
    const before = performance.now();
    expect(within(yaml).problem).toBeUndefined();
    expect(performance.now() - before).toBeLessThan(2000);
  });
});
