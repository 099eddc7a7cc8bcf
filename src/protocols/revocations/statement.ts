// src/protocols/revocations: an issuer's revocation list, published to services that have a key from it.
// feed.ts answers: service-caller.ts identifies the service, publication.ts has the list in the form in which
// it is sent, answer.ts the forms of an answer. mount.ts mounts the feed beside other protocols; follow.ts is
// the service's side; this file has the parts common to both (docs/spec.md, section 8).

import { sha256 } from "@noble/hashes/sha2.js";
import { encodeBase64url } from "../../bytes/base64.js";
import { encodeUtf8 } from "../../bytes/utf8.js";
import type { FeedKey } from "../../issuer/derived-keys.js";

/** The path of the feed, below the issuer's address. */
export const FEED_PATH = "/revocations";

/** The query parameter of a question for a page. */
export const PAGE_PARAMETER = "page";

/** HTTP header of a question: a string that no earlier question had, so that no earlier answer fits. */
export const NONCE_HEADER = "Proviso-Feed-Nonce";

/** HTTP header of an answer: the MAC by which the service recognizes its issuer's answer. */
export const MAC_HEADER = "Proviso-Feed-MAC";

/** HTTP header of an answer: the time until which the list may be relied on, also if it has not changed. */
export const TRUST_HEADER = "Proviso-Trusted-Until";

/** Default seconds for which a list is trusted. */
export const DEFAULT_MAX_AGE = 300;

/** The statement of an answer about the list. */
export interface Statement {
  readonly version: number;
  /** `YYYY-MM-DDTHH:MM:SSZ`. */
  readonly trustedUntil: string;
  /** The result of {@link digestOf}. */
  readonly digest: string;
  /** The question's {@link NONCE_HEADER}; empty if it had none. */
  readonly nonce: string;
}

/** Computes the value of {@link MAC_HEADER}. */
export function statementMac(key: FeedKey, statement: Statement): Uint8Array {
  const { version, trustedUntil, digest, nonce } = statement;
  return key.mac(`${version} ${trustedUntil} ${digest} ${nonce}`);
}

/** SHA-256 in base64url, of an index or a page in canonical JSON (RFC 8785). */
export function digestOf(text: string): string {
  return encodeBase64url(sha256(encodeUtf8(text)));
}

/** The `ETag` of a list. */
export function tagOf({ version, digest }: Pick<Statement, "version" | "digest">): string {
  return `"${version}-${digest}"`;
}

/** Returns the bearer token by which a service reads the feed. */
export function feedCredential(kid: string, key: FeedKey): string {
  return `${encodeBase64url(encodeUtf8(kid))}.${encodeBase64url(key.credential())}`;
}

/** @throws TypeError unless it is a whole number of seconds from 1 to a day. */
export function assertMaxAge(maxAge: unknown): asserts maxAge is number {
  if (Number.isSafeInteger(maxAge) && Number(maxAge) >= 1 && Number(maxAge) <= 86_400) return;
  throw new TypeError("maxAge must be 1 to 86400 whole seconds");
}
