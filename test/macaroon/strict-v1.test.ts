import { describe, expect, test } from "vitest";
import { macaroonsFromBytes } from "../../src/macaroon/index.js";
import { concat, packet, SIGNATURE, V1_HEAD, VID, v1 } from "./raw.js";
import { rejection } from "./support.js";

const location = packet("location", "l");
const identifier = packet("identifier", "i");
const cid = packet("cid", "c");
const vid = packet("vid", VID);
const cl = packet("cl", "l");
const signature = packet("signature", SIGNATURE);
const good = v1(cid, cid, vid, cl, cid, vid);
// Packet lengths: location 15, identifier 17, cid 10, vid 81, cl 9, signature 47.
const HEAD = 32;

interface Case {
  readonly about: string;
  readonly bytes: Uint8Array;
  readonly code: string;
  readonly offset?: number;
}

const CASES: readonly Case[] = [
  // Faults in single packets:
  {
    about: "an uppercase length",
    bytes: concat("000Flocation l\n"),
    code: "packet_header",
    offset: 0,
  },
  { about: "a length with a space", bytes: concat("0 0f"), code: "packet_header", offset: 0 },
  {
    about: "a length in 0x form",
    bytes: concat("0x0flocation l\n"),
    code: "packet_header",
    offset: 0,
  },
  {
    about: "a character between digits and letters in a length",
    bytes: v1(concat("00:acid c\n")),
    code: "packet_header",
    offset: HEAD,
  },
  { about: "a length of 0", bytes: v1(concat("0000")), code: "packet_header", offset: HEAD },
  {
    about: "a length too short for a key",
    bytes: v1(concat("0006 \n")),
    code: "packet_header",
    offset: HEAD,
  },
  {
    about: "a length past the end",
    bytes: concat(V1_HEAD, "ffffcid c\n"),
    code: "truncated",
    offset: HEAD + 10,
  },
  {
    about: "a packet one byte short",
    bytes: v1(concat("0009cid c\n")),
    code: "packet_terminator",
    offset: HEAD + 8,
  },
  {
    about: "a packet that ends in a carriage return",
    bytes: v1(concat("000acid c\r")),
    code: "packet_terminator",
    offset: HEAD + 9,
  },
  {
    about: "an unknown key",
    bytes: v1(packet("nonce", "n")),
    code: "field_unknown",
    offset: HEAD + 4,
  },
  {
    about: "a key in capitals",
    bytes: v1(packet("CID", "c")),
    code: "field_unknown",
    offset: HEAD + 4,
  },
  {
    about: "a key with a suffix",
    bytes: v1(packet("cids", "c")),
    code: "field_unknown",
    offset: HEAD + 4,
  },
  {
    about: "a packet without a space",
    bytes: v1(concat("0008cid\n")),
    code: "field_unknown",
    offset: HEAD + 4,
  },
  {
    about: "a packet without a key",
    bytes: v1(packet("", "c")),
    code: "field_unknown",
    offset: HEAD + 4,
  },
  // Faults in the order of packets:
  {
    about: "no location",
    bytes: concat(identifier, signature),
    code: "field_missing",
    offset: 0,
  },
  {
    about: "identifier before location",
    bytes: concat(identifier, location, signature),
    code: "field_missing",
    offset: 0,
  },
  {
    about: "no identifier",
    bytes: concat(location, signature),
    code: "field_missing",
    offset: 15,
  },
  {
    about: "a caveat before the identifier",
    bytes: concat(location, cid, identifier, signature),
    code: "field_missing",
    offset: 15,
  },
  {
    about: "two locations",
    bytes: concat(location, location, identifier, signature),
    code: "field_duplicate",
    offset: 15,
  },
  {
    about: "a second location after the identifier",
    bytes: v1(location),
    code: "field_duplicate",
    offset: HEAD,
  },
  {
    about: "a second location after a caveat",
    bytes: v1(cid, location),
    code: "field_duplicate",
    offset: 42,
  },
  { about: "two identifiers", bytes: v1(identifier), code: "field_duplicate", offset: HEAD },
  {
    about: "a second identifier after a caveat",
    bytes: v1(cid, identifier),
    code: "field_duplicate",
    offset: 42,
  },
  { about: "a vid without a cid", bytes: v1(vid), code: "field_order", offset: HEAD },
  { about: "a cl without a cid", bytes: v1(cl), code: "field_order", offset: HEAD },
  { about: "a vid before its cid", bytes: v1(vid, cid), code: "field_order", offset: HEAD },
  {
    about: "a cl before its vid",
    bytes: v1(cid, cl, vid),
    code: "first_party_location",
    offset: 42,
  },
  { about: "two vids", bytes: v1(cid, vid, vid, cl), code: "field_duplicate", offset: 123 },
  {
    about: "a second vid after one that is too short",
    bytes: v1(cid, packet("vid", "v"), vid),
    code: "field_duplicate",
    offset: 52,
  },
  {
    about: "a second vid after the cl",
    bytes: v1(cid, vid, cl, vid),
    code: "field_duplicate",
    offset: 132,
  },
  { about: "two cls", bytes: v1(cid, vid, cl, cl), code: "field_duplicate", offset: 132 },
  {
    about: "a packet behind the signature",
    bytes: concat(good, cid),
    code: "trailing_bytes",
    offset: good.length,
  },
  {
    about: "two signatures",
    bytes: concat(good, signature),
    code: "trailing_bytes",
    offset: good.length,
  },
  {
    about: "a newline behind the end",
    bytes: concat(good, "\n"),
    code: "trailing_bytes",
    offset: good.length,
  },
  {
    about: "a packet behind the end whose key is not location",
    bytes: concat(good, packet("l", "l")),
    code: "trailing_bytes",
    offset: good.length,
  },
  {
    about: "a v2 token behind the end",
    bytes: concat(good, 2),
    code: "trailing_bytes",
    offset: good.length,
  },
  // Faults in values:
  {
    about: "a first-party caveat with a location",
    bytes: v1(cid, cl),
    code: "first_party_location",
    offset: 42,
  },
  ...[0, 1, 71, 73].map((length) => ({
    about: `a vid of ${length} bytes`,
    bytes: v1(cid, packet("vid", new Uint8Array(length)), cl),
    code: "vid_length",
    offset: 42,
  })),
  ...[0, 31, 33].map((length) => ({
    about: `a signature of ${length} bytes`,
    bytes: concat(V1_HEAD, packet("signature", new Uint8Array(length))),
    code: "signature_length",
    offset: HEAD,
  })),
  {
    about: "a location that is not UTF-8",
    bytes: concat(packet("location", Uint8Array.of(0xff)), identifier, signature),
    code: "utf8_invalid",
    offset: 0,
  },
  {
    about: "a caveat's location that is not UTF-8",
    bytes: v1(cid, vid, packet("cl", Uint8Array.of(0xff))),
    code: "utf8_invalid",
    offset: 123,
  },
];

describe("strict reading of v1 binary", () => {
  test("accepts a valid macaroon, and three in a row", () => {
    expect(macaroonsFromBytes(good).format).toBe("v1");
    expect(macaroonsFromBytes(concat(good, good, good)).macaroons).toHaveLength(3);
  });

  test.each(CASES)("refuses $about: $code", ({ bytes, code, offset }) => {
    expect(rejection(() => macaroonsFromBytes(bytes))).toEqual({ code, offset });
  });

  test("reads an empty location as absent", () => {
    const empty = packet("location", "");
    const bytes = concat(empty, identifier, cid, vid, packet("cl", ""), signature);
    const [macaroon] = macaroonsFromBytes(bytes).macaroons;
    expect(macaroon.location).toBeUndefined();
    expect(macaroon.caveats[0]).not.toHaveProperty("location");
  });

  test("keeps spaces and newlines in values", () => {
    const [macaroon] = macaroonsFromBytes(v1(packet("cid", " a b\n\n"))).macaroons;
    expect(new TextDecoder().decode(macaroon.caveats[0]?.identifier)).toBe(" a b\n\n");
  });

  test("accepts a discharge whose first packet has more than 4,096 bytes", () => {
    const long = packet("location", "l".repeat(0x1100));
    const discharge = concat(long, identifier, signature);
    expect(macaroonsFromBytes(concat(good, discharge)).macaroons).toHaveLength(2);
  });
});
