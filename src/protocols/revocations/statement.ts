// Publishes an issuer's revocation list to services that have a key from the issuer (docs/spec.md, section 8).
// On the issuer's side, feed.ts answers requests: service-caller.ts authenticates the service, publication.ts
// keeps the list as pages, and answer.ts defines the answers. mount.ts mounts the feed on a server. On the
// service's side, follow.ts follows the feed. This file has the definitions that both sides use.

import { encodeBase64url } from "../../bytes/base64.js";
import { encodeUtf8 } from "../../bytes/utf8.js";
import type { FeedKey } from "../../issuer/derived-keys.js";

/** The path of the feed, relative to the issuer's URL. */
export const FEED_PATH = "/revocations";

/** The query parameter of a request for a page. */
export const PAGE_PARAMETER = "page";

/**
 * Request header with a new random string. The answer's MAC covers this string, so that no earlier answer can
 * be replayed.
 */
export const NONCE_HEADER = "Proviso-Feed-Nonce";

/** Response header with the answer's MAC. A valid MAC shows that the issuer made the answer for this service. */
export const MAC_HEADER = "Proviso-Feed-MAC";

/**
 * Response header with the time until which the list may be trusted. A new answer extends this time even for an
 * unchanged list.
 */
export const TRUST_HEADER = "Proviso-Trusted-Until";

/** Default number of seconds for which a list is trusted. */
export const DEFAULT_MAX_AGE = 300;

/** The part of an answer that its MAC covers. */
export interface Statement {
  readonly version: number;
  /** `YYYY-MM-DDTHH:MM:SSZ`. */
  readonly trustedUntil: string;
  /** The SHA-256 of the list's index in canonical JSON (RFC 8785), as base64url. */
  readonly digest: string;
  /** The value of {@link NONCE_HEADER} in the request; empty if the request has none. */
  readonly nonce: string;
}

/** Computes the value of {@link MAC_HEADER}. */
export function statementMac(key: FeedKey, statement: Statement): Uint8Array {
  const { version, trustedUntil, digest, nonce } = statement;
  return key.mac(`${version} ${trustedUntil} ${digest} ${nonce}`);
}

/** Returns the `ETag` of a list. */
export function tagOf({ version, digest }: Pick<Statement, "version" | "digest">): string {
  return `"${version}-${digest}"`;
}

/** Returns the bearer token with which a service reads the feed. */
export function feedCredential(kid: string, key: FeedKey): string {
  return `${encodeBase64url(encodeUtf8(kid))}.${encodeBase64url(key.credential())}`;
}

/** @throws TypeError unless `maxAge` is a whole number of seconds from 1 to 86,400. */
export function assertMaxAge(maxAge: unknown): asserts maxAge is number {
  if (Number.isSafeInteger(maxAge) && Number(maxAge) >= 1 && Number(maxAge) <= 86_400) return;
  throw new TypeError("maxAge must be 1 to 86400 whole seconds");
}
