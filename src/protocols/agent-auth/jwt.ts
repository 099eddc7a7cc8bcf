import { decodeBase64 } from "../../bytes/base64.js";
import { isObject, isTexts, type JsonObject, outlineJson } from "../../bytes/json.js";
import { decodeUtf8 } from "../../bytes/utf8.js";
import { type Fault, refuse } from "./errors.js";

type JwtType = "host+jwt" | "agent+jwt";

/** A JWT that nothing has been verified of: good only for finding the key that it must be signed with. */
export interface UnverifiedJwt {
  readonly ok: true;
  readonly text: string;
  readonly type: JwtType;
  readonly iss?: string;
  readonly sub?: string;
  /** The key that a host brings at its first contact. */
  readonly hostKey?: unknown;
  readonly header: { readonly [name: string]: unknown };
  readonly claims: { readonly [name: string]: unknown };
}

/** What a JWT says whose signature holds, that is for this server, and within its time. */
export interface VerifiedJwt {
  readonly ok: true;
  readonly type: JwtType;
  readonly iss?: string;
  readonly jti: string;
  /** Milliseconds since 1970 after which it is too old in any case. */
  readonly over: number;
  /** The names that it is narrowed to; absent for all. */
  readonly capabilities?: readonly string[];
  /** The request that it is bound to, as far as it says: method, URL, SHA-256 of the body. */
  readonly bound: { readonly htm?: string; readonly htu?: string; readonly ath?: string };
  readonly agentKey?: unknown;
  readonly hostKey?: unknown;
  readonly hostName?: string;
}

/** Whether an audience is one that a JWT, narrowed to capabilities or not, may have here. */
export type AudienceRule = (aud: string, capabilities: readonly string[] | undefined) => boolean;

/** Seconds for which a JWT is good after its `iat`. */
const MAX_AGE = 60;
/** Seconds by which the sender's clock may be ahead. */
const AHEAD = 5;
/** Characters of base64url. */
const MAX_HEADER = 1024;
const MAX_CLAIMS = 6144;
const MAX_DEPTH = 4;
const MAX_CAPABILITIES = 256;
const COMPACT = /^([A-Za-z0-9_-]+)\.([A-Za-z0-9_-]+)\.([A-Za-z0-9_-]*)$/;

/** Takes a JWT apart, within limits. Nothing in it is judged but what identifies the key. */
export function readJwt(text: string): UnverifiedJwt | Fault {
  const [, head = "", body = ""] = COMPACT.exec(text) ?? [];
  if (head === "") return invalid("is not three parts of base64url");
  if (head.length > MAX_HEADER || body.length > MAX_CLAIMS) return invalid("is too long");
  const header = partOf(head);
  const claims = partOf(body);
  if (header === undefined || claims === undefined) return invalid("is not made of JSON objects");
  if (header["alg"] !== "EdDSA") return invalid('must be signed with EdDSA ("alg")');
  // Extensions that must be understood, and a payload that is not encoded: no JWT here has them.
  if (header["crit"] !== undefined || header["b64"] !== undefined) {
    return invalid('must not have the header members "crit" and "b64"');
  }
  const type = header["typ"];
  if (type !== "host+jwt" && type !== "agent+jwt") {
    return invalid('must be a host+jwt or an agent+jwt ("typ")');
  }
  const { iss, sub, host_public_key: hostKey } = claims;
  return {
    ...{ ok: true, text, type, header, claims },
    ...(typeof iss === "string" ? { iss } : {}),
    ...(typeof sub === "string" ? { sub } : {}),
    ...(hostKey === undefined ? {} : { hostKey }),
  };
}

function partOf(part: string): { readonly [name: string]: unknown } | undefined {
  try {
    const text = decodeUtf8(decodeBase64(part));
    if (text === undefined || outlineJson(text).depth > MAX_DEPTH) return undefined;
    const value: unknown = JSON.parse(text);
    return isObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

/**
 * Verifies a JWT: its signature first, then all that it says.
 *
 * @param audiences - Which of its audiences will do.
 * @param now - Milliseconds since 1970.
 */
export async function verifyJwt(
  { text, type, claims }: UnverifiedJwt,
  key: PublicKey,
  audiences: AudienceRule,
  now: number,
): Promise<VerifiedJwt | Fault> {
  const { compactVerify, errors, importJWK } = await import("jose");
  try {
    await compactVerify(text, await importJWK(key, "EdDSA"), { algorithms: ["EdDSA"] });
  } catch (error) {
    // A key of the right form that is no point of the curve holds no signature either.
    if (error instanceof errors.JOSEError || error instanceof DOMException) {
      return invalid("has a signature that does not hold under the registered key");
    }
    throw error;
  }
  const { iss, jti, iat, exp, nbf, aud, capabilities, host_name: hostName } = claims;
  const seconds = now / 1000;
  if (typeof iat !== "number") return invalid('has no "iat"');
  if (iat > seconds + AHEAD) return invalid('was made in the future ("iat")');
  if (seconds - iat > MAX_AGE) return invalid(`is more than ${MAX_AGE} seconds old ("iat")`);
  if (!isAbsentOr(exp, "number") || !isAbsentOr(nbf, "number")) {
    return invalid('has an "exp" or "nbf" that is not a number');
  }
  if (typeof exp === "number" && exp <= seconds) return invalid('has expired ("exp")');
  if (typeof nbf === "number" && nbf > seconds + AHEAD) return invalid('is not valid yet ("nbf")');
  if (typeof jti !== "string" || jti === "" || jti.length > 256) {
    return invalid('has no "jti" of 1 to 256 characters');
  }
  if (capabilities !== undefined && !isNames(capabilities)) {
    return invalid('has "capabilities" that are not an array of names');
  }
  const named: unknown = Array.isArray(aud) ? aud : [aud];
  const narrowed = isNames(capabilities) ? capabilities : undefined;
  if (!isTexts(named) || named.length > 8 || !named.some((one) => audiences(one, narrowed))) {
    return invalid('is not for this server ("aud")');
  }
  const { htm, htu, ath, agent_public_key: agentKey, host_public_key: hostKey } = claims;
  if (![htm, htu, ath, iss, hostName].every((one) => isAbsentOr(one, "string"))) {
    return invalid('has an "iss", "host_name", "htm", "htu" or "ath" that is not a text');
  }
  return {
    ...{ ok: true, type, jti, over: Math.ceil((iat + MAX_AGE + AHEAD) * 1000) },
    bound: {
      ...(typeof htm === "string" ? { htm } : {}),
      ...(typeof htu === "string" ? { htu } : {}),
      ...(typeof ath === "string" ? { ath } : {}),
    },
    ...(typeof iss === "string" ? { iss } : {}),
    ...(narrowed === undefined ? {} : { capabilities: narrowed }),
    ...(agentKey === undefined ? {} : { agentKey }),
    ...(hostKey === undefined ? {} : { hostKey }),
    ...(typeof hostName === "string" ? { hostName } : {}),
  };
}

function isNames(value: unknown): value is readonly string[] {
  return isTexts(value) && value.length <= MAX_CAPABILITIES;
}

function isAbsentOr(value: unknown, type: "string" | "number"): boolean {
  return value === undefined || typeof value === type;
}

export function invalid(why: string): Fault {
  return refuse("invalid_jwt", `the JWT ${why}`);
}

/** A public key of a host or an agent: Ed25519 as a JWK (RFC 8037), without any other member. */
interface PublicKey extends JsonObject {
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
