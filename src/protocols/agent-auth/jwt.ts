import { decodeBase64 } from "../../bytes/base64.js";
import { isObject, isTexts, outlineJson } from "../../bytes/json.js";
import { decodeUtf8 } from "../../bytes/utf8.js";
import { type Fault, fault } from "./errors.js";
import type { PublicKey } from "./keys.js";

type JwtType = "host+jwt" | "agent+jwt";

/** An unverified JWT. It is used only to find the key with which it must be signed. */
export interface UnverifiedJwt {
  readonly ok: true;
  readonly text: string;
  readonly type: JwtType;
  readonly iss?: string;
  readonly sub?: string;
  /** The claim `host_public_key`, which every host's JWT must have. */
  readonly hostKey?: unknown;
  readonly header: { readonly [name: string]: unknown };
  readonly claims: { readonly [name: string]: unknown };
}

/** The claims of a JWT that has a valid signature, has an accepted audience, and is valid at present. */
export interface VerifiedJwt {
  readonly ok: true;
  readonly type: JwtType;
  readonly iss?: string;
  readonly jti: string;
  readonly aud: string;
  /** The time from which the JWT is no longer accepted, in milliseconds since 1970. */
  readonly over: number;
  /** The capability names to which the JWT is restricted; absent if the JWT is not restricted. */
  readonly capabilities?: readonly string[];
  /**
   * The request to which the JWT is bound: `htm` is the method, `htu` the URL, and `ath` the SHA-256 of the body. Each
   * is absent if the JWT does not have the claim.
   */
  readonly bound: { readonly htm?: string; readonly htu?: string; readonly ath?: string };
  readonly agentKey?: unknown;
  readonly hostKey?: unknown;
  readonly hostName?: string;
}

/** Returns whether an audience is accepted. */
export type AudienceRule = (aud: string) => boolean;

/** Seconds for which a JWT is valid after its `iat`, by the sender's clock. */
const MAX_AGE = 60;
/** Seconds by which the sender's clock may differ (section 8.2). */
const SKEW = 30;
/** RFC 8037 calls the algorithm EdDSA; RFC 9864 calls it Ed25519. */
const ALGORITHMS = ["EdDSA", "Ed25519"];
/** Longest header of a JWT, in characters of base64url. */
const MAX_HEADER = 1024;
const MAX_CLAIMS = 6144;
const MAX_DEPTH = 4;
const MAX_CAPABILITIES = 256;
const COMPACT = /^([A-Za-z0-9_-]+)\.([A-Za-z0-9_-]+)\.([A-Za-z0-9_-]*)$/;

/** Parses a JWT within limits, without verifying its signature. Checks the algorithm and the type, but no claims. */
export function readJwt(text: string): UnverifiedJwt | Fault {
  const [, head = "", body = ""] = COMPACT.exec(text) ?? [];
  if (head === "") return invalid("is not three parts of base64url");
  if (head.length > MAX_HEADER || body.length > MAX_CLAIMS) return invalid("is too long");
  const header = partOf(head);
  const claims = partOf(body);
  if (header === undefined || claims === undefined) return invalid("is not made of JSON objects");
  if (typeof header["alg"] !== "string" || !ALGORITHMS.includes(header["alg"])) {
    return invalid('must be signed with EdDSA ("alg")');
  }
  // Critical extensions and unencoded payloads are not supported.
  if (header["crit"] !== undefined || header["b64"] !== undefined) {
    return invalid('must not have the header parameters "crit" and "b64"');
  }
  const type = header["typ"];
  if (type !== "host+jwt" && type !== "agent+jwt") {
    return invalid('must be a host+jwt or an agent+jwt ("typ")');
  }
  const { iss, sub, host_public_key: hostKey } = claims;
  return {
    ok: true,
    text,
    type,
    header,
    claims,
    ...(typeof iss === "string" ? { iss } : {}),
    ...(typeof sub === "string" ? { sub } : {}),
    hostKey,
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
 * Verifies a JWT: first its signature, then its claims.
 *
 * @param audiences - The rule for accepted audiences.
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
    await compactVerify(text, await importJWK(key, "Ed25519"), { algorithms: ALGORITHMS });
  } catch (error) {
    if (error instanceof errors.JOSEError) {
      return invalid("has a signature that does not hold under the registered key");
    }
    throw error;
  }
  const { iss, jti, iat, exp, nbf, aud, capabilities, host_name: hostName } = claims;
  const seconds = now / 1000;
  if (typeof iat !== "number") return invalid('has no "iat"');
  if (iat > seconds + SKEW) return invalid('was made in the future ("iat")');
  if (seconds - iat > MAX_AGE + SKEW) return invalid(`is more than ${MAX_AGE} seconds old ("iat")`);
  if (typeof exp !== "number") return invalid('has no "exp"');
  if (!isAbsentOr(nbf, "number")) return invalid('has an "nbf" that is not a number');
  if (exp + SKEW <= seconds) return invalid('has expired ("exp")');
  if (typeof nbf === "number" && nbf > seconds + SKEW) return invalid('is not valid yet ("nbf")');
  if (typeof jti !== "string" || jti === "" || jti.length > 256) {
    return invalid('has no "jti" of 1 to 256 characters');
  }
  if (capabilities !== undefined && !isNames(capabilities)) {
    return invalid('has "capabilities" that are not an array of names');
  }
  const narrowed = isNames(capabilities) ? capabilities : undefined;
  // RFC 7519 also allows an array of audiences. An array of several audiences is refused, since each of these servers
  // could forward the JWT to another.
  const [audience, another]: readonly unknown[] = Array.isArray(aud) ? aud : [aud];
  if (typeof audience !== "string" || another !== undefined || !audiences(audience)) {
    return invalid('is not for this address ("aud")');
  }
  const { htm, htu, ath, agent_public_key: agentKey, host_public_key: hostKey } = claims;
  if (![htm, htu, ath, iss, hostName].every((one) => isAbsentOr(one, "string"))) {
    return invalid('has an "iss", "host_name", "htm", "htu" or "ath" that is not a string');
  }
  return {
    ok: true,
    type,
    jti,
    aud: audience,
    over: Math.ceil((iat + MAX_AGE + SKEW) * 1000),
    bound: {
      ...(typeof htm === "string" ? { htm } : {}),
      ...(typeof htu === "string" ? { htu } : {}),
      ...(typeof ath === "string" ? { ath } : {}),
    },
    ...(typeof iss === "string" ? { iss } : {}),
    capabilities: narrowed,
    agentKey,
    hostKey,
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
  return fault("invalid_jwt", `the JWT ${why}`);
}
