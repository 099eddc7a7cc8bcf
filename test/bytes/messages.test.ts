import { describe, expect, test } from "vitest";
import { decodeBase64 } from "../../src/bytes/base64.js";
import { Cursor } from "../../src/bytes/cursor.js";
import { canonicalJson, type Json, quotedName } from "../../src/bytes/json.js";
import { TokenError } from "../../src/bytes/token-error.js";

/** Returns the message of the error that `run` throws. */
function message(run: () => unknown): string {
  try {
    run();
  } catch (error) {
    return String(error);
  }
  return "nothing was thrown";
}

describe("the message of a TokenError says what is wrong", () => {
  test.each<[string, number[], string]>([
    [
      "a length in too many bytes",
      [0, 0x81, 0],
      "the length of x is written longer than needed (at 1)",
    ],
    [
      "a length of too many bits",
      [0, 255, 255, 255, 255],
      "the length of x is out of range (at 1)",
    ],
    ["a length cut short", [0, 0x81], "the token ends inside x (at 2)"],
  ])("with %s", (_, bytes, expected) => {
    const cursor = new Cursor(Uint8Array.from(bytes), 1);
    expect(message(() => cursor.varint("x"))).toBe(`TokenError: ${expected}`);
  });

  test.each<[string, string, string]>([
    ["both alphabets", "AA-AA/AA", "both base64 alphabets are used (at 5)"],
    ["a lone last character", "AAAAA", "the base64 text stops inside a byte"],
    ["non-zero bits left over", "AB", "the last base64 character has bits set past the last byte"],
    ["too much padding", "AA===", 'wrong number of "=" at the end: 3'],
    ["padding alone", "==", 'wrong number of "=" at the end: 2'],
    ["white space", "AA AA", "white space inside the token (at 2)"],
    ["padding inside", "AA=A", '"=" before the end (at 2)'],
    ["an ASCII character outside the alphabet", "AA.A", '"." is not a base64 character (at 2)'],
    [
      "a character of two code units",
      "A\u{1f600}AA",
      '"\u{1f600}" is not a base64 character (at 1)',
    ],
    [
      "the first character that is not ASCII",
      "\u0080AAA",
      '"\u0080" is not a base64 character (at 0)',
    ],
  ])("with base64 that has %s", (_, text, expected) => {
    expect(message(() => decodeBase64(text))).toBe(`TokenError: ${expected}`);
  });
});

test("a TokenError has the name TokenError", () => {
  expect(new TokenError("empty", "no token").name).toBe("TokenError");
});

describe("canonicalJson throws a TypeError that names the part without a JSON or UTF-8 form:", () => {
  test.each<[string, unknown, string]>([
    ["infinity", Number.POSITIVE_INFINITY, "Infinity has no JSON form"],
    ["a lone surrogate", "\ud800", "a string with a lone surrogate has no UTF-8 form"],
    ["a function", () => 1, "a function has no JSON form"],
    ["undefined in an array", { a: [undefined] }, "undefined has no JSON form"],
  ])("%s", (_, value, expected) => {
    expect(message(() => canonicalJson(value as Json))).toBe(`TypeError: ${expected}`);
  });
});

describe("quotedName shows", () => {
  test.each<[string, string]>([
    ["amount", '"amount"'],
    ['a"b', '"a\\"b"'],
    ["x".repeat(24), `"${"x".repeat(24)}"`],
    ["x".repeat(25), `"${"x".repeat(24)}..."`],
    ["a\nb", '"a\\nb"'],
    // Control characters, right-to-left overrides and line separators must not reach a terminal.
    ["a\u009bb\u202ec\u2028d\u2029e", '"a\ufffdb\ufffdc\ufffdd\ufffde"'],
  ])("%j as %s", (name, expected) => {
    expect(quotedName(name)).toBe(expected);
  });
});
