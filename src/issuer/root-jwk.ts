import { decodeBase64, encodeBase64url } from "../bytes/base64.js";
import { serviceKeyId } from "../capability/key-id.js";
import { assertMembers } from "../checks/members.js";
import { serviceSecret } from "./derived-keys.js";

/** A root key as a JSON Web Key (RFC 7517, RFC 7518 section 6.4), including the secret. */
export interface RootJwk {
  readonly kty: "oct";
  readonly kid: string;
  readonly alg: "HS256";
  /** `verify` in every key; also `sign` in the key that mints. */
  readonly key_ops: readonly ("sign" | "verify")[];
  /** Time of creation, in seconds since 1970. */
  readonly iat: number;
  /** The secret: 32 bytes as base64url. */
  readonly k: string;
}

/** A JWK Set that includes the secrets. */
export interface RootJwkSet {
  readonly keys: readonly RootJwk[];
}

/** Length of a secret, in bytes. */
export const SECRET_LENGTH = 32;
const KID_BYTES = 9;
/** The last second of the year 9999, in seconds since 1970. */
const LATEST = 253_402_300_799;
const MEMBERS = ["kty", "kid", "alg", "key_ops", "iat", "k"];

/** @throws TypeError that names the property that is wrong; the message never shows a secret. */
export function checkedJwk(value: unknown, at: number): RootJwk {
  const where = `keys[${at}]`;
  if (typeof value !== "object" || value === null) throw new TypeError(`${where} is not an object`);
  const jwk = value as Record<string, unknown>;
  assertMembers(jwk, MEMBERS, where);
  const { kty, kid, alg, key_ops, iat, k } = jwk;
  if (kty !== "oct") throw new TypeError(`${where}.kty must be "oct"`);
  if (alg !== "HS256") throw new TypeError(`${where}.alg must be "HS256"`);
  if (typeof kid !== "string" || kid === "")
    throw new TypeError(`${where}.kid must be a non-empty string`);
  if (typeof iat !== "number" || !Number.isSafeInteger(iat) || iat < 0 || iat > LATEST) {
    throw new TypeError(`${where}.iat must be whole seconds since 1970`);
  }
  const operations = Array.isArray(key_ops) ? key_ops.join() : "";
  if (operations !== "verify" && operations !== "sign,verify") {
    throw new TypeError(`${where}.key_ops must be ["verify"] or ["sign","verify"]`);
  }
  if (typeof k !== "string" || secretLength(k) !== SECRET_LENGTH) {
    throw new TypeError(`${where}.k must be ${SECRET_LENGTH} bytes of base64url`);
  }
  const ops = operations === "verify" ? (["verify"] as const) : (["sign", "verify"] as const);
  return { kty, kid, alg, key_ops: ops, iat, k };
}

export function copyOf(jwk: RootJwk): RootJwk {
  return { ...jwk, key_ops: [...jwk.key_ops] };
}

/** Returns the JWK of the key derived from a root key for a service. */
export function serviceJwk(jwk: RootJwk, service: string): RootJwk {
  const k = encodeBase64url(serviceSecret(decodeBase64(jwk.k), service));
  return { ...copyOf(jwk), kid: serviceKeyId(jwk.kid, service), k };
}

/** The sources of time and randomness for a new key. */
interface KeyMaking {
  /** Returns milliseconds since 1970. */
  readonly clock: () => number;
  readonly random: (length: number) => Uint8Array;
}

/** Returns a new key that mints. */
export function newJwk({ clock, random }: KeyMaking): RootJwk {
  return {
    kty: "oct",
    kid: `key_${encodeBase64url(random(KID_BYTES))}`,
    alg: "HS256",
    key_ops: ["sign", "verify"],
    iat: Math.floor(clock() / 1000),
    k: encodeBase64url(random(SECRET_LENGTH)),
  };
}

function secretLength(k: string): number {
  try {
    return decodeBase64(k).length;
  } catch {
    return 0;
  }
}
