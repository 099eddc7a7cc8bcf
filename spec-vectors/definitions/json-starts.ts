import { base64url } from "../build/bytes.js";
import { jsonV1, jsonV2 } from "../build/forms.js";
import { BARE, DISCHARGE, ROOT, V1, V2, WHOLE, WITH_THIRD } from "./json-parts.js";
import {
  invalid,
  json,
  type MacaroonSubject,
  type MacaroonTest,
  text,
  valid,
} from "./macaroon-test.js";
import type { Flag } from "./notes.js";

/**
 * Defines a test of a JSON text after a character that is not JSON white space. A reader takes the text for
 * invalid base64.
 */
function before(comment: string, character: string, more: readonly Flag[] = []): MacaroonTest {
  const code = /[\v\f]/.test(character) ? "base64_whitespace" : "base64_character";
  return invalid(
    `${comment} before the brace`,
    ["StrictJson", ...more],
    text(character + WHOLE),
    code,
  );
}

function within(comment: string, written: string, more: readonly Flag[] = []): MacaroonTest {
  return invalid(comment, ["StrictJson", ...more], text(written), "json_syntax");
}

/** Defines a test of an array in which some objects have another version than the first. */
function mixed(comment: string, ...objects: readonly object[]): MacaroonTest {
  return invalid(comment, ["StrictJson", "Discharge"], json(objects), "json_unknown_key");
}

export const jsonStarts: MacaroonSubject = {
  subject: "what a JSON text is",
  comment: "Section 3: white space around JSON, and arrays that mix the two versions",
  tests: [
    valid(
      "every kind of JSON white space before the brace",
      "Lenient",
      text(`\r\n\t ${WHOLE}`, ROOT),
    ),
    valid(
      "every kind of JSON white space before the bracket",
      "Lenient",
      text(` \t\n\r[${WHOLE}]`, ROOT),
    ),
    before("a byte order mark", "\ufeff", ["Unicode"]),
    invalid(
      "a byte order mark before the bracket",
      ["StrictJson", "Unicode"],
      text(`\ufeff[${WHOLE}]`),
      "base64_character",
    ),
    invalid(
      "a byte order mark behind a space",
      ["StrictJson", "Unicode"],
      text(` \ufeff${WHOLE}`),
      "base64_whitespace",
    ),
    before("a form feed", "\f"),
    before("a vertical tab", "\v"),
    before("a no-break space", "\u00a0", ["Unicode"]),
    before("a next line", "\u0085", ["Unicode"]),
    before("an em space", "\u2003", ["Unicode"]),
    before("a line separator", "\u2028", ["Unicode"]),
    before("a paragraph separator", "\u2029", ["Unicode"]),
    before("an ideographic space", "\u3000", ["Unicode"]),
    before("a zero width space", "\u200b", ["Unicode"]),
    before("a null character", "\0"),
    within("a byte order mark behind the object", `${WHOLE}\ufeff`, ["Unicode"]),
    within("a no-break space behind the object", `${WHOLE}\u00a0`, ["Unicode"]),
    within("a form feed behind the object", `${WHOLE}\f`),
    within("a null character behind the object", `${WHOLE}\0`),
    within("a no-break space between members", WHOLE.replace(",", ",\u00a0"), ["Unicode"]),
    within("an em space between members", WHOLE.replace(",", ",\u2003"), ["Unicode"]),
    within("a form feed between members", WHOLE.replace(",", ",\f")),
    within("a byte order mark behind the brace", WHOLE.replace("{", "{\ufeff"), ["Unicode"]),
    mixed("a v2 macaroon and its v1 discharge", jsonV2(WITH_THIRD), jsonV1(DISCHARGE)),
    mixed("a v1 macaroon and its v2 discharge", jsonV1(WITH_THIRD), jsonV2(DISCHARGE)),
    mixed("a v2 macaroon, and a v1 discharge that nothing needs", V2, jsonV1(BARE)),
    mixed("a v1 macaroon, and a v2 discharge that nothing needs", V1, jsonV2(BARE)),
    mixed("a v1 macaroon, and a v2 discharge without a version", jsonV1(WITH_THIRD), {
      ...jsonV2(DISCHARGE),
      v: undefined,
    }),
    mixed("a v2 macaroon with v1's caveats", {
      ...V2,
      c: undefined,
      caveats: [{ cid: "a caveat" }],
    }),
    mixed("a v1 macaroon with v2's caveats", { ...V1, caveats: undefined, c: [{ i: "a caveat" }] }),
    mixed("a v2 macaroon with v1's identifier", { ...V2, i: undefined, identifier: "id" }),
    mixed("a v1 macaroon with v2's signature", {
      ...V1,
      signature: undefined,
      s64: base64url(ROOT.signature),
    }),
  ],
};
