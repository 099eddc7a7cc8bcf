import type { JsonObject } from "../../bytes/json.js";
import { isObject } from "../../bytes/json.js";
import { type Fault, refuse } from "./errors.js";

/** A public key of a host or an agent: Ed25519 as a JWK (RFC 8037), without any other member. */
export interface PublicKey extends JsonObject {
  readonly kty: "OKP";
  readonly crv: "Ed25519";
  /** 32 bytes in base64url. */
  readonly x: string;
}

/** A key that was read, and its thumbprint. */
export interface ReadKey {
  readonly ok: true;
  readonly key: PublicKey;
  /** RFC 7638, SHA-256, base64url. */
  readonly thumbprint: string;
}

/** 32 bytes: the last character holds four bits of them. */
const X = /^[A-Za-z0-9_-]{42}[AEIMQUYcgkosw048]$/;

/** Reads a public key that another party sent. @param what - What errors call it, such as `public_key`. */
export async function readKey(value: unknown, what: string): Promise<ReadKey | Fault> {
  const invalid = (why: string): Fault => refuse("invalid_public_key", `${what}: ${why}`);
  if (!isObject(value)) return invalid("must be a public key as a JWK");
  const { kty, crv, x, d } = value;
  if (typeof kty !== "string") return invalid('has no "kty"');
  if (d !== undefined) return invalid("holds a private key; never give that away");
  if (kty !== "OKP" || crv !== "Ed25519") {
    const message = `${what}: must be an Ed25519 key: {"kty":"OKP","crv":"Ed25519","x":…}`;
    return refuse("unsupported_algorithm", message);
  }
  if (typeof x !== "string" || !X.test(x)) return invalid('"x" must be 32 bytes in base64url');
  const key: PublicKey = { kty, crv, x };
  const { calculateJwkThumbprint } = await import("jose");
  return { ok: true, key, thumbprint: await calculateJwkThumbprint(key) };
}
