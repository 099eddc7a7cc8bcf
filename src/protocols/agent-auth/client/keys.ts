import { encodeBase64url } from "../../../bytes/base64.js";
import { isObject, type JsonObject } from "../../../bytes/json.js";
import { randomBytes } from "../../../bytes/random.js";

/** A private key of a host or an agent, as a JWK (RFC 8037). Keep it secret. */
export interface PrivateKey extends JsonObject {
  readonly kty: "OKP";
  readonly crv: "Ed25519";
  readonly x: string;
  readonly d: string;
}

/** Makes an Ed25519 key for a host or an agent. */
export async function generateKey(): Promise<PrivateKey> {
  const { exportJWK, generateKeyPair } = await import("jose");
  const { privateKey } = await generateKeyPair("EdDSA", { crv: "Ed25519", extractable: true });
  const { x, d } = await exportJWK(privateKey);
  if (x === undefined || d === undefined) throw new Error("the key that was made has no JWK form");
  return { kty: "OKP", crv: "Ed25519", x, d };
}

/** Claims of a JWT in addition to the claims that {@link Signer} sets. */
export interface JwtClaims extends JsonObject {
  readonly iss: string;
  readonly aud: string;
}

/** Signs JWTs with one key. */
export interface Signer {
  /** The public key; its `kid` is the thumbprint. */
  readonly publicKey: JsonObject;
  /** The thumbprint by RFC 7638: SHA-256 as base64url. */
  readonly thumbprint: string;
  /** Returns a JWT for one request. The JWT is valid for a minute, and a server accepts it once. */
  sign(type: "host+jwt" | "agent+jwt", claims: JwtClaims): Promise<string>;
}

/** Lifetime of a JWT in seconds. */
const LIFETIME = 60;

/**
 * Returns a signer for a private key.
 *
 * @param clock - Returns the time in milliseconds since 1970.
 * @throws TypeError if `key` is not a private Ed25519 key.
 */
export async function signer(key: unknown, clock: () => number, what: string): Promise<Signer> {
  const { kty, crv, x, d } = isObject(key) ? key : {};
  if (kty !== "OKP" || crv !== "Ed25519" || typeof x !== "string" || typeof d !== "string") {
    throw new TypeError(`${what}: must be a private Ed25519 key as a JWK: await generateKey()`);
  }
  const { calculateJwkThumbprint, importJWK, SignJWT } = await import("jose");
  const thumbprint = await calculateJwkThumbprint({ kty, crv, x });
  const own = await importJWK({ kty, crv, x, d }, "EdDSA");
  return {
    publicKey: { kty, crv, x, kid: thumbprint },
    thumbprint,
    sign: (typ, claims) => {
      const now = Math.floor(clock() / 1000);
      const jti = encodeBase64url(randomBytes(16));
      return new SignJWT({ ...claims, iat: now, exp: now + LIFETIME, jti })
        .setProtectedHeader({ alg: "EdDSA", typ, kid: thumbprint })
        .sign(own);
    },
  };
}
