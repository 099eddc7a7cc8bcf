import { describe, expect, test } from "vitest";
import { Cursor } from "../../src/bytes/cursor.js";
import { canonicalJson, type Json } from "../../src/bytes/json.js";
import { TokenError } from "../../src/bytes/token-error.js";

/** The message of what `run` throws. */
function message(run: () => unknown): string {
  try {
    run();
  } catch (error) {
    return String(error);
  }
  return "nothing was thrown";
}

describe("a rejected token says what is wrong, and where", () => {
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
  ])("%s", (_, bytes, expected) => {
    const cursor = new Cursor(Uint8Array.from(bytes), 1);
    expect(message(() => cursor.varint("x"))).toBe(`TokenError: ${expected}`);
  });

  test("its name tells a TokenError from other errors", () => {
    expect(new TokenError("empty", "no token").name).toBe("TokenError");
  });
});

describe("a value without canonical form is named", () => {
  test.each<[string, unknown, string]>([
    ["infinity", Number.POSITIVE_INFINITY, "Infinity has no JSON form"],
    ["half a character", "\ud800", "a string with a lone surrogate has no UTF-8 form"],
    ["a function", () => 1, "a function has no JSON form"],
    ["an undefined member", { a: undefined }, "a undefined has no JSON form"],
  ])("%s", (_, value, expected) => {
    expect(message(() => canonicalJson(value as Json))).toBe(`TypeError: ${expected}`);
  });
});
