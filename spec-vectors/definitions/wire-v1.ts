import { concat } from "../build/bytes.js";
import { chain, located } from "../build/chain.js";
import { packet, writeV1 } from "../build/forms.js";
import { as, binary, invalid, KEY, type MacaroonSubject, valid } from "./macaroon-test.js";
import {
  ASK_CID,
  ASK_VID,
  CAVEAT,
  cuts,
  DISCHARGE,
  header,
  ID,
  LOC,
  packets,
  ROOT,
  SIG,
  THIRD_SIG,
  WHOLE,
  WITH_THIRD,
} from "./wire-v1-parts.js";

export const wireV1: MacaroonSubject = {
  subject: "v1 binary form",
  comment: "Section 3: packets of the v1 binary form",
  tests: [
    valid("without a caveat", "Normal", as("v1", chain(KEY, "id"))),
    valid("with one caveat", "Normal", as("v1", ROOT)),
    valid("with a location", "Normal", as("v1", located(ROOT, "http://a/"))),
    valid(
      "lengths count bytes, not characters",
      ["Normal", "Unicode"],
      as(
        "v1",
        located(
          chain(KEY, "\u043a\u043b\u044e\u0447", ["\u{1f511}"]),
          "\u043c\u0456\u0441\u0446\u0435",
        ),
      ),
    ),
    valid("an empty identifier", "Lenient", as("v1", chain(KEY, ""))),
    valid("an empty caveat", "Lenient", as("v1", chain(KEY, "id", [""]))),
    valid("a caveat with spaces and newlines", "Normal", as("v1", chain(KEY, "id", [" a\nb \n"]))),
    valid(
      "a caveat that looks like a packet",
      "Normal",
      as("v1", chain(KEY, "id", ["0010identifier x\n"])),
    ),
    valid(
      "a caveat that is not UTF-8",
      ["Lenient", "GoMacaroonBug"],
      as("v1", chain(KEY, "id", [Uint8Array.of(0xff, 0xfe)])),
    ),
    valid("a caveat of 300 bytes", "Normal", as("v1", chain(KEY, "id", ["x".repeat(300)]))),
    valid("a third-party caveat and its discharge", "Discharge", as("v1", WITH_THIRD, DISCHARGE)),
    valid(
      "a third-party caveat without cl",
      ["Discharge", "Lenient"],
      binary(
        concat(LOC, ID, ASK_CID, ASK_VID, THIRD_SIG, writeV1(DISCHARGE)),
        WITH_THIRD,
        DISCHARGE,
      ),
    ),
    valid(
      "a third-party caveat with an empty cl",
      ["Discharge", "Lenient"],
      binary(
        concat(LOC, ID, ASK_CID, ASK_VID, packet("cl", ""), THIRD_SIG, writeV1(DISCHARGE)),
        WITH_THIRD,
        DISCHARGE,
      ),
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
      "no signature packet",
      ["Truncated", "LibmacaroonsBug"],
      packets(LOC, ID, CAVEAT),
      "truncated",
    ),
    invalid(
      "a length that points past the end",
      ["Truncated", "StrictV1"],
      packets(LOC, ID, header("ffff", CAVEAT), SIG),
      "truncated",
    ),
    invalid(
      "a length in upper case",
      "StrictV1",
      packets(LOC, ID, header("001A", packet("cid", "x".repeat(17))), SIG),
      "packet_header",
    ),
    invalid(
      "a length that is not hex",
      "StrictV1",
      packets(LOC, ID, header("001g", CAVEAT), SIG),
      "packet_header",
    ),
    invalid(
      "a length with a sign",
      ["StrictV1", "PymacaroonsBug"],
      packets(LOC, ID, header("+011", CAVEAT), SIG),
      "packet_header",
    ),
    invalid(
      "a length with 0x",
      ["StrictV1", "PymacaroonsBug"],
      packets(LOC, ID, header("0x11", CAVEAT), SIG),
      "packet_header",
    ),
    invalid(
      "a length padded with spaces",
      ["StrictV1", "PymacaroonsBug"],
      packets(LOC, ID, header("  11", CAVEAT), SIG),
      "packet_header",
    ),
    invalid(
      "a length of 0000",
      ["StrictV1", "LibmacaroonsBug"],
      packets(LOC, ID, "0000", SIG),
      "packet_header",
    ),
    invalid(
      "a length of 0004, a packet of nothing",
      "StrictV1",
      packets(LOC, ID, "0004", SIG),
      "packet_header",
    ),
    invalid("a length of 0006", "StrictV1", packets(LOC, ID, "0006 \n", SIG), "packet_header"),
    invalid(
      "a packet that ends in a space",
      ["StrictV1", "PymacaroonsBug"],
      packets(LOC, ID, concat(CAVEAT.slice(0, -1), " "), SIG),
      "packet_terminator",
    ),
    invalid(
      "a packet whose newline is one byte further",
      "StrictV1",
      packets(LOC, ID, header("0010", CAVEAT), SIG),
      "packet_terminator",
    ),
  ],
};
