import { describe, expect, test } from "vitest";
import { encodeBase64url } from "../../src/bytes/base64.js";
import { readMacaroons } from "../../src/macaroon/index.js";
import { SIGNATURE, VID } from "./raw.js";
import { hex, rejection } from "./support.js";

const s64 = encodeBase64url(SIGNATURE);
const v64 = encodeBase64url(VID);
const third = { i: "c", v64, l: "l" };
const good2 = { v: 2, l: "l", i: "i", c: [{ i: "c" }, { i64: "Yw" }, third], s64 };

const signature = hex(SIGNATURE);
const good1 = {
  location: "l",
  identifier: "i",
  caveats: [{ cid: "c" }, { cid: "c", vid: v64, cl: "l" }],
  signature,
};

interface Case {
  readonly about: string;
  readonly json: unknown;
  readonly code: string;
  readonly offset?: number;
}

// spec-vectors/macaroon.json has more faults, but no offsets.
const V2_CASES: readonly Case[] = [
  { about: "an empty signature", json: { ...good2, s64: "" }, code: "signature_length" },
  { about: "a vid that is null", json: { ...good2, c: [{ i: "c", v: null }] }, code: "json_type" },
  {
    about: "base64 with a bad character",
    json: { v: 2, i64: "a!", s64 },
    code: "base64_character",
    offset: 1,
  },
  {
    about: "base64 in two alphabets",
    json: { v: 2, i64: "-/", s64 },
    code: "base64_mixed",
    offset: 1,
  },
  {
    about: "base64 with space",
    json: { v: 2, i64: "a Q", s64 },
    code: "base64_whitespace",
    offset: 1,
  },
  {
    about: "base64 with wrong padding",
    json: { v: 2, i64: "aQ=", s64 },
    code: "base64_padding",
    offset: 2,
  },
  {
    about: "base64 trailing bits",
    json: { v: 2, i64: "aR", s64 },
    code: "base64_trailing_bits",
    offset: 1,
  },
  { about: "base64 of no whole byte", json: { v: 2, i64: "a", s64 }, code: "truncated", offset: 1 },
];

const V1_CASES: readonly Case[] = [
  { about: "an identifier that is a number", json: { ...good1, identifier: 1 }, code: "json_type" },
  { about: "a location that is null", json: { ...good1, location: null }, code: "json_type" },
  { about: "caveats that are null", json: { ...good1, caveats: null }, code: "json_type" },
  {
    about: "a signature with a character that is not hex",
    json: { ...good1, signature: signature.replace(/.$/, "g") },
    code: "json_hex",
    offset: 63,
  },
  {
    about: "a vid that is null",
    json: { ...good1, caveats: [{ cid: "c", vid: null }] },
    code: "json_type",
  },
  {
    about: "a vid with a bad character",
    json: { ...good1, caveats: [{ cid: "c", vid: "a.b" }] },
    code: "base64_character",
    offset: 1,
  },
];

describe.each([
  { form: "v2json", good: good2, cases: V2_CASES },
  { form: "v1json", good: good1, cases: V1_CASES },
])("strict reading of $form", ({ form, good, cases }) => {
  test("accepts a valid macaroon, an array of two, and JSON with white space", () => {
    expect(readMacaroons(JSON.stringify(good)).format).toBe(form);
    expect(readMacaroons(JSON.stringify([good, good])).macaroons).toHaveLength(2);
    expect(readMacaroons(` \n${JSON.stringify(good, null, 2)}\n`).macaroons).toHaveLength(1);
  });

  test.each(cases)("refuses $about: $code", ({ json, code, offset }) => {
    expect(rejection(() => readMacaroons(JSON.stringify(json)))).toEqual({ code, offset });
  });
});

const TEXT_CASES: readonly { about: string; text: string; code: string; offset?: number }[] = [
  { about: "a byte order mark", text: "\uFEFF{}", code: "base64_character", offset: 0 },
  { about: "a no-break space", text: "\u00a0{}", code: "base64_character", offset: 0 },
  { about: "an open object", text: '{"v":2', code: "truncated", offset: 6 },
  { about: "an open string", text: '{"v', code: "truncated", offset: 3 },
  { about: "an open array", text: "[{}", code: "truncated", offset: 3 },
  { about: "an array in an array", text: "[[]]", code: "json_type" },
  { about: "deep nesting", text: "[".repeat(50_000) + "]".repeat(50_000), code: "too_deep" },
  {
    about: "a property twice",
    text: '{"v":2,"i":"a","i":"b"}',
    code: "json_duplicate_key",
    offset: 15,
  },
  {
    about: "a property twice, once escaped",
    text: '{"v":2,"i":"a","\\u0069":"b"}',
    code: "json_duplicate_key",
    offset: 15,
  },
  {
    about: "a caveat's property twice",
    text: '{"v":2,"c":[{"i":"a","i":"a"}]}',
    code: "json_duplicate_key",
    offset: 21,
  },
];

describe("strict reading of JSON text", () => {
  test.each(TEXT_CASES)("refuses $about: $code", ({ text, code, offset }) => {
    expect(rejection(() => readMacaroons(text))).toEqual({ code, offset });
  });
});
