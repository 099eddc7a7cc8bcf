import {
  canonicalBytes,
  isJsonObject,
  type Json,
  quotedName,
  readCanonicalJson,
} from "../bytes/json.js";
import { TokenError } from "../bytes/token-error.js";
import { decodeUtf8 } from "../bytes/utf8.js";
import { parseTime } from "../caveats/time.js";

/** The first part of a token, which no holder can change: the grant, its issuer and its principal. */
export interface Identifier {
  /** Version of this format. */
  readonly v: 1;
  /** The issuer's name. */
  readonly iss: string;
  /** Id of the key that made the token: `KID` for a root key, `KID@SERVICE` for a key derived for a service. */
  readonly kid: string;
  /** Id of the capability: `cap_` and at least 16 base64url characters. */
  readonly id: string;
  /** The id of the grant, such as `documents:read`. */
  readonly grant: string;
  /** Time of issue: `YYYY-MM-DDTHH:MM:SSZ`. */
  readonly issued: string;
  /** The user on whose behalf the token acts. */
  readonly principal?: string;
}

const TEXTS = ["iss", "kid", "grant", "principal"] as const;
const KEYS = ["v", "iss", "kid", "id", "grant", "issued", "principal"];
const CAPABILITY_ID = /^cap_[A-Za-z0-9_-]{16,}$/;

/** Returns whether `text` has the form of a capability id. */
export function isCapabilityId(text: string): boolean {
  return CAPABILITY_ID.test(text);
}

/** @throws TypeError if `identifier` is not valid. */
export function encodeIdentifier(identifier: Identifier): Uint8Array {
  const problem = problemOf({ ...identifier });
  if (problem !== undefined) throw new TypeError(problem);
  return canonicalBytes({ ...identifier });
}

/**
 * Reads an identifier in its canonical form.
 *
 * @throws TokenError `identifier_malformed`, also for any macaroon that is not a capability.
 */
export function decodeIdentifier(bytes: Uint8Array): Identifier {
  const text = decodeUtf8(bytes);
  if (text === undefined || !text.startsWith("{")) {
    throw malformed("this macaroon is not a capability: its identifier is not a JSON object");
  }
  let value: Json | undefined;
  try {
    value = readCanonicalJson(text);
  } catch {
    throw malformed("the identifier is not JSON that has a canonical form");
  }
  if (value === undefined) throw malformed("the identifier is not in canonical form (RFC 8785)");
  const problem = problemOf(value);
  if (problem !== undefined) throw malformed(problem);
  // Every property has just been checked.
  return value as unknown as Identifier;
}

function malformed(message: string): TokenError {
  return new TokenError("identifier_malformed", message);
}

function problemOf(value: Json): string | undefined {
  if (!isJsonObject(value)) return "the identifier is not a JSON object";
  if (value["v"] !== 1) return "the identifier's version is not 1; a newer checker may know it";
  for (const key of Object.keys(value)) {
    if (!KEYS.includes(key)) return `the identifier has an unknown property ${quotedName(key)}`;
  }
  for (const key of TEXTS) {
    const text = value[key];
    if (key === "principal" && text === undefined) continue;
    if (typeof text !== "string" || text === "") {
      return `"${key}" in the identifier must be a non-empty string`;
    }
  }
  const { id, issued } = value;
  if (typeof id !== "string" || !isCapabilityId(id)) {
    return '"id" in the identifier must be cap_ and at least 16 base64url characters';
  }
  if (typeof issued !== "string" || parseTime(issued) === undefined) {
    return '"issued" in the identifier must be a time such as 2026-01-31T23:59:59Z';
  }
  return undefined;
}
