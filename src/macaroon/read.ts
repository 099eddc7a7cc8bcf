import { readBase64 } from "../bytes/base64.js";
import { Cursor } from "../bytes/cursor.js";
import { duplicateKey, isJsonObject, type Json, outlineJson, quotedName } from "../bytes/json.js";
import { TokenError } from "../bytes/token-error.js";
import { assertString, notA } from "../checks/kinds.js";
import { isLowerHex, readBinaryV1, startsBinaryV1 } from "./binary-v1.js";
import { readBinaryV2, V2_VERSION } from "./binary-v2.js";
import { readJsonV1 } from "./json-v1.js";
import { readJsonV2 } from "./json-v2.js";
import {
  completeLimits,
  MACAROON_LIMITS,
  type MacaroonLimits,
  tooLarge,
  tooManyDischarges,
} from "./limits.js";
import type { Macaroon } from "./macaroon.js";
import { overLimits } from "./over-limits.js";
import { refuseJwt, unwrapped, wrapperOf } from "./wrapped.js";

/** The four formats: v1 and v2 are binary and are sent as base64url; v1json and v2json are JSON. */
export type MacaroonFormat = "v1" | "v2" | "v1json" | "v2json";

// Maximum number of characters of a token for each byte of its v2 binary form. Only JSON that consists mostly of escape
// sequences could have more. Longer strings are refused without parsing.
const TEXT_PER_BYTE = 4;
const MAX_JSON_DEPTH = 4;
const JSON_START = /^[ \t\n\r]*[{[]/;
// Either property shows that a JSON object is v1. A missing version does not show it, because some writers omit the
// version of a v2 object.
const V1_MEMBERS = ["identifier", "signature"];

// If the decoded bytes have a fault with one of these codes, that fault is reported instead of the fault at the end of
// the base64 string.
const MORE_TELLING: readonly string[] = ["truncated", "format_unknown", "format_not_v2"];

/** One or more macaroons, and the format in which they came. */
export interface MacaroonText {
  readonly format: MacaroonFormat;
  /** The macaroon, then its discharges; never empty. */
  readonly macaroons: readonly [Macaroon, ...Macaroon[]];
}

/**
 * Reads a macaroon, possibly followed by its discharges, in any of the four formats. v1 and v2 binary are read as
 * base64 in either alphabet, padded or not; discharges follow in the same string. v1 and v2 JSON are read as an
 * object, or as an array of a macaroon and its discharges. Also reads a macaroon in hexadecimal (as printed by lnd),
 * with the prefix of PyPI, or in an L402 credential.
 *
 * @throws TokenError if `text` is not well-formed or exceeds a limit.
 * @throws TypeError if `text` is not a string.
 *
 * @example
 * ```ts
 * import { readMacaroons } from "proviso/macaroon";
 *
 * const text = '{"v":2,"i":"a","c":[],"s64":"8tc0EZ65teJ49km3J6ucaVSOx8PY_DT4IqL-2lhy6sw"}';
 * const { format, macaroons } = readMacaroons(text);
 * [format, macaroons.length]; // => ["v2json", 1]
 * ```
 */
export function readMacaroons(text: string, given?: Partial<MacaroonLimits>): MacaroonText {
  const limits = completeLimits(MACAROON_LIMITS, given);
  assertText(text);
  assertLength(text, limits);
  const result = JSON_START.test(text)
    ? readJson(text, limits)
    : readBase64Text(unwrapped(text), limits);
  const over = overLimits(result.macaroons, limits);
  if (over !== undefined) throw over;
  return result;
}

/**
 * Reads the only form in which a capability is presented: base64 of one or more v2 binary macaroons, root first;
 * either alphabet, padded or not.
 *
 * @param limits - Limits with every property set.
 * @returns The macaroon, then its discharges.
 * @throws TokenError if `text` is not well-formed, exceeds a limit, or is in another format (`format_not_v2`).
 */
export function readV2Text(text: string, limits: MacaroonLimits): MacaroonText["macaroons"] {
  assertText(text);
  assertLength(text, limits);
  const wrapper = JSON_START.test(text) ? "JSON" : wrapperOf(text);
  if (wrapper !== undefined) throw otherForm(wrapper);
  const { macaroons } = readBase64Text(text, limits, true);
  const over = overLimits(macaroons, limits);
  if (over !== undefined) throw over;
  return macaroons;
}

/** Returns the maximum number of characters of a token in any format. Longer strings are refused without parsing. */
export function maxCharacters(limits: MacaroonLimits): number {
  return limits.bytes * TEXT_PER_BYTE;
}

function assertText(text: string): void {
  assertString(text, "text");
  if (text === "") throw new TokenError("empty", "the token is empty", 0);
}

/** @throws TokenError `too_large` if the text is longer than any token within the limits. */
function assertLength(text: string, limits: MacaroonLimits): void {
  if (text.length <= maxCharacters(limits)) return;
  const message = `the text has ${text.length} characters, more than a token of ${limits.bytes} bytes can have`;
  throw new TokenError("too_large", message);
}

function otherForm(form: string): TokenError {
  const message =
    `a capability is presented as base64url of v2 binary, and this is ${form}; ` +
    "convert it: proviso convert --to v2, or writeMacaroons of proviso/macaroon";
  return new TokenError("format_not_v2", message, 0);
}

/**
 * Reads exactly one macaroon, in any of the four formats.
 *
 * @throws TokenError as {@link readMacaroons} does, and `trailing_bytes` if discharges follow.
 */
export function parseMacaroon(text: string, limits?: Partial<MacaroonLimits>): Macaroon {
  const { macaroons } = readMacaroons(text, limits);
  if (macaroons.length > 1) {
    throw new TokenError("trailing_bytes", "more than one macaroon; use readMacaroons");
  }
  return macaroons[0];
}

/**
 * Reads one or more v1 or v2 binary macaroons, one after another.
 *
 * @throws TokenError if the macaroons are not well-formed or exceed a limit.
 */
export function macaroonsFromBytes(
  bytes: Uint8Array,
  given?: Partial<MacaroonLimits>,
): MacaroonText {
  if (!(bytes instanceof Uint8Array)) throw notA("bytes", "a Uint8Array", bytes);
  const limits = completeLimits(MACAROON_LIMITS, given);
  if (bytes.length > maxCharacters(limits)) throw tooLarge(bytes.length, limits.bytes);
  // Copy the bytes, since slices of a Node Buffer would share the caller's memory.
  const result = readBinary(new Uint8Array(bytes), limits);
  const over = overLimits(result.macaroons, limits);
  if (over !== undefined) throw over;
  return result;
}

function readBinary(bytes: Uint8Array, limits: MacaroonLimits, onlyV2 = false): MacaroonText {
  const cursor = new Cursor(bytes);
  const first = cursor.peek();
  if (first === undefined) throw new TokenError("empty", "the token is empty", 0);
  const isV2 = first === V2_VERSION;
  if (!isV2 && !isLowerHex(first)) {
    const message = "this is neither a v1 nor a v2 macaroon (at 0); a v2 token starts with Ag";
    throw new TokenError("format_unknown", message, 0);
  }
  if (onlyV2 && !isV2) throw otherForm("v1");
  const read = isV2 ? readBinaryV2 : readBinaryV1;
  const macaroons: [Macaroon, ...Macaroon[]] = [read(cursor, limits)];
  while (!cursor.done) {
    const next = cursor.peek();
    // Discharges have the format of the first macaroon; anything else after a complete token is refused.
    if (isV2 ? next !== V2_VERSION : !startsBinaryV1(cursor)) {
      const message = `bytes follow the end of the macaroon (at ${cursor.offset})`;
      throw new TokenError("trailing_bytes", message, cursor.offset);
    }
    if (macaroons.length > limits.discharges) throw tooManyDischarges(limits.discharges);
    macaroons.push(read(cursor, limits));
  }
  return { format: isV2 ? "v2" : "v1", macaroons };
}

function readBase64Text(text: string, limits: MacaroonLimits, onlyV2 = false): MacaroonText {
  refuseJwt(text);
  const { bytes, tail } = readBase64(text);
  if (tail === undefined) return readBinary(bytes, limits, onlyV2);
  try {
    readBinary(bytes, limits, onlyV2);
  } catch (error) {
    if (error instanceof TokenError && MORE_TELLING.includes(error.code)) throw error;
  }
  throw tail;
}

function readJson(text: string, limits: MacaroonLimits): MacaroonText {
  const outline = outlineJson(text);
  if (outline.open) {
    throw new TokenError(
      "truncated",
      `the JSON text ends too early (at ${text.length})`,
      text.length,
    );
  }
  if (outline.depth > MAX_JSON_DEPTH) {
    throw new TokenError("too_deep", `the JSON is nested more than ${MAX_JSON_DEPTH} deep`);
  }
  let value: Json;
  try {
    value = JSON.parse(text);
  } catch {
    throw new TokenError("json_syntax", "the text starts like JSON but is not");
  }
  const duplicate = duplicateKey(text);
  if (duplicate !== undefined) {
    const message = `${quotedName(duplicate.key)} is given twice (at ${duplicate.offset})`;
    throw new TokenError("json_duplicate_key", message, duplicate.offset);
  }
  const list: readonly Json[] = Array.isArray(value) ? value : [value];
  const [first, ...rest] = list;
  if (first === undefined) throw new TokenError("empty", "the array holds no macaroon");
  if (rest.length > limits.discharges) throw tooManyDischarges(limits.discharges);
  const isV2 = !V1_MEMBERS.some((name) => isJsonObject(first) && Object.hasOwn(first, name));
  const read = isV2 ? readJsonV2 : readJsonV1;
  return {
    format: isV2 ? "v2json" : "v1json",
    macaroons: [read(first, limits), ...rest.map((item) => read(item, limits))],
  };
}
