import { describe, expect, test } from "vitest";
import { macaroonsFromBytes } from "../../src/macaroon/index.js";
import { concat, FIELD, field, SIGNATURE, signedV2, VID, v2 } from "./raw.js";
import { rejection } from "./support.js";

const id = field(FIELD.identifier, "i");
const location = field(FIELD.location, "l");
const caveat = field(FIELD.identifier, "c");
const vid = field(FIELD.vid, VID);
const signature = field(FIELD.signature, SIGNATURE);
const header = concat(2, id, 0);
const good = v2([location, id], [[caveat], [location, caveat, vid]]);

interface Case {
  readonly about: string;
  readonly bytes: Uint8Array;
  readonly code: string;
  /** The expected offset; absent for an error without one. */
  readonly offset?: number;
}

const CASES: readonly Case[] = [
  { about: "no bytes", bytes: concat(), code: "empty", offset: 0 },
  { about: "version 1", bytes: concat(1, id, 0), code: "format_unknown", offset: 0 },
  { about: "version 3", bytes: concat(3, id, 0), code: "format_unknown", offset: 0 },
  // Bytes after the end:
  {
    about: "a byte behind the end",
    bytes: concat(good, 0),
    code: "trailing_bytes",
    offset: good.length,
  },
  {
    about: "a v1 token behind the end",
    bytes: concat(good, "0"),
    code: "trailing_bytes",
    offset: good.length,
  },
  {
    about: "half a token behind the end",
    bytes: concat(good, 2, id),
    code: "truncated",
    offset: good.length + 4,
  },
  // Faults in varints:
  {
    about: "a length with a needless byte",
    bytes: concat(2, 2, 0x81, 0, "i", 0, 0, signature),
    code: "varint_overlong",
    offset: 2,
  },
  {
    about: "a zero length with a needless byte",
    bytes: concat(2, 2, 0x80, 0, 0, 0, signature),
    code: "varint_overlong",
    offset: 2,
  },
  {
    about: "a field type with a needless byte",
    bytes: concat(2, 0x82, 0, 1, "i", 0, 0, signature),
    code: "varint_overlong",
    offset: 1,
  },
  {
    about: "an end of section with a needless byte",
    bytes: concat(2, id, 0x80, 0, 0, signature),
    code: "varint_overlong",
    offset: 4,
  },
  {
    about: "a signature's field type with a needless byte",
    bytes: concat(header, 0, 0x86, 0, 32, SIGNATURE),
    code: "varint_overlong",
    offset: 6,
  },
  {
    about: "a length of 2^32 + 2, which wraps to 2",
    bytes: concat(2, 2, 0x82, 0x80, 0x80, 0x80, 0x10, "ii", 0, 0, signature),
    code: "varint_range",
    offset: 2,
  },
  {
    about: "a length of ten thousand 0xff",
    bytes: concat(2, 2, new Uint8Array(10_000).fill(0xff)),
    code: "varint_range",
    offset: 2,
  },
  {
    about: "a length past the end",
    bytes: concat(2, 2, 200, 1, "i"),
    code: "truncated",
    offset: 5,
  },
  // Faults in fields of the header:
  { about: "no identifier", bytes: v2([location]), code: "field_missing", offset: 5 },
  { about: "no header fields", bytes: v2([]), code: "field_missing", offset: 2 },
  { about: "two identifiers", bytes: v2([id, id]), code: "field_duplicate", offset: 4 },
  {
    about: "two locations",
    bytes: v2([location, location, id]),
    code: "field_duplicate",
    offset: 4,
  },
  { about: "location after identifier", bytes: v2([id, location]), code: "field_order", offset: 4 },
  { about: "a vid in the header", bytes: v2([id, vid]), code: "field_unknown", offset: 4 },
  { about: "an unknown field", bytes: v2([field(3, "x"), id]), code: "field_unknown", offset: 1 },
  {
    about: "an unknown field type of two bytes",
    bytes: v2([concat(0x80, 1, 1, "x"), id]),
    code: "field_unknown",
    offset: 1,
  },
  {
    about: "a location that is not UTF-8",
    bytes: v2([field(FIELD.location, Uint8Array.of(0xff)), id]),
    code: "utf8_invalid",
    offset: 0,
  },
  {
    about: "a location in overlong UTF-8",
    bytes: v2([field(FIELD.location, Uint8Array.of(0xc0, 0xaf)), id]),
    code: "utf8_invalid",
    offset: 0,
  },
  // Faults in fields of a caveat, whose section starts at byte 5:
  {
    about: "a caveat without identifier",
    bytes: v2([id], [[vid]]),
    code: "field_missing",
    offset: 5,
  },
  {
    about: "a caveat with two identifiers",
    bytes: v2([id], [[caveat, caveat]]),
    code: "field_duplicate",
    offset: 8,
  },
  {
    about: "a caveat with two vids",
    bytes: v2([id], [[caveat, vid, vid]]),
    code: "field_duplicate",
    offset: 82,
  },
  {
    about: "a caveat's vid before its identifier",
    bytes: v2([id], [[vid, caveat]]),
    code: "field_order",
    offset: 79,
  },
  {
    about: "a caveat's location last",
    bytes: v2([id], [[caveat, vid, location]]),
    code: "field_order",
    offset: 82,
  },
  {
    about: "a signature field in a caveat",
    bytes: v2([id], [[caveat, signature]]),
    code: "field_unknown",
    offset: 8,
  },
  {
    about: "a first-party caveat with a location",
    bytes: v2([id], [[location, caveat]]),
    code: "first_party_location",
    offset: 5,
  },
  {
    about: "an empty location in a first-party caveat",
    bytes: v2([id], [[field(FIELD.location, ""), caveat]]),
    code: "first_party_location",
    offset: 5,
  },
  {
    about: "a caveat's location that is not UTF-8",
    bytes: v2([id], [[field(FIELD.location, Uint8Array.of(0x80)), caveat, vid]]),
    code: "utf8_invalid",
    offset: 5,
  },
  ...[0, 1, 71, 73].map((length) => ({
    about: `a vid of ${length} bytes`,
    bytes: v2([id], [[caveat, field(FIELD.vid, new Uint8Array(length))]]),
    code: "vid_length",
    offset: 5,
  })),
  // Faults in the signature, whose field starts at byte 6:
  ...[0, 1, 31, 33].map((length) => ({
    about: `a signature of ${length} bytes`,
    bytes: v2([id], [], field(FIELD.signature, new Uint8Array(length))),
    code: "signature_length",
    offset: 6,
  })),
  {
    about: "another field instead of the signature",
    bytes: v2([id], [], field(FIELD.vid, SIGNATURE)),
    code: "field_missing",
    offset: 6,
  },
  {
    about: "an end of section instead of the signature",
    bytes: concat(header, 0, 0, signature),
    code: "field_missing",
    offset: 6,
  },
  {
    about: "an end of section behind the signature",
    bytes: concat(header, 0, signature, 0),
    code: "trailing_bytes",
    offset: 40,
  },
  {
    about: "no end of the caveats",
    bytes: concat(header, signature),
    code: "field_unknown",
    offset: 5,
  },
];

describe("strict reading of v2 binary", () => {
  test("accepts a valid macaroon, and three in a row", () => {
    expect(macaroonsFromBytes(good).format).toBe("v2");
    expect(macaroonsFromBytes(concat(good, good, good)).macaroons).toHaveLength(3);
    expect(macaroonsFromBytes(signedV2("k", "i", ["c"])).macaroons).toHaveLength(1);
  });

  test.each(CASES)("refuses $about: $code", ({ bytes, code, offset }) => {
    expect(rejection(() => macaroonsFromBytes(bytes))).toEqual({ code, offset });
  });

  test("accepts an empty identifier and an empty caveat", () => {
    const bytes = v2([field(FIELD.identifier, "")], [[field(FIELD.identifier, "")]]);
    const [macaroon] = macaroonsFromBytes(bytes).macaroons;
    expect(macaroon.identifier).toHaveLength(0);
    expect(macaroon.caveats).toEqual([{ kind: "first-party", identifier: new Uint8Array() }]);
  });
});
