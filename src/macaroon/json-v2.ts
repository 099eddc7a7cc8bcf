import { encodeBase64url } from "../bytes/base64.js";
import type { Json } from "../bytes/json.js";
import { TokenError } from "../bytes/token-error.js";
import { decodeUtf8 } from "../bytes/utf8.js";
import { firstPartyLocation, vidLength } from "./binary-v2.js";
import { TAG_LENGTH } from "./hmac.js";
import { present, readArray, readBytes, readObject, readText } from "./json-fields.js";
import { caveatTooLarge, type MacaroonLimits, tooManyCaveats, withinIdentifier } from "./limits.js";
import { type Caveat, Macaroon, partsOf } from "./macaroon.js";
import { VID_LENGTH } from "./third-party.js";

const MEMBERS = ["v", "l", "i", "i64", "c", "s", "s64"];
const CAVEAT_MEMBERS = ["l", "i", "i64", "v", "v64"];

/** Reads one macaroon from its v2 JSON object. */
export function readJsonV2(value: Json, limits: MacaroonLimits): Macaroon {
  const object = readObject(value, MEMBERS, "the macaroon");
  // The Go library and pymacaroons leave "v" out.
  if (Object.hasOwn(object, "v") && object["v"] !== 2)
    throw new TokenError("json_version", '"v" is not the number 2');
  const caveats = readArray(object, "c");
  if (caveats.length > limits.caveats) throw tooManyCaveats(limits.caveats);
  const signature = present(readBytes(object, "s"), "s64");
  if (signature.length !== TAG_LENGTH) throw signatureLength(signature.length);
  return new Macaroon({
    location: readText(object, "l") || undefined,
    identifier: withinIdentifier(present(readBytes(object, "i"), "i"), limits),
    caveats: caveats.map((caveat) => readCaveat(caveat, limits)),
    signature,
  });
}

function readCaveat(value: Json, limits: MacaroonLimits): Caveat {
  const object = readObject(value, CAVEAT_MEMBERS, "a caveat");
  const identifier = present(readBytes(object, "i"), "i");
  return caveatFrom(identifier, readBytes(object, "v"), readText(object, "l"), limits);
}

/** Makes a caveat from the properties that both JSON formats have. */
export function caveatFrom(
  identifier: Uint8Array,
  vid: Uint8Array | undefined,
  location: string | undefined,
  limits: MacaroonLimits,
): Caveat {
  if (identifier.length > limits.caveatBytes) {
    throw caveatTooLarge(identifier.length, limits.caveatBytes);
  }
  if (vid === undefined) {
    if (location !== undefined) throw firstPartyLocation();
    return { kind: "first-party", identifier };
  }
  if (vid.length !== VID_LENGTH) throw vidLength(vid.length);
  const caveat = { kind: "third-party", identifier, verificationId: vid } as const;
  return location ? { ...caveat, location } : caveat;
}

export function signatureLength(length: number): TokenError {
  const message = `the signature has ${length} bytes instead of ${TAG_LENGTH}`;
  return new TokenError("signature_length", message);
}

/** Returns a macaroon as its v2 JSON object. */
export function writeJsonV2(macaroon: Macaroon): Json {
  const { location, identifier, caveats, signature } = partsOf(macaroon);
  return {
    v: 2,
    ...(location ? { l: location } : {}),
    ...bytesMember("i", identifier),
    c: caveats.map((caveat) => ({
      ...bytesMember("i", caveat.identifier),
      ...thirdPartyMembers(caveat),
    })),
    s64: encodeBase64url(signature),
  };
}

function thirdPartyMembers(caveat: Caveat): { readonly [name: string]: string } {
  if (caveat.kind === "first-party") return {};
  const v64 = encodeBase64url(caveat.verificationId);
  return caveat.location ? { v64, l: caveat.location } : { v64 };
}

function bytesMember(name: string, bytes: Uint8Array): { [name: string]: string } {
  const text = decodeUtf8(bytes);
  return text === undefined ? { [`${name}64`]: encodeBase64url(bytes) } : { [name]: text };
}
