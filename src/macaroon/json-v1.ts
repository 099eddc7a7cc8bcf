import { bytesToHex, hexToBytes } from "@noble/hashes/utils.js";
import { decodeBase64, encodeBase64url } from "../bytes/base64.js";
import type { Json } from "../bytes/json.js";
import { TokenError } from "../bytes/token-error.js";
import { decodeUtf8, encodeUtf8 } from "../bytes/utf8.js";
import { TAG_LENGTH } from "./hmac.js";
import { present, readArray, readObject, readText } from "./json-fields.js";
import { caveatFrom, signatureLength } from "./json-v2.js";
import { type MacaroonLimits, tooManyCaveats, withinIdentifier } from "./limits.js";
import { type Caveat, Macaroon, partsOf } from "./macaroon.js";

const MEMBERS = ["location", "identifier", "caveats", "signature"];
const CAVEAT_MEMBERS = ["cid", "vid", "cl"];

/** Reads one macaroon from its v1 JSON object, in which identifiers are strings. */
export function readJsonV1(value: Json, limits: MacaroonLimits): Macaroon {
  const object = readObject(value, MEMBERS, "the macaroon");
  const caveats = readArray(object, "caveats");
  if (caveats.length > limits.caveats) throw tooManyCaveats(limits.caveats);
  return new Macaroon({
    location: readText(object, "location") || undefined,
    identifier: withinIdentifier(
      encodeUtf8(present(readText(object, "identifier"), "identifier")),
      limits,
    ),
    caveats: caveats.map((caveat) => readCaveat(caveat, limits)),
    signature: readHex(present(readText(object, "signature"), "signature")),
  });
}

function readCaveat(value: Json, limits: MacaroonLimits): Caveat {
  const object = readObject(value, CAVEAT_MEMBERS, "a caveat");
  const identifier = encodeUtf8(present(readText(object, "cid"), "cid"));
  const vid = readText(object, "vid");
  const vidBytes = vid === undefined ? undefined : decodeBase64(vid);
  return caveatFrom(identifier, vidBytes, readText(object, "cl"), limits);
}

function readHex(text: string): Uint8Array {
  const at = text.search(/[^0-9a-fA-F]/);
  if (at >= 0) {
    throw new TokenError(
      "json_hex",
      `the signature has a character that is not hex (at ${at})`,
      at,
    );
  }
  if (text.length !== TAG_LENGTH * 2) throw signatureLength(text.length / 2);
  return hexToBytes(text);
}

/**
 * Returns a macaroon as its v1 JSON object.
 *
 * @throws TypeError if an identifier is not UTF-8: this format cannot encode other bytes.
 */
export function writeJsonV1(macaroon: Macaroon): Json {
  const { location, identifier, caveats, signature } = partsOf(macaroon);
  return {
    location: location ?? "",
    identifier: text(identifier, "the identifier"),
    caveats: caveats.map((caveat) => ({
      cid: text(caveat.identifier, "a caveat"),
      ...thirdPartyMembers(caveat),
    })),
    signature: bytesToHex(signature),
  };
}

function thirdPartyMembers(caveat: Caveat): { readonly [name: string]: string } {
  if (caveat.kind === "first-party") return {};
  const vid = encodeBase64url(caveat.verificationId);
  return caveat.location ? { vid, cl: caveat.location } : { vid };
}

function text(bytes: Uint8Array, what: string): string {
  const value = decodeUtf8(bytes);
  if (value === undefined) {
    throw new TypeError(
      `${what} is not UTF-8 text, so the v1 JSON form cannot carry it; use v2json`,
    );
  }
  return value;
}
