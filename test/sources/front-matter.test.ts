import fc from "fast-check";
import { beforeAll, describe, expect, test } from "vitest";
import {
  type FrontMatterReader,
  HEAD_BYTES,
  loadFrontMatterReader,
} from "../../src/sources/front-matter.js";
import { cpuTime } from "../support/cpu-time.js";
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

  test("leaves out arrays, objects, inexact numbers, and long or broken strings", () => {
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
    ["a line of dashes that is not first", "\n---\ntitle: x\n---\n", {}],
    ["a longer line of dashes", "----\ntitle: x\n----\n", {}],
    ["nothing between the dashes", "---\n---\n", {}],
    ["only a comment", "---\n# title: x\n---\n", {}],
    ["the end of the file right after the front matter", "---\ntitle: x\n---", { title: "x" }],
    ["Windows line ends", "---\r\ntitle: x\r\n---\r\n", { title: "x" }],
    ["spaces after the dashes", "---  \ntitle: x\n---\t\n", { title: "x" }],
    ["a byte order mark", "\ufeff---\ntitle: x\n---\n", { title: "x" }],
    [
      "dashes in a value",
      "---\ntitle: a --- b\nnext: ---x\n---\n",
      { title: "a --- b", next: "---x" },
    ],
    [
      "more dashes in the text after the front matter",
      "---\ntitle: x\n---\ntext\n---\ntitle: y\n---\n",
      { title: "x" },
    ],
    ["a character of several bytes", "---\ntitle: \u{1f600}\n---\n", { title: "\u{1f600}" }],
  ])("gives the expected fields with %s", (_, text, fields) => {
    expect(read(bytes(text))).toEqual({ fields });
  });

  test("may have fields with the names of inherited properties", () => {
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

describe("front matter gives a reason and no fields if it is invalid,", () => {
  test.each<[string, string, RegExp]>([
    ["because it is an array", "- title", /not a list of fields/],
    ["because it is a string", "title", /not a list of fields/],
    ["because of a field twice", "title: x\nTitle: y\ntitle: z", /has "title" twice/],
    ["because of an alias", "title: &x 1\nyear: *x", /an alias/],
    ["because of an alias as a key", "title: &x 1\n*x : 2", /alias|key/i],
    ["because of a custom tag", "title: !secret x", /Unresolved tag: !secret/],
    ["because of a tag of YAML 1.1", "title: !!binary eA==", /Unresolved tag/],
    ["because of a tag that would run code", "title: !!js/function x", /Unresolved tag/],
    ["because of an array as a key", "? [a]\n: b", /keys must be strings/],
    ["because of an unclosed bracket", "title: [x", /not sound YAML/],
    ["because of a tab as indentation", "title:\n\tx: y", /not sound YAML/],
    ["because of two documents", "title: x\n...\ntitle: y", /not one YAML document/],
    ["because of a directive", "%YAML 1.1\ntitle: yes", /not sound YAML/],
    [
      "because of 65 fields",
      Array.from({ length: 65 }, (_, at) => `f${at}: 1`).join("\n"),
      /more than 64 fields/,
    ],
  ])("%s", (_, yaml, problem) => {
    expect(within(yaml)).toEqual({ fields: {}, problem: expect.stringMatching(problem) });
  });
});

describe("front matter", () => {
  test("is read with 64 fields", () => {
    const { fields } = within(Array.from({ length: 64 }, (_, at) => `f${at}: 1`).join("\n"));
    expect(Object.keys(fields)).toHaveLength(64);
  });

  test("is refused if it is longer than 64 KiB, or not UTF-8", () => {
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

  test("is read if the text after the front matter ends inside a UTF-8 character", () => {
    const cut = Buffer.concat([bytes("---\ntitle: x\n---\n"), Buffer.of(0xf0, 0x9f)]);
    expect(read(cut)).toEqual({ fields: { title: "x" } });
  });
});

describe("hostile front matter", () => {
  const doubling = "bcdefghi"
    .split("")
    .map((name, at) => `${name}: &${name} [${`*${"abcdefgh"[at]},`.repeat(9)}]`)
    .join("\n");

  // Deep nesting could do worse than make yaml throw: it can crash V8, and thus the whole process.
  test.each<[string, string]>([
    ["with arrays in arrays", `a: ${"[".repeat(65_000)}`],
    ["with closed arrays in arrays", `a: ${"[".repeat(32_000)}${"]".repeat(32_000)}`],
    ["with objects in objects", `a: ${"{a: ".repeat(16_000)}`],
    ["with nested dashes", "- ".repeat(32_000)],
    ["with nested complex keys", "? ".repeat(32_000)],
    ["with nested values", `a${": a".repeat(21_000)}`],
    ["with anchors before dashes", "- &a ".repeat(13_000)],
    [
      "with growing indentation",
      Array.from({ length: 350 }, (_, at) => `${" ".repeat(at)}a:`).join("\n"),
    ],
    [
      "with very many keys",
      `{${Array.from({ length: 12_000 }, (_, at) => at.toString(36)).join(",")}}`,
    ],
    ["with very many aliases", `a: &a 1\nb: [${"*a,".repeat(20_000)}]`],
    ["with very many anchors", "&a ".repeat(21_000)],
    ["with very many tags", "! ".repeat(32_000)],
    ["with very many exclamation marks", "!".repeat(65_000)],
    ["with very many closing brackets", "]".repeat(65_000)],
    ["with an error in every line", "a: }\n".repeat(13_000)],
    ["with an unclosed quote", `a: "${"\\".repeat(65_000)}`],
    ["with very many colons", ":".repeat(65_000)],
  ])("is refused %s", (_, yaml) => {
    expect(within(yaml)).toEqual({ fields: {}, problem: expect.any(String) });
  });

  test.each<[string, string]>([
    ["arrays that double", `a: &a [x,x]\n${doubling}`],
    ["very many line ends", `a: |\n${" \n".repeat(32_000)}`],
    ["very many words", `a: x${"\n  x".repeat(13_000)}`],
  ])("is read within 2 seconds: %s", (_, yaml) => {
    const spent = cpuTime();
    expect(within(yaml).problem).toBeUndefined();
    expect(spent()).toBeLessThan(2000);
  });
});
