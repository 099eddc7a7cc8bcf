import { describe, expect, test } from "vitest";
import { encodeBase64url } from "../../src/bytes/base64.js";
import { parseMacaroon, readMacaroons } from "../../src/macaroon/index.js";
import { A1_V1, C_CHAIN } from "./known-answers.js";
import { concat, FIELD, field, SIGNATURE, v1, v2 } from "./raw.js";
import { contents, rejection } from "./support.js";

// A macaroon of 43 bytes, so that the last character of the text has four leftover bits. The text contains both
// characters in which the base64 alphabets differ.
const bytes = v2(
  [field(FIELD.identifier, Uint8Array.of(0xfb, 0xef, 0xff, 0xff))],
  [],
  field(FIELD.signature, SIGNATURE),
);
const good = encodeBase64url(bytes);
const standard = good.replaceAll("-", "+").replaceAll("_", "/");
const dash = good.indexOf("-");

const CASES: readonly { about: string; text: string; code: string; offset?: number }[] = [
  { about: "an empty string", text: "", code: "empty", offset: 0 },
  { about: "white space alone", text: " ", code: "base64_whitespace", offset: 0 },
  { about: "a leading space", text: ` ${good}`, code: "base64_whitespace", offset: 0 },
  {
    about: "a trailing newline",
    text: `${good}\n`,
    code: "base64_whitespace",
    offset: good.length,
  },
  {
    about: "a line break inside",
    text: `${good.slice(0, 9)}\r\n${good.slice(9)}`,
    code: "base64_whitespace",
    offset: 9,
  },
  { about: "quotes", text: `"${good}"`, code: "base64_character", offset: 0 },
  {
    about: "a character outside ASCII",
    text: `${good}é`,
    code: "base64_character",
    offset: good.length,
  },
  {
    about: "a character outside the BMP",
    text: `${good}😀`,
    code: "base64_character",
    offset: good.length,
  },
  {
    about: "both alphabets",
    text: `${good.slice(0, dash + 1)}/${good.slice(dash + 2)}`,
    code: "base64_mixed",
    offset: dash + 1,
  },
  { about: "too little padding", text: `${good}=`, code: "base64_padding", offset: good.length },
  { about: "too much padding", text: `${good}===`, code: "base64_padding", offset: good.length },
  {
    about: "padding inside",
    text: `${good.slice(0, 8)}==${good.slice(8)}`,
    code: "base64_padding",
    offset: 8,
  },
  {
    about: "set bits behind the last byte",
    text: `${good.slice(0, -1)}x`,
    code: "base64_trailing_bits",
    offset: good.length - 1,
  },
  { about: "neither v1 nor v2", text: "_w", code: "format_unknown", offset: 0 },
  { about: "version 1 in binary", text: "AQ", code: "format_unknown", offset: 0 },
  { about: "a v1 token in capitals", text: "RkZGRg", code: "format_unknown", offset: 0 },
  {
    about: "trailing bytes",
    text: encodeBase64url(concat(bytes, 0)),
    code: "trailing_bytes",
    offset: bytes.length,
  },
];

describe("strict reading of base64", () => {
  test.each([
    { about: "URL-safe", text: good },
    { about: "URL-safe, padded", text: `${good}==` },
    { about: "standard", text: standard },
    { about: "standard, padded", text: `${standard}==` },
  ])("accepts either alphabet, padded or not: $about", ({ text }) => {
    expect(contents(parseMacaroon(text))).toEqual(contents(parseMacaroon(good)));
  });

  test.each(CASES)("refuses $about: $code", ({ text, code, offset }) => {
    expect(rejection(() => readMacaroons(text))).toEqual({ code, offset });
  });

  test("refuses discharges in parseMacaroon, and accepts them in readMacaroons", () => {
    const text = encodeBase64url(concat(bytes, bytes));
    expect(rejection(() => parseMacaroon(text)).code).toBe("trailing_bytes");
    expect(readMacaroons(text).macaroons).toHaveLength(2);
    const v1Text = encodeBase64url(concat(v1(), v1()));
    expect(readMacaroons(v1Text)).toMatchObject({ format: "v1", macaroons: { length: 2 } });
  });

  test("returns the format of the macaroon, v1 or v2", () => {
    expect(readMacaroons(A1_V1).format).toBe("v1");
    expect(readMacaroons(C_CHAIN.c2V2).format).toBe("v2");
  });

  test("shows at most one character of the token in error messages", () => {
    const secret = encodeBase64url(v2([field(FIELD.identifier, "top secret")]));
    for (const text of [`${secret}!`, `${secret}é`, ` ${secret}`, secret.slice(0, -5)]) {
      try {
        readMacaroons(text);
        expect.unreachable();
      } catch (error) {
        expect(String(error)).not.toContain(secret.slice(4, 12));
        expect(String(error)).not.toContain("secret");
      }
    }
  });
});
