import { concatBytes } from "@noble/hashes/utils.js";
import { encodeBase64url } from "../bytes/base64.js";
import { assertArray } from "../checks/kinds.js";
import { writeBinaryV1 } from "./binary-v1.js";
import { writeBinaryV2 } from "./binary-v2.js";
import { writeJsonV1 } from "./json-v1.js";
import { writeJsonV2 } from "./json-v2.js";
import { assertMacaroon, type Macaroon } from "./macaroon.js";
import type { MacaroonFormat } from "./read.js";

/**
 * Writes a macaroon, and its discharges if there are any, as one string.
 *
 * @throws TypeError if an argument is wrong, or `format` cannot represent a macaroon (v1: fields over 65 kB; v1json:
 *   bytes that are not UTF-8).
 */
export function writeMacaroons(
  macaroons: readonly [Macaroon, ...Macaroon[]],
  format: MacaroonFormat,
): string {
  assertArray(macaroons, "macaroons", "macaroons");
  if (macaroons.length === 0) throw new TypeError("macaroons must have at least one macaroon");
  for (const [at, one] of macaroons.entries()) assertMacaroon(one, `macaroons[${at}]`);
  switch (format) {
    case "v1":
    case "v2":
      return encodeBase64url(concatBytes(...macaroons.map((one) => macaroonToBytes(one, format))));
    case "v1json":
    case "v2json": {
      const values = macaroons.map(format === "v1json" ? writeJsonV1 : writeJsonV2);
      return JSON.stringify(values.length === 1 ? values[0] : values);
    }
    default:
      throw new TypeError(`format must be v1, v2, v1json or v2json, not ${String(format)}`);
  }
}

/**
 * Returns a macaroon as base64url of its v2 binary form, the preferred format.
 *
 * @example
 * ```ts
 * import { macaroonToText, parseMacaroon } from "proviso/macaroon";
 *
 * const text = "AgIBYQAABiDy1zQRnrm14nj2Sbcnq5xpVI7Hw9j8NPgiov7aWHLqzA";
 * macaroonToText(parseMacaroon(text)) === text; // => true
 * ```
 */
export function macaroonToText(macaroon: Macaroon): string {
  assertMacaroon(macaroon, "macaroon");
  return writeMacaroons([macaroon], "v2");
}

/**
 * Returns a macaroon in a binary format.
 *
 * @throws TypeError if an argument is wrong, or a field is too long for v1.
 */
export function macaroonToBytes(macaroon: Macaroon, format: "v1" | "v2"): Uint8Array {
  assertMacaroon(macaroon, "macaroon");
  if (format === "v2") return writeBinaryV2(macaroon);
  if (format === "v1") return writeBinaryV1(macaroon);
  throw new TypeError(`format must be v1 or v2, not ${String(format)}`);
}
