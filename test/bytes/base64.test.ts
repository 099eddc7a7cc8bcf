import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { decodeBase64, encodeBase64url, readBase64 } from "../../src/bytes/base64.js";
import { rejection } from "../macaroon/support.js";
import { sized } from "../support/size.js";

describe("encodeBase64url", () => {
  // Test vectors of RFC 4648, section 10, without their padding.
  test.each([
    ["", ""],
    ["f", "Zg"],
    ["fo", "Zm8"],
    ["foo", "Zm9v"],
    ["foob", "Zm9vYg"],
    ["fooba", "Zm9vYmE"],
    ["foobar", "Zm9vYmFy"],
  ])("writes %o as %o, and decodeBase64 reads it back", (plain, encoded) => {
    expect(encodeBase64url(Buffer.from(plain))).toBe(encoded);
    expect(Buffer.from(decodeBase64(encoded)).toString()).toBe(plain);
  });

  test("uses the URL-safe alphabet", () => {
    expect(encodeBase64url(Uint8Array.of(0xfb, 0xef, 0xbe, 0xff, 0xff, 0xff))).toBe("----____");
  });

  test.each([12_287, 12_288, 12_289, 40_000])("agrees with Buffer for %d bytes", (length) => {
    const bytes = Uint8Array.from({ length }, (_, at) => at * 7);
    expect(encodeBase64url(bytes)).toBe(Buffer.from(bytes).toString("base64url"));
  });

  test("agrees with Buffer for any bytes", () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 100 }), (bytes) => {
        expect(encodeBase64url(bytes)).toBe(Buffer.from(bytes).toString("base64url"));
      }),
    );
  });
});

describe("decodeBase64", () => {
  test("accepts either alphabet, padded or not, for any bytes", () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 100 }), (bytes) => {
        const padded = Buffer.from(bytes).toString("base64");
        const urlSafe = padded.replaceAll("+", "-").replaceAll("/", "_");
        for (const text of [padded, urlSafe]) {
          expect(decodeBase64(text)).toEqual(bytes);
          expect(decodeBase64(text.replace(/=*$/, ""))).toEqual(bytes);
        }
      }),
    );
  });

  test.each([
    { about: "a space", text: "Zm 9v", code: "base64_whitespace", offset: 2 },
    { about: "a leading newline", text: "\nZm9v", code: "base64_whitespace", offset: 0 },
    { about: "a trailing tab", text: "Zm9v\t", code: "base64_whitespace", offset: 4 },
    { about: "a no-break space", text: "Zm9v\u00a0", code: "base64_character", offset: 4 },
    { about: "a full stop", text: "Zm.v", code: "base64_character", offset: 2 },
    { about: "a NUL", text: "Zm9\0", code: "base64_character", offset: 3 },
    { about: "a letter outside ASCII", text: "Zmé", code: "base64_character", offset: 2 },
    // Characters whose low byte, or low seven bits, are in the alphabet.
    { about: "U+0141, which is not A", text: "Zm9\u0141", code: "base64_character", offset: 3 },
    { about: "U+00C1, which is not A", text: "Zm9\u00c1", code: "base64_character", offset: 3 },
    { about: "a lone surrogate", text: "Zm9\ud800", code: "base64_character", offset: 3 },
    { about: "both alphabets", text: "-AAA/AAA", code: "base64_mixed", offset: 4 },
    {
      about: "the two alphabets in the other order",
      text: "+A_A",
      code: "base64_mixed",
      offset: 2,
    },
    { about: "one = of two", text: "Zg=", code: "base64_padding", offset: 2 },
    { about: "three =", text: "Z===", code: "base64_padding", offset: 1 },
    { about: "= where none is due", text: "Zm9v=", code: "base64_padding", offset: 4 },
    { about: "==== where none is due", text: "Zm9v====", code: "base64_padding", offset: 4 },
    { about: "= alone", text: "=", code: "base64_padding", offset: 0 },
    { about: "= inside", text: "Zg==Zg==", code: "base64_padding", offset: 2 },
    { about: "a lone last character", text: "Zm9vZ", code: "truncated", offset: 5 },
    { about: "one character", text: "Z", code: "truncated", offset: 1 },
    { about: "four spare bits set", text: "Zh", code: "base64_trailing_bits", offset: 1 },
    { about: "one of four spare bits set", text: "Zo==", code: "base64_trailing_bits", offset: 1 },
    { about: "two spare bits set", text: "Zm9", code: "base64_trailing_bits", offset: 2 },
    { about: "one of two spare bits set", text: "Zm-=", code: "base64_trailing_bits", offset: 2 },
  ])("refuses $about with the code $code", ({ text, code, offset }) => {
    expect(rejection(() => decodeBase64(text))).toEqual({ code, offset });
  });

  test("accepts a random string only if encodeBase64url restores it, apart from alphabet and padding", () => {
    const character = fc.constantFrom(..."ABCXYZabcxyz0189-_+/= \n.é");
    fc.assert(
      fc.property(fc.string({ unit: character, maxLength: 12 }), (text) => {
        const { code } = rejection(() => decodeBase64(text));
        if (code !== "accepted") return;
        const urlSafe = text.replaceAll("+", "-").replaceAll("/", "_").replace(/=*$/, "");
        expect(encodeBase64url(decodeBase64(text))).toBe(urlSafe);
      }),
      { numRuns: sized(5000) },
    );
  });
});

test("readBase64 reports a fault at the end of the string, and returns the bytes before the fault", () => {
  expect(readBase64("Zm9v")).toEqual({ bytes: Uint8Array.of(0x66, 0x6f, 0x6f) });
  expect(readBase64("Zm9vZ")).toMatchObject({
    bytes: Uint8Array.of(0x66, 0x6f, 0x6f),
    tail: { code: "truncated", offset: 5 },
  });
  expect(readBase64("Zm9vZh")).toMatchObject({
    bytes: Uint8Array.of(0x66, 0x6f, 0x6f, 0x66),
    tail: { code: "base64_trailing_bits", offset: 5 },
  });
});
