import { concat } from "../build/bytes.js";
import { chain, tampered, third } from "../build/chain.js";
import {
  field,
  IDENTIFIER,
  jsonV1,
  jsonV2,
  packet,
  SIGNATURE,
  v2,
  writeV2,
} from "../build/forms.js";
import { BIG, caveats, discharged, LONGEST_ID, withDischarge } from "./limit-parts.js";
import {
  as,
  binary,
  invalid,
  json,
  KEY,
  type MacaroonSubject,
  type MacaroonTest,
  type Presented,
  valid,
} from "./macaroon-test.js";

const LONG = `${LONGEST_ID}i`;
const ROOT = chain(KEY, LONG, ["a caveat"]);
const SIGNED = field(SIGNATURE, ROOT.signature);
const HEAD = field(IDENTIFIER, LONG);
const V1_HEAD = concat(packet("location", ""), packet("identifier", LONG));

/** Defines a test of an identifier that is too long. The token also has a later fault, which must not be reported. */
function over(comment: string, token: Presented): MacaroonTest {
  return invalid(
    `an identifier of 2,049 bytes, and ${comment}`,
    "Limit",
    token,
    "caveat_too_large",
  );
}

function cut(comment: string, token: Presented): MacaroonTest {
  return invalid(comment, ["Limit", "Truncated"], token, "truncated");
}

export const identifierLimits: MacaroonSubject = {
  subject: "limits of an identifier",
  comment: "Section 4: an identifier is measured when it has been read, before all that follows it",
  tests: [
    invalid("2,049 bytes in the v1 form", "Limit", as("v1", ROOT), "caveat_too_large"),
    invalid("2,049 bytes in v2 JSON", "Limit", as("v2json", ROOT), "caveat_too_large"),
    invalid("2,049 bytes in v1 JSON", "Limit", as("v1json", ROOT), "caveat_too_large"),
    valid("2,048 bytes in the v1 form", "Limit", as("v1", chain(KEY, LONGEST_ID))),
    valid("2,048 bytes in v2 JSON", "Limit", as("v2json", chain(KEY, LONGEST_ID))),
    valid("2,048 bytes in v1 JSON", "Limit", as("v1json", chain(KEY, LONGEST_ID))),
    valid(
      "2,048 bytes in 1,024 characters",
      ["Limit", "Unicode"],
      as("v2", chain(KEY, "\u00e9".repeat(1024))),
    ),
    invalid(
      "2,050 bytes in 1,025 characters",
      ["Limit", "Unicode"],
      as("v2json", chain(KEY, "\u00e9".repeat(1025))),
      "caveat_too_large",
    ),
    valid(
      "the longest identifier with the longest discharge's identifier",
      ["Limit", "Discharge"],
      as("v2", ...discharged(third(LONGEST_ID), LONGEST_ID)),
    ),
    invalid(
      "2,049 bytes of a discharge's identifier, v2 JSON",
      ["Limit", "Discharge"],
      as("v2json", ...discharged(third(LONG))),
      "caveat_too_large",
    ),
    invalid(
      "a third-party caveat of 8,192 bytes can be read, and not discharged",
      ["Limit", "Discharge"],
      as("v2", chain(KEY, "id", [third(BIG)])),
      "discharge_missing",
    ),
    invalid(
      "a third-party caveat of 8,193 bytes",
      ["Limit", "Discharge"],
      as("v2", chain(KEY, "id", [third(`${BIG}x`)])),
      "caveat_too_large",
    ),
    over("a wrong signature", as("v2", tampered(ROOT, { caveats: [] }))),
    over("33 caveats", as("v2", chain(KEY, LONG, caveats(33)))),
    over("more than 10,240 bytes", as("v2", chain(KEY, LONG, [BIG]))),
    over("a caveat of 8,193 bytes", as("v2", chain(KEY, LONG, [`${BIG}x`]))),
    over("a caveat nested too deep", as("v2", chain(KEY, LONG, ["{[[[[[[["]))),
    over("an unknown field in a caveat", binary(v2([HEAD], [[field(9, "x")]], SIGNED))),
    over("a caveat without identifier", binary(v2([HEAD], [[]], SIGNED))),
    over("no signature", binary(v2([HEAD], [], field(9, "x")))),
    over("a signature of 31 bytes", binary(v2([HEAD], [], field(SIGNATURE, "s".repeat(31))))),
    over("bytes behind the macaroon", binary(concat(writeV2(ROOT), 0))),
    over("nothing behind its section", binary(concat(2, HEAD, 0))),
    over("an unknown packet", binary(concat(V1_HEAD, packet("x", "")))),
    over("a packet without a newline", binary(concat(V1_HEAD, "0009cid x"))),
    over("nothing behind its packet", binary(V1_HEAD)),
    over("a caveat that is no object, v2 JSON", json({ ...jsonV2(ROOT), c: [1] })),
    over("a caveat without cid, v1 JSON", json({ ...jsonV1(ROOT), caveats: [{}] })),
    over("a discharge that is no object, v2 JSON", json([jsonV2(ROOT), 1])),
    over("a discharge with an unknown member, v1 JSON", json([jsonV1(ROOT), { x: 1 }])),
    cut("cut inside an identifier of 2,049 bytes", binary(concat(2, HEAD.slice(0, -1)))),
    cut("cut behind an identifier of 2,049 bytes, in its section", binary(concat(2, HEAD))),
    cut("cut inside the packet of an identifier of 2,049 bytes", binary(V1_HEAD.slice(0, -1))),
    cut("cut inside a caveat of 8,193 bytes", cutCaveat()),
    invalid(
      "a caveat of 8,193 bytes, and no signature",
      "Limit",
      binary(v2([field(IDENTIFIER, "id")], [[field(IDENTIFIER, `${BIG}x`)]], field(9, "x"))),
      "caveat_too_large",
    ),
    invalid(
      "a signature of 31 bytes, and 2,049 bytes of a discharge's identifier",
      "Limit",
      binary(
        concat(
          v2([field(IDENTIFIER, "id")], [], field(SIGNATURE, "s".repeat(31))),
          v2([HEAD], [], SIGNED),
        ),
      ),
      "signature_length",
    ),
    invalid(
      "33 caveats in a discharge whose identifier has 2,048 bytes",
      ["Limit", "Discharge"],
      as("v2", ...withDischarge(caveats(33), third(LONGEST_ID))),
      "too_many_caveats",
    ),
  ],
};

function cutCaveat(): Presented {
  const whole = v2([field(IDENTIFIER, "id")], [[field(IDENTIFIER, `${BIG}x`)]], "");
  return binary(whole.slice(0, -3));
}
