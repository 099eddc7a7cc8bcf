import { base64, base64url, bytes } from "../build/bytes.js";
import { type Built, chain } from "../build/chain.js";
import { type Form, writeV1, writeV2 } from "../build/forms.js";
import { invalid, KEY, type MacaroonSubject, text, valid } from "./macaroon-test.js";

/** Returns the first macaroon of a series for which `wanted` returns true. */
function search(form: Form, wanted: (url: string, bytes: Uint8Array) => boolean): Built {
  for (let i = 0; ; i++) {
    const built = chain(KEY, `id ${i}`);
    const data = form === "v1" ? writeV1(built) : writeV2(built);
    if (wanted(base64url(data), data)) return built;
  }
}

const PAD_2 = search("v2", (url, { length }) => length % 3 === 1 && /[-_]/.test(url));
const PAD_1 = chainOfLength(2);
const PAD_0 = chainOfLength(0);
const BOTH = search("v2", (url) => /-.*_/.test(url));
const PLAIN = search("v2", (url) => !/[-_]/.test(url));
const url = base64url(writeV2(PAD_2));
const TEXT = base64url(writeV2(PAD_1));
const ALL = base64url(writeV2(PAD_0));

function chainOfLength(rest: number): Built {
  const id = ["id", "id1", "id12"].find((one) => writeV2(chain(KEY, one)).length % 3 === rest);
  return chain(KEY, id ?? "");
}

/** Replaces the last character of a base64 text by the next character of the alphabet. */
function lastBit(given: string): string {
  const alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
  return given.slice(0, -1) + alphabet.charAt(alphabet.indexOf(given.slice(-1)) + 1);
}

export const base64Texts: MacaroonSubject = {
  subject: "base64",
  comment: "Section 3: the text of the binary forms",
  tests: [
    valid("the URL alphabet, unpadded", "Normal", text(url, PAD_2)),
    valid("the URL alphabet, padded", "Lenient", text(`${url}==`, PAD_2)),
    valid("the standard alphabet, padded", "Lenient", text(base64(writeV2(PAD_2)), PAD_2)),
    valid(
      "the standard alphabet, unpadded",
      "Lenient",
      text(base64(writeV2(PAD_2)).replace(/=+$/, ""), PAD_2),
    ),
    valid("one character of padding", "Lenient", text(`${TEXT}=`, PAD_1)),
    valid("a length that needs no padding", "Normal", text(ALL, PAD_0)),
    valid("characters that both alphabets have", "Normal", text(base64url(writeV2(PLAIN)), PLAIN)),
    valid("v1 in the standard alphabet, padded", "Lenient", text(base64(writeV1(PAD_2)), PAD_2)),
    invalid("an empty text", "StrictBase64", text(""), "empty"),
    invalid(
      "both alphabets in one text",
      ["StrictBase64", "NpmMacaroonBug", "PymacaroonsBug"],
      text(base64url(writeV2(BOTH)).replace("-", "+")),
      "base64_mixed",
    ),
    invalid(
      "the standard alphabet first, then the other",
      ["StrictBase64", "NpmMacaroonBug", "PymacaroonsBug"],
      text(base64(writeV2(BOTH)).replace("/", "_")),
      "base64_mixed",
    ),
    invalid("a newline at the end", "StrictBase64", text(`${url}\n`), "base64_whitespace"),
    invalid("a space at the start", "StrictBase64", text(` ${url}`), "base64_whitespace"),
    invalid(
      "a line break in the middle",
      "StrictBase64",
      text(`${url.slice(0, 32)}\r\n${url.slice(32)}`),
      "base64_whitespace",
    ),
    invalid(
      "a tab in the middle",
      "StrictBase64",
      text(`${url.slice(0, 32)}\t${url.slice(32)}`),
      "base64_whitespace",
    ),
    invalid("nothing but a space", "StrictBase64", text(" "), "base64_whitespace"),
    invalid(
      "a full stop, as in a JSON Web Token",
      "StrictBase64",
      text(url.replace(/^.{8}/, "$&.")),
      "base64_character",
    ),
    invalid(
      "a comma between two tokens",
      ["StrictBase64", "PymacaroonsBug"],
      text(`${url},${url}`),
      "base64_character",
    ),
    invalid(
      "a letter beyond ASCII",
      ["StrictBase64", "Unicode"],
      text(`${url.slice(0, -1)}\u00e9`),
      "base64_character",
    ),
    invalid(
      "a digit in full width",
      ["StrictBase64", "Unicode"],
      text(`${url.slice(0, -1)}\uff10`),
      "base64_character",
    ),
    invalid("a zero character", "StrictBase64", text(`${url}\0`), "base64_character"),
    invalid("percent encoding", "StrictBase64", text(`${url}%3D%3D`), "base64_character"),
    invalid(
      "one = where two are needed",
      ["StrictBase64", "PymacaroonsBug"],
      text(`${url}=`),
      "base64_padding",
    ),
    invalid(
      "two = where one is needed",
      ["StrictBase64", "PymacaroonsBug"],
      text(`${TEXT}==`),
      "base64_padding",
    ),
    invalid("three =", ["StrictBase64", "PymacaroonsBug"], text(`${url}===`), "base64_padding"),
    invalid(
      "= where none is needed",
      ["StrictBase64", "PymacaroonsBug"],
      text(`${ALL}=`),
      "base64_padding",
    ),
    invalid(
      "four = where none is needed",
      ["StrictBase64", "PymacaroonsBug"],
      text(`${ALL}====`),
      "base64_padding",
    ),
    invalid(
      "= in the middle",
      "StrictBase64",
      text(`${url.slice(0, 8)}=${url.slice(8)}`),
      "base64_padding",
    ),
    invalid(
      "two padded texts, one after the other",
      ["StrictBase64", "PymacaroonsBug"],
      text(`${TEXT}=${TEXT}=`),
      "base64_padding",
    ),
    invalid("nothing but padding", "StrictBase64", text("===="), "base64_padding"),
    invalid(
      "bits left over behind two padding characters' worth",
      ["StrictBase64", "NpmMacaroonBug", "PymacaroonsBug"],
      text(lastBit(url)),
      "base64_trailing_bits",
    ),
    invalid(
      "bits left over behind one padding character's worth",
      ["StrictBase64", "NpmMacaroonBug", "PymacaroonsBug"],
      text(lastBit(TEXT)),
      "base64_trailing_bits",
    ),
    invalid(
      "bits left over, padded",
      ["StrictBase64", "NpmMacaroonBug", "PymacaroonsBug"],
      text(`${lastBit(TEXT)}=`),
      "base64_trailing_bits",
    ),
    invalid(
      "a lone character after the last byte",
      ["StrictBase64", "Truncated"],
      text(`${ALL}A`),
      "truncated",
    ),
    invalid("a single character", ["StrictBase64", "Truncated"], text("A"), "truncated"),
    invalid("the last character cut off", "Truncated", text(ALL.slice(0, -1)), "truncated"),
    invalid(
      "cut in the middle, where bits are left over",
      "Truncated",
      text(cutWithBits(ALL)),
      "truncated",
    ),
    invalid("a vertical tab", "StrictBase64", text(`${url}\v`), "base64_whitespace"),
    invalid(
      "a no-break space",
      ["StrictBase64", "Unicode"],
      text(`${url}\u00a0`),
      "base64_character",
    ),
    invalid(
      "a byte order mark before it",
      ["StrictBase64", "Unicode", "PymacaroonsBug"],
      text(`\ufeff${url}`),
      "base64_character",
    ),
    invalid(
      "a line separator",
      ["StrictBase64", "Unicode", "PymacaroonsBug"],
      text(`${url}\u2028`),
      "base64_character",
    ),
  ],
};

/** Cuts a base64 text so that its last character has bits beyond the last byte. */
function cutWithBits(whole: string): string {
  for (let length = 30; ; length++) {
    const cut = whole.slice(0, length);
    const again = base64url(bytes(Buffer.from(cut, "base64url")));
    if (length % 4 > 1 && again !== cut) return cut;
  }
}
