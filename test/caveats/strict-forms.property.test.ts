import { readFileSync } from "node:fs";
import { posix } from "node:path";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { EXCLUDED_FROM_PATHS, isBelow, isPath } from "../../src/caveats/path-form.js";
import { readUrl } from "../../src/caveats/url-form.js";
import { sized } from "../support/size.js";

// These tests check that a parser of target systems, the parser of Node, reads a value in a strict form in the same
// way as the checker.

const RUNS = sized(80_000, 1000, 200_000);

/** Generates strings made of these parts, most of them short, and sometimes of any characters. */
function stringsOf(parts: readonly string[], start: readonly string[]): fc.Arbitrary<string> {
  const some = fc.oneof(
    { weight: 12, arbitrary: fc.constantFrom(...parts) },
    { weight: 1, arbitrary: fc.string({ unit: "binary", maxLength: 3 }) },
  );
  return fc
    .tuple(fc.constantFrom(...start), fc.array(some, { maxLength: 6 }))
    .map(([first, rest]) => first + rest.join(""));
}

const path = stringsOf(
  [
    "/",
    "/",
    "a",
    "b.c",
    ".",
    "..",
    "~",
    " ",
    "%2e",
    "%2F",
    "\\",
    ":",
    "\0",
    "\n",
    "é",
    "e\u0301",
    "\u2024",
    "\uff0f",
    "\u200b",
    "\u{1F511}",
    "data",
    "-",
    "C:",
    "/..",
    "/a",
  ],
  ["/", "/data", "/data/", "data", "", "/a"],
);

const url = stringsOf(
  [
    "/",
    "a",
    "b",
    ".",
    "..",
    "-",
    "@",
    ":",
    ":80",
    ":443",
    ":8080",
    "?",
    "#",
    "%2e",
    "%41",
    "%20",
    "%C3%A9",
    "xn--",
    "0x7f",
    "127",
    "1",
    ".1",
    "[",
    "]",
    "::",
    ";",
    "\\",
    "\t",
    "\n",
    " ",
    "é",
    "。",
    "example",
    ".com",
    "/a",
    "/b?c",
    "[::1]",
    "[1:0:0:2::3]",
    "~",
    "A",
    "_",
    "%",
    "&",
    "=",
  ],
  [
    "https://a.example",
    "http://",
    "https://a.example/",
    "ws://b",
    "wss://127.0.0.1",
    "http://[::1]",
    "",
  ],
);

describe("a random string", () => {
  test("that passes the operator path stays below the folder when posix.resolve resolves the string", () => {
    let passed = 0;
    fc.assert(
      fc.property(path, fc.constantFrom("/", "/data", "/a", "data", "a"), (text, folder) => {
        if (!isPath(text) || !isBelow(folder, text)) return;
        passed++;
        const base = "/home/user";
        const [root, resolved] = [posix.resolve(base, folder), posix.resolve(base, text)];
        expect(root === "/" || resolved === root || resolved.startsWith(`${root}/`)).toBe(true);
        expect(posix.normalize(text)).toBe(text);
      }),
      { numRuns: RUNS },
    );
    expect(passed).toBeGreaterThan(RUNS / 100);
  });

  test("that passes the operator path keeps its separators and gets no parent segment in any Unicode normal form", () => {
    fc.assert(
      fc.property(path, (text) => {
        if (!isPath(text)) return;
        for (const form of ["NFC", "NFD", "NFKC", "NFKD"]) {
          const segments = text.normalize(form).split("/");
          expect(segments).toHaveLength(text.split("/").length);
          expect(segments.some((one) => one === "." || one === "..")).toBe(false);
        }
      }),
      { numRuns: RUNS },
    );
  });

  test("that passes the operator url has the scheme, host, port and path that Node reads", () => {
    let passed = 0;
    fc.assert(
      fc.property(url, (text) => {
        const parts = readUrl(text);
        if (parts === undefined) return;
        // Node refuses a host that IDNA cannot decode, so nothing is fetched.
        if (parts.host.includes("xn--") && !URL.canParse(text)) return;
        passed++;
        const seen = new URL(text);
        const standard = { "http:": "80", "https:": "443", "ws:": "80", "wss:": "443" }[
          seen.protocol
        ];
        expect({
          scheme: seen.protocol.slice(0, -1),
          host: seen.hostname,
          port: seen.port || standard,
          path: seen.pathname,
        }).toEqual(parts);
        expect([seen.username, seen.password]).toEqual(["", ""]);
      }),
      { numRuns: RUNS },
    );
    expect(passed).toBeGreaterThan(RUNS / 100);
  });
});

test("each ASCII character of a URL's path has at most one accepted spelling: the character or its escape", () => {
  const isUrl = (path: string): boolean => readUrl(`https://a.example/x${path}x`) !== undefined;
  for (let byte = 0; byte < 0x80; byte++) {
    const character = String.fromCharCode(byte);
    const written = `%${byte.toString(16).toUpperCase().padStart(2, "0")}`;
    const isLiteral = /[A-Za-z0-9\-._~!$&'()*+,=@]/.test(character);
    // These characters end the path or a segment, so they are not part of a segment.
    if (!"/?#".includes(character)) expect(isUrl(character), written).toBe(isLiteral);
    const isNever = isLiteral || "/;?#\\:%".includes(character) || byte < 0x20 || byte === 0x7f;
    expect(isUrl(written), written).toBe(!isNever);
  }
});

test("a URL is refused if a segment of its path has a character that normalizes to ; ? or #", () => {
  const open: string[] = [];
  for (let code = 0x80; code <= 0x10ffff; code++) {
    if (code >= 0xd800 && code <= 0xdfff) continue;
    const character = String.fromCodePoint(code);
    if (!/[;?#]/.test(character.normalize("NFKC"))) continue;
    const url = `https://a.example/x..${encodeURIComponent(character)}x`;
    if (readUrl(url) !== undefined) open.push(url);
  }
  expect(open).toEqual([]);
});

describe("the code points excluded from paths", () => {
  const isExcluded = (code: number): boolean =>
    EXCLUDED_FROM_PATHS.some(([first, last]) => code >= first && code <= last);

  test("include all code points that are ignorable, or that normalize to a character with a meaning in paths", () => {
    const open: number[] = [];
    for (let code = 0; code <= 0x10ffff; code++) {
      if (code >= 0xd800 && code <= 0xdfff) continue;
      const character = String.fromCodePoint(code);
      const folds = code > 0x7f && /[/.\\:%~]/.test(character.normalize("NFKC"));
      const ignorable = /\p{Default_Ignorable_Code_Point}|\p{Cc}/u.test(character);
      if ((folds || ignorable) && !isExcluded(code)) open.push(code);
    }
    expect(open).toEqual([]);
  });

  test("are those listed in docs/spec.md", () => {
    const spec = readFileSync("docs/spec.md", "utf8");
    const [, list = ""] =
      /The \*excluded code points\* are\n([\s\S]*?)\nThese lists/.exec(spec) ?? [];
    const listed = [...list.matchAll(/U\+([0-9A-F]+)(?:\s+to\s+U\+([0-9A-F]+))?/g)].map(
      ([, first = "", last = first]) => [Number.parseInt(first, 16), Number.parseInt(last, 16)],
    );
    expect(listed).toEqual(EXCLUDED_FROM_PATHS.map((range) => [...range]));
  });
});
