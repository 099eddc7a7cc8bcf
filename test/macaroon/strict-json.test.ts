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

const V2_CASES: readonly Case[] = [
  { about: "version 1", json: { ...good2, v: 1 }, code: "json_version" },
  { about: 'version "2"', json: { ...good2, v: "2" }, code: "json_version" },
  { about: "version null", json: { ...good2, v: null }, code: "json_version" },
  { about: "no identifier", json: { v: 2, s64 }, code: "field_missing" },
  { about: "no signature", json: { v: 2, i: "i" }, code: "field_missing" },
  { about: "an unknown property", json: { ...good2, x: 1 }, code: "json_unknown_key" },
  { about: "a v1 member", json: { ...good2, signature }, code: "json_unknown_key" },
  { about: "both i and i64", json: { ...good2, i64: "aQ" }, code: "json_both_encodings" },
  { about: "both s and s64", json: { ...good2, s: "s" }, code: "json_both_encodings" },
  { about: "an identifier that is a number", json: { ...good2, i: 1 }, code: "json_type" },
  { about: "an identifier that is null", json: { ...good2, i: null }, code: "json_type" },
  { about: "a location that is null", json: { ...good2, l: null }, code: "json_type" },
  { about: "caveats that are null", json: { ...good2, c: null }, code: "json_type" },
  { about: "caveats in an object", json: { ...good2, c: {} }, code: "json_type" },
  { about: "a caveat that is text", json: { ...good2, c: ["c"] }, code: "json_type" },
  { about: "a caveat in an array", json: { ...good2, c: [[]] }, code: "json_type" },
  { about: "a lone surrogate", json: { ...good2, i: "\ud800" }, code: "utf8_invalid" },
  { about: "a location's lone surrogate", json: { ...good2, l: "\udc00" }, code: "utf8_invalid" },
  { about: "a signature given as text", json: { v: 2, i: "i", s: "s" }, code: "signature_length" },
  { about: "an empty signature", json: { ...good2, s64: "" }, code: "signature_length" },
  {
    about: "a signature of 31 bytes",
    json: { ...good2, s64: encodeBase64url(SIGNATURE.slice(1)) },
    code: "signature_length",
  },
  { about: "a caveat without identifier", json: { ...good2, c: [{}] }, code: "field_missing" },
  {
    about: "a caveat with i and i64",
    json: { ...good2, c: [{ i: "c", i64: "Yw" }] },
    code: "json_both_encodings",
  },
  {
    about: "a caveat with v and v64",
    json: { ...good2, c: [{ ...third, v: "v" }] },
    code: "json_both_encodings",
  },
  {
    about: "a caveat's unknown property",
    json: { ...good2, c: [{ cid: "c" }] },
    code: "json_unknown_key",
  },
  {
    about: "a first-party caveat with a location",
    json: { ...good2, c: [{ i: "c", l: "l" }] },
    code: "first_party_location",
  },
  {
    about: "a first-party caveat with an empty location",
    json: { ...good2, c: [{ i: "c", l: "" }] },
    code: "first_party_location",
  },
  { about: "a vid of 0 bytes", json: { ...good2, c: [{ i: "c", v64: "" }] }, code: "vid_length" },
  { about: "a vid of 1 byte", json: { ...good2, c: [{ i: "c", v: "v" }] }, code: "vid_length" },
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
  { about: "no identifier", json: { signature }, code: "field_missing" },
  { about: "no signature", json: { identifier: "i" }, code: "field_missing" },
  { about: "no members", json: {}, code: "field_missing" },
  { about: "an unknown property", json: { ...good1, version: 1 }, code: "json_unknown_key" },
  { about: "an identifier that is a number", json: { ...good1, identifier: 1 }, code: "json_type" },
  { about: "a location that is null", json: { ...good1, location: null }, code: "json_type" },
  { about: "caveats that are null", json: { ...good1, caveats: null }, code: "json_type" },
  { about: "a lone surrogate", json: { ...good1, identifier: "\udfff" }, code: "utf8_invalid" },
  { about: "a caveat without cid", json: { ...good1, caveats: [{}] }, code: "field_missing" },
  {
    about: "a caveat's v2 member",
    json: { ...good1, caveats: [{ i: "c" }] },
    code: "json_unknown_key",
  },
  {
    about: "a signature with a character that is not hex",
    json: { ...good1, signature: signature.replace(/.$/, "g") },
    code: "json_hex",
    offset: 63,
  },
  {
    about: "a signature of 31 bytes",
    json: { ...good1, signature: signature.slice(2) },
    code: "signature_length",
  },
  {
    about: "a signature of 31.5 bytes",
    json: { ...good1, signature: signature.slice(1) },
    code: "signature_length",
  },
  { about: "an empty signature", json: { ...good1, signature: "" }, code: "signature_length" },
  {
    about: "a first-party caveat with a location",
    json: { ...good1, caveats: [{ cid: "c", cl: "l" }] },
    code: "first_party_location",
  },
  {
    about: "an empty vid",
    json: { ...good1, caveats: [{ cid: "c", vid: "" }] },
    code: "vid_length",
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

  test("accepts a macaroon without caveats", () => {
    const { c: _c, caveats: _caveats, ...rest } = { c: 0, caveats: 0, ...good };
    expect(readMacaroons(JSON.stringify(rest)).macaroons[0].caveats).toEqual([]);
  });

  test("refuses a discharge in the JSON form of the other version", () => {
    const other = form === "v2json" ? good1 : good2;
    expect(rejection(() => readMacaroons(JSON.stringify([good, other]))).code).toBe(
      "json_unknown_key",
    );
  });
});

const TEXT_CASES: readonly { about: string; text: string; code: string; offset?: number }[] = [
  { about: "not JSON", text: "{x}", code: "json_syntax" },
  { about: "a trailing comma", text: '{"v":2,}', code: "json_syntax" },
  { about: "text behind the end", text: "{} {}", code: "json_syntax" },
  { about: "a byte order mark", text: "\uFEFF{}", code: "base64_character", offset: 0 },
  { about: "a no-break space", text: "\u00a0{}", code: "base64_character", offset: 0 },
  { about: "an open object", text: '{"v":2', code: "truncated", offset: 6 },
  { about: "an open string", text: '{"v', code: "truncated", offset: 3 },
  { about: "an open array", text: "[{}", code: "truncated", offset: 3 },
  { about: "an empty array", text: "[]", code: "empty" },
  { about: "an array in an array", text: "[[]]", code: "json_type" },
  { about: "nesting of 5", text: "[[[[[]]]]]", code: "too_deep" },
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
  { about: "a property named __proto__", text: '{"v":2,"__proto__":{}}', code: "json_unknown_key" },
];

describe("strict reading of JSON text", () => {
  test.each(TEXT_CASES)("refuses $about: $code", ({ text, code, offset }) => {
    expect(rejection(() => readMacaroons(text))).toEqual({ code, offset });
  });
});
