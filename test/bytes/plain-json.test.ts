import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { canonicalJson, type Json, outlineJson } from "../../src/bytes/json.js";
import { isPlainJson } from "../../src/bytes/plain-json.js";
import { encodeUtf8 } from "../../src/bytes/utf8.js";
import { SEEDED, sized } from "../support/size.js";

const BOUNDS = { depth: 3, members: 4 };

function isPlain(text: string, around = 0): boolean {
  const bytes = encodeUtf8(text);
  const whole = new Uint8Array(bytes.length + 2 * around).fill(0x22);
  whole.set(bytes, around);
  return isPlainJson(whole, around, around + bytes.length, BOUNDS);
}

/** What plain JSON promises, by other means. */
function keepsItsPromise(text: string): boolean {
  const { depth, members } = outlineJson(text);
  if (depth > BOUNDS.depth || members > BOUNDS.members) return false;
  try {
    return canonicalJson(JSON.parse(text)) === text;
  } catch {
    return false;
  }
}

describe("plain JSON", () => {
  test.each([
    "{}",
    "[]",
    '"a b"',
    "0",
    "123456789012345",
    "true",
    "null",
    '{"a":1,"b":[1,"x",false],"c":{"d":null}}',
    '{"":1,"!":2,"a":3,"aa":4,"ab":5}',
    "[[[]]]",
    "[1,2,3,4]",
  ])("is %s", (text) => {
    expect(isPlain(text)).toBe(true);
    expect(isPlain(text, 3)).toBe(true);
    expect(keepsItsPromise(text)).toBe(true);
  });

  test.each([
    ...["", " ", "{", "[", '"', '{"a"', '{"a":', '{"a":1', '{"a":1,', "[1", "[1,", "tru", "nul"],
    ...["{ }", "[1, 2]", "[,1]", "[1,]", '{"a":1,}', "{a:1}", "1 ", "[]]", "{}x", "truefalse"],
    ...['{"b":1,"a":1}', '{"a":1,"a":1}', '{"aa":1,"a":1}', '{"a":1,"":1}'],
    ...["01", "-1", "-0", "1.5", "1e3", "1234567890123456", "00", "[01]"],
    ...['"é"', '"\\n"', '"\u0007"', '"\u007f"', '"\ud83d\ude00"', '"\\""'],
    ...["[[[[]]]]", "[1,2,3,4,5]", '{"a":{"b":{"c":{}}}}', "undefined", "NaN"],
  ])("is not %j", (text) => {
    expect(isPlain(text)).toBe(false);
    expect(isPlain(text, 3)).toBe(false);
  });

  test("has no array where a set may have no members", () => {
    const bytes = encodeUtf8('{"a":[]}');
    expect(isPlainJson(bytes, 0, bytes.length, { depth: 4, members: 0 })).toBe(false);
    expect(outlineJson('{"a":[]}').members).toBe(1);
  });

  test("is canonical, within bounds and without a name twice, whatever the bytes", () => {
    const token = fc.constantFrom(
      ...[
        '"',
        '"a"',
        '"b"',
        ":",
        ",",
        "{",
        "}",
        "[",
        "]",
        "0",
        "7",
        "true",
        "null",
        "é",
        "\\",
        " ",
      ],
    );
    let plain = 0;
    fc.assert(
      fc.property(fc.array(token, { maxLength: 14 }), (tokens) => {
        const text = tokens.join("");
        if (!isPlain(text)) return;
        plain++;
        expect(keepsItsPromise(text), text).toBe(true);
      }),
      { ...SEEDED, numRuns: sized(400_000) },
    );
    expect(plain).toBeGreaterThan(0);
  });

  test("is what a hop is written as, unless it has other characters, numbers or too much", () => {
    const text = fc.string({ unit: "grapheme-ascii", maxLength: 6 });
    const leaf = fc.oneof(text, fc.nat(), fc.boolean(), fc.constant(null));
    const inner = fc.oneof(leaf, fc.array(leaf, { maxLength: 4 }), fc.dictionary(text, leaf));
    fc.assert(
      fc.property(fc.dictionary(text, inner), (value) => {
        const written = canonicalJson(value as Json);
        expect(isPlain(written)).toBe(!written.includes("\\"));
      }),
      { numRuns: sized(2000) },
    );
  });
});
