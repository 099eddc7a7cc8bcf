import { createHmac } from "node:crypto";
import { utf8 } from "./support.js";

// Builds tokens byte by byte and signs them with node:crypto, independently of this project's chain, so that tests
// can make tokens that this project refuses to write. Strings are encoded as UTF-8.

export type Raw = string | Uint8Array;

/** The field types of the v2 binary form. */
export const FIELD = { location: 1, identifier: 2, vid: 4, signature: 6 } as const;

export const SIGNATURE: Uint8Array = new Uint8Array(32).fill(7);
export const VID: Uint8Array = new Uint8Array(72).fill(9);

/** Concatenates bytes, strings and single numbers. */
export function concat(...parts: (Raw | number)[]): Uint8Array {
  return new Uint8Array(
    Buffer.concat(
      parts.map((part) =>
        typeof part === "number"
          ? Uint8Array.of(part)
          : typeof part === "string"
            ? utf8(part)
            : part,
      ),
    ),
  );
}

/** Encodes a v2 field of fewer than 128 bytes. */
export function field(type: number, data: Raw): Uint8Array {
  const bytes = concat(data);
  return concat(type, bytes.length, bytes);
}

/** Encodes a v2 macaroon: version, header section, caveat sections, their end and the signature. */
export function v2(
  header: readonly Uint8Array[],
  caveats: readonly (readonly Uint8Array[])[] = [],
  tail: Uint8Array = field(FIELD.signature, SIGNATURE),
): Uint8Array {
  const sections = caveats.map((fields) => concat(...fields, 0));
  return concat(2, ...header, 0, ...sections, 0, tail);
}

export function packet(key: string, data: Raw): Uint8Array {
  const body = concat(key, " ", data, "\n");
  return concat((body.length + 4).toString(16).padStart(4, "0"), body);
}

/** Encodes a v1 macaroon: the given packets between `location "l"`, `identifier "i"` and the signature. */
export function v1(...packets: Uint8Array[]): Uint8Array {
  return concat(V1_HEAD, ...packets, packet("signature", SIGNATURE));
}

export const V1_HEAD: Uint8Array = concat(packet("location", "l"), packet("identifier", "i"));

function mac(key: Raw, ...messages: Raw[]): Uint8Array {
  const hmac = createHmac("sha256", key);
  for (const message of messages) hmac.update(message);
  return hmac.digest();
}

/** Computes the signature of a macaroon with first-party caveats, by node:crypto. */
export function referenceSignature(key: Raw, identifier: Raw, caveats: readonly Raw[]): Uint8Array {
  const first = mac(mac("macaroons-key-generator", key), identifier);
  return caveats.reduce<Uint8Array>((tag, caveat) => mac(tag, caveat), first);
}

/** Returns the signature after a third-party caveat with a made-up vid, which any holder can append. */
export function extendSignature(signature: Uint8Array, vid: Uint8Array, cid: Raw): Uint8Array {
  return mac(signature, mac(signature, vid), mac(signature, cid));
}

/** Returns a v2 macaroon with first-party caveats and a correct signature, as bytes. */
export function signedV2(key: Raw, identifier: Raw, caveats: readonly Raw[]): Uint8Array {
  return v2(
    [field(FIELD.identifier, identifier)],
    caveats.map((caveat) => [field(FIELD.identifier, caveat)]),
    field(FIELD.signature, referenceSignature(key, identifier, caveats)),
  );
}
