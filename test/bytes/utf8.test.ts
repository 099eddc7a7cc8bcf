import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { decodeUtf8, encodeUtf8, isWellFormed } from "../../src/bytes/utf8.js";
import { anyCharacter } from "../support/any-character.js";
import { sized } from "../support/size.js";

describe("UTF-8", () => {
  test("decodeUtf8 and encodeUtf8 keep a byte order mark at the start", () => {
    expect(decodeUtf8(Uint8Array.of(0xef, 0xbb, 0xbf))).toBe("\uFEFF");
    expect(decodeUtf8(Uint8Array.of(0xef, 0xbb, 0xbf, 0x61))).toBe("\uFEFFa");
    expect([...encodeUtf8("\uFEFFa")]).toEqual([0xef, 0xbb, 0xbf, 0x61]);
  });

  test("decodeUtf8 restores any well-formed string that encodeUtf8 encoded", () => {
    fc.assert(
      fc.property(fc.string({ unit: anyCharacter }), (text) => {
        expect(isWellFormed(text)).toBe(true);
        expect(decodeUtf8(encodeUtf8(text))).toBe(text);
      }),
    );
  });

  test("encodeUtf8 restores any bytes that decodeUtf8 decodes", () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 8 }), (bytes) => {
        const text = decodeUtf8(bytes);
        if (text !== undefined) expect(encodeUtf8(text)).toEqual(bytes);
      }),
      { numRuns: sized(2000) },
    );
  });

  test.each([
    { about: "a stray continuation byte", bytes: [0x80] },
    { about: "a byte that is never used", bytes: [0xff] },
    { about: "a sequence cut short", bytes: [0xe2, 0x82] },
    { about: "an overlong slash", bytes: [0xc0, 0xaf] },
    { about: "an overlong NUL", bytes: [0xc0, 0x80] },
    { about: "an encoded surrogate", bytes: [0xed, 0xa0, 0x80] },
    { about: "a code point past U+10FFFF", bytes: [0xf4, 0x90, 0x80, 0x80] },
  ])("decodeUtf8 returns undefined for $about", ({ bytes }) => {
    expect(decodeUtf8(Uint8Array.from(bytes))).toBeUndefined();
  });

  test("a failed decodeUtf8 does not affect the next call", () => {
    expect(decodeUtf8(Uint8Array.of(0xe2, 0x82))).toBeUndefined();
    expect(decodeUtf8(Uint8Array.of(0xac))).toBeUndefined();
    expect(decodeUtf8(Uint8Array.of(0x61))).toBe("a");
  });

  test.each<[string, boolean]>([
    ["", true],
    ["a\u{1f600}", true],
    ["\ud800", false],
    ["a\udc00b", false],
    ["\udc00\ud800", false],
    ["\ud83d\ude00\ud83d", false],
  ])("isWellFormed(%j) is %s", (text, expected) => {
    expect(isWellFormed(text)).toBe(expected);
  });
});
