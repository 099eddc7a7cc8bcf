import { concat } from "../build/bytes.js";
import { chain, located } from "../build/chain.js";
import {
  field,
  IDENTIFIER,
  LOCATION,
  leb128,
  SIGNATURE,
  VID,
  v2,
  writeV2,
} from "../build/forms.js";
import { as, binary, invalid, KEY, type MacaroonSubject, valid } from "./macaroon-test.js";
import {
  CAVEAT,
  CID,
  cuts,
  DISCHARGE,
  ID,
  pair,
  ROOT,
  SIG,
  sections,
  vid,
  WHOLE,
  WITH_THIRD,
} from "./wire-v2-parts.js";

export const wireV2: MacaroonSubject = {
  subject: "v2 binary form",
  comment: "Section 3: fields, lengths and sections of the v2 binary form",
  tests: [
    valid("without a caveat", "Normal", as("v2", chain(KEY, "id"))),
    valid("with one caveat", "Normal", as("v2", ROOT)),
    valid("five caveats", "Normal", as("v2", chain(KEY, "id", ["1", "2", "3", "4", "5"]))),
    valid("with a location", "Normal", as("v2", located(ROOT, "http://a/"))),
    valid(
      "a location beyond ASCII",
      "Unicode",
      as("v2", located(ROOT, "\u043c\u0456\u0441\u0446\u0435 \u{1f600}")),
    ),
    valid("an empty identifier", "Lenient", as("v2", chain(KEY, ""))),
    valid("an empty caveat", "Lenient", as("v2", chain(KEY, "id", [""]))),
    valid(
      "an identifier that is not UTF-8",
      "Lenient",
      as("v2", chain(KEY, Uint8Array.of(0xff, 0, 0x80))),
    ),
    valid(
      "a caveat that is not UTF-8",
      "Lenient",
      as("v2", chain(KEY, "id", [Uint8Array.of(0xc3)])),
    ),
    valid(
      "a caveat of 127 bytes, the longest with a one-byte length",
      "Normal",
      as("v2", chain(KEY, "id", ["x".repeat(127)])),
    ),
    valid(
      "a caveat of 128 bytes, the shortest with a two-byte length",
      "Normal",
      as("v2", chain(KEY, "id", ["x".repeat(128)])),
    ),
    valid("a third-party caveat and its discharge", "Discharge", as("v2", WITH_THIRD, DISCHARGE)),
    valid("a third-party caveat without a location", "Discharge", as("v2", ...pair())),
    valid(
      "caveats are hashed as received, whatever they look like",
      ["ReencodingBug", "Normal"],
      as("v2", chain(KEY, "id", ['{ "b":1,"a":1.0 }', '{"a":1,"a":2}'])),
    ),
    ...cuts.map((length) =>
      invalid(
        `cut after ${length} bytes of ${WHOLE.length}`,
        "Truncated",
        binary(WHOLE.slice(0, length)),
        "truncated",
      ),
    ),
    invalid(
      "a length that points one past the end",
      ["Truncated", "StrictV2"],
      binary(concat(v2([ID], [[CAVEAT]], ""), SIGNATURE, 32, ROOT.signature.slice(1))),
      "truncated",
    ),
    invalid(
      "a caveat's length that points past the end",
      ["Truncated", "StrictV2"],
      binary(concat(2, ID, 0, IDENTIFIER, leb128(100), "abc")),
      "truncated",
    ),
    invalid(
      "a length of two bytes where one is enough",
      ["StrictV2", "NpmMacaroonBug", "PymacaroonsBug"],
      sections([concat(IDENTIFIER, 0x82, 0, "id")], [CAVEAT]),
      "varint_overlong",
    ),
    invalid(
      "a length of four bytes where one is enough",
      ["StrictV2", "NpmMacaroonBug", "PymacaroonsBug"],
      sections([ID], [concat(IDENTIFIER, 0x88, 0x80, 0x80, 0, "a caveat")]),
      "varint_overlong",
    ),
    invalid(
      "a length of zero in two bytes",
      "StrictV2",
      sections([ID], [concat(IDENTIFIER, 0x80, 0)]),
      "varint_overlong",
    ),
    invalid(
      "a field type of two bytes where one is enough",
      ["StrictV2", "PymacaroonsBug"],
      sections([concat(0x82, 0, 2, "id")], [CAVEAT]),
      "varint_overlong",
    ),
    invalid(
      "a signature's length of two bytes where one is enough",
      ["StrictV2", "PymacaroonsBug", "NpmMacaroonBug"],
      sections([ID], [CAVEAT], concat(SIGNATURE, 0xa0, 0, ROOT.signature)),
      "varint_overlong",
    ),
    invalid(
      "a length of 2^32 + 2, which 32-bit arithmetic takes for 2",
      ["StrictV2", "NpmMacaroonBug"],
      sections([concat(IDENTIFIER, 0x82, 0x80, 0x80, 0x80, 0x10, "id")], [CAVEAT]),
      "varint_range",
    ),
    invalid(
      "a length of 2^28, one more than 28 bits hold",
      "StrictV2",
      sections([concat(IDENTIFIER, leb128(2 ** 28), "id")], [CAVEAT]),
      "varint_range",
    ),
    invalid(
      "a length of 2^64 + 2",
      "StrictV2",
      sections([concat(IDENTIFIER, 0x82, ...new Array<number>(8).fill(0x80), 2, "id")], [CAVEAT]),
      "varint_range",
    ),
    invalid(
      "a length that goes on for 6,000 bytes",
      "StrictV2",
      binary(concat(2, IDENTIFIER, new Uint8Array(6000).fill(0xff))),
      "varint_range",
    ),
    valid(
      "an empty location reads as none",
      "Lenient",
      binary(v2([field(LOCATION, ""), ID], [[CAVEAT]], SIG), ROOT),
    ),
    valid(
      "an empty location of a third-party caveat reads as none",
      ["Lenient", "Discharge"],
      binary(
        concat(
          v2(
            [ID],
            [[field(LOCATION, ""), CID, field(VID, vid)]],
            field(SIGNATURE, WITH_THIRD.signature),
          ),
          writeV2(DISCHARGE),
        ),
        WITH_THIRD,
        DISCHARGE,
      ),
    ),
  ],
};
