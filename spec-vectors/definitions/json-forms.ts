import { base64, base64url, hex } from "../build/bytes.js";
import { chain, located } from "../build/chain.js";
import { jsonV1, jsonV2 } from "../build/forms.js";
import {
  BARE,
  BYTES,
  DISCHARGE,
  nested,
  ROOT,
  V1,
  V2,
  vid,
  WHOLE,
  WITH_THIRD,
} from "./json-parts.js";
import { as, invalid, json, KEY, type MacaroonSubject, text, valid } from "./macaroon-test.js";

export const jsonForms: MacaroonSubject = {
  subject: "JSON forms",
  comment: "Section 3: members, encodings and syntax of the two JSON forms",
  tests: [
    valid("v2 JSON with one caveat", "Normal", as("v2json", ROOT)),
    valid("v2 JSON with a location", "Normal", as("v2json", located(ROOT, "http://a/"))),
    valid("v2 JSON without c", "Lenient", json({ ...jsonV2(BARE), c: undefined }, BARE)),
    valid("v2 JSON with an empty c", "Normal", json(jsonV2(BARE), BARE)),
    valid("v2 JSON with bytes that are not text", "Normal", as("v2json", BYTES)),
    valid(
      "v2 JSON with text in base64",
      "Lenient",
      json({ ...V2, i: undefined, i64: base64url("id") }, ROOT),
    ),
    valid(
      "v2 JSON with padded standard base64",
      "Lenient",
      json({ ...V2, s64: base64(ROOT.signature) }, ROOT),
    ),
    valid("v2 JSON with an empty location", "Lenient", json({ ...V2, l: "" }, ROOT)),
    valid(
      "v2 JSON with members in another order",
      "Lenient",
      json(Object.fromEntries(Object.entries(V2).reverse()), ROOT),
    ),
    valid(
      "v2 JSON with white space between and around",
      "Lenient",
      text(`\n\t ${JSON.stringify(V2, null, 2)} \r\n`, ROOT),
    ),
    valid(
      "v2 JSON with escapes in names and values",
      "Lenient",
      text(WHOLE.replace('"i":"id"', '"\\u0069":"\\u0069\\u0064"'), ROOT),
    ),
    valid(
      "v2 JSON with text beyond ASCII",
      ["Normal", "Unicode"],
      as("v2json", chain(KEY, "\u043a\u043b\u044e\u0447", ["\u{1f511}"])),
    ),
    valid(
      "v2 JSON with an escaped surrogate pair",
      ["Lenient", "Unicode"],
      text(
        JSON.stringify(jsonV2(chain(KEY, "key")))
          .replace('"key"', '"\\ud83d\\ude00"')
          .replace(
            base64url(chain(KEY, "key").signature),
            base64url(chain(KEY, "\u{1f600}").signature),
          ),
        chain(KEY, "\u{1f600}"),
      ),
    ),
    valid("an array of one macaroon", "Lenient", json([V2], ROOT)),
    valid("v2 JSON with a discharge", "Discharge", as("v2json", WITH_THIRD, DISCHARGE)),
    valid(
      "v2 JSON without a version, as Go and pymacaroons write it",
      "Lenient",
      json({ ...V2, v: undefined }, ROOT),
    ),
    valid("the version written 2.0", "Lenient", text(WHOLE.replace('"v":2', '"v":2.0'), ROOT)),
    valid("the version written 0.2e1", "Lenient", text(WHOLE.replace('"v":2', '"v":0.2e1'), ROOT)),
    valid(
      "an empty location of a third-party caveat reads as none",
      ["Lenient", "Discharge"],
      json(
        [
          { ...jsonV2(WITH_THIRD), c: [{ i: "ask", v64: base64url(vid), l: "" }] },
          jsonV2(DISCHARGE),
        ],
        WITH_THIRD,
        DISCHARGE,
      ),
    ),
    valid("v1 JSON with one caveat", "Normal", as("v1json", ROOT)),
    valid("v1 JSON with a location", "Normal", as("v1json", located(ROOT, "http://a/"))),
    valid("v1 JSON without location", "Lenient", json({ ...V1, location: undefined }, ROOT)),
    valid(
      "v1 JSON without caveats",
      "Lenient",
      json({ ...jsonV1(BARE), caveats: undefined }, BARE),
    ),
    valid(
      "v1 JSON with a signature in upper case",
      "Lenient",
      json({ ...V1, signature: hex(ROOT.signature).toUpperCase() }, ROOT),
    ),
    valid("v1 JSON with a discharge", "Discharge", as("v1json", WITH_THIRD, DISCHARGE)),
    valid(
      "v1 JSON whose vid is padded standard base64",
      ["Lenient", "Discharge"],
      json(
        [{ ...jsonV1(WITH_THIRD), caveats: [{ cid: "ask", vid: base64(vid) }] }, jsonV1(DISCHARGE)],
        WITH_THIRD,
        DISCHARGE,
      ),
    ),
    invalid("cut inside an object", "Truncated", text(WHOLE.slice(0, -1)), "truncated"),
    invalid("cut inside a string", "Truncated", text(WHOLE.slice(0, -10)), "truncated"),
    invalid(
      "cut inside an array",
      "Truncated",
      text(WHOLE.slice(0, WHOLE.indexOf("]"))),
      "truncated",
    ),
    invalid("only an opening brace", "Truncated", text("{"), "truncated"),
    invalid("a trailing comma", "StrictJson", text(WHOLE.replace("}]", ",}]")), "json_syntax"),
    invalid("text after the object", "StrictJson", text(`${WHOLE} x`), "json_syntax"),
    invalid("a second object after the first", "StrictJson", text(WHOLE + WHOLE), "json_syntax"),
    invalid("single quotes", "StrictJson", text("{'v':2}"), "json_syntax"),
    invalid("a comment", "StrictJson", text(WHOLE.replace("{", "{/* v2 */")), "json_syntax"),
    invalid(
      "a raw newline inside a string",
      "StrictJson",
      text(WHOLE.replace("a caveat", "a\ncaveat")),
      "json_syntax",
    ),
    invalid(
      "a number with a leading zero",
      "StrictJson",
      text(WHOLE.replace('"v":2', '"v":02')),
      "json_syntax",
    ),
    invalid(
      "NaN as the version",
      ["StrictJson", "PymacaroonsBug"],
      text(WHOLE.replace('"v":2', '"v":NaN')),
      "json_syntax",
    ),
    invalid(
      "an unknown escape",
      "StrictJson",
      text(WHOLE.replace('"id"', '"i\\d"')),
      "json_syntax",
    ),
    invalid("five arrays inside one another", ["StrictJson", "Limit"], text(nested(5)), "too_deep"),
    invalid(
      "10,000 arrays inside one another",
      ["StrictJson", "Limit"],
      text(nested(10_000)),
      "too_deep",
    ),
  ],
};
