import { decodeBase64 } from "../../bytes/base64.js";
import { isObject, type JsonObject } from "../../bytes/json.js";
import type { Reading } from "./bodies.js";
import { type Fault, fault } from "./errors.js";

/** A public key of a host or an agent: Ed25519 as a JWK (RFC 8037), without other properties. */
export interface PublicKey extends JsonObject {
  readonly kty: "OKP";
  readonly crv: "Ed25519";
  /** 32 bytes in base64url. */
  readonly x: string;
}

/** A key sent by another party, and its thumbprint. */
export interface ReadKey {
  readonly ok: true;
  readonly key: PublicKey;
  /** The thumbprint of the key by RFC 7638: SHA-256 in base64url. */
  readonly thumbprint: string;
}

/** Matches 32 bytes in base64url. The last character encodes only four bits. */
const X = /^[A-Za-z0-9_-]{42}[AEIMQUYcgkosw048]$/;

/**
 * Reads a public key sent by another party. Refuses a point of small order, for which anyone can make
 * signatures.
 *
 * @param what - The name of the key in errors, such as `public_key`.
 */
export async function readKey(value: unknown, what: string): Promise<ReadKey | Fault> {
  const read = keyIn(value, what);
  if (!read.ok) return read;
  const key = read.value;
  const { ed25519 } = await import("@noble/curves/ed25519.js");
  try {
    if (ed25519.Point.fromBytes(decodeBase64(key.x)).isSmallOrder()) {
      return malformed(what, "is a point of small order, under which anyone can sign");
    }
  } catch {
    return malformed(what, "is no point of the curve");
  }
  const { calculateJwkThumbprint } = await import("jose");
  return { ok: true, key, thumbprint: await calculateJwkThumbprint(key) };
}

/** Reads a public key in a JWK, without checking that the key is a point of the curve. */
export function keyIn(value: unknown, what: string): Reading<PublicKey> {
  if (!isObject(value)) return malformed(what, "must be a public key as a JWK");
  const { kty, crv, x, d } = value;
  if (typeof kty !== "string") return malformed(what, 'has no "kty"');
  if (d !== undefined) return malformed(what, "holds a private key; never give that away");
  if (kty !== "OKP" || crv !== "Ed25519") {
    const message = `${what}: must be an Ed25519 key: {"kty":"OKP","crv":"Ed25519","x":…}`;
    return fault("unsupported_algorithm", message);
  }
  if (typeof x !== "string" || !X.test(x)) {
    return malformed(what, '"x" must be 32 bytes in base64url');
  }
  return { ok: true, value: { kty, crv, x } };
}

function malformed(what: string, why: string): Fault {
  return fault("invalid_public_key", `${what}: ${why}`);
}
