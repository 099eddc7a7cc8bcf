// src/protocols/revocations: an issuer's revocation list, read by the services that have a key of it.
// feed.ts answers (service-caller.ts knows the service, publication.ts has the list as it is sent, answer.ts the
// forms of an answer), mount.ts puts it beside other protocols, follow.ts is the service's side; this file has what
// both sides say (docs/spec.md, section 8).

import { sha256 } from "@noble/hashes/sha2.js";
import { encodeBase64url } from "../../bytes/base64.js";
import { encodeUtf8 } from "../../bytes/utf8.js";
import type { FeedKey } from "../../issuer/derived-keys.js";

/** Where the feed is, below the issuer's address. */
export const FEED_PATH = "/revocations";

/** The query of a question for a page. */
export const PAGE_PARAMETER = "page";

/** HTTP header of a question: a text that no question had before, so that no earlier answer fits. */
export const NONCE_HEADER = "Proviso-Feed-Nonce";

/** HTTP header of an answer: by it the service knows the answer for its issuer's. */
export const MAC_HEADER = "Proviso-Feed-MAC";

/** HTTP header of an answer: until when the list may be relied on, also where it has not changed. */
export const TRUST_HEADER = "Proviso-Trusted-Until";

/** Seconds for which a list is trusted, unless given. */
export const DEFAULT_MAX_AGE = 300;

/** What an answer says of the list. */
export interface Statement {
  readonly version: number;
  /** `YYYY-MM-DDTHH:MM:SSZ`. */
  readonly trustedUntil: string;
  /** From {@link digestOf}. */
  readonly digest: string;
  /** What the question had in {@link NONCE_HEADER}; empty if it had none. */
  readonly nonce: string;
}

/** What stands in {@link MAC_HEADER}. */
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

/** The bearer token by which a service reads the feed. */
export function feedCredential(kid: string, key: FeedKey): string {
  return `${encodeBase64url(encodeUtf8(kid))}.${encodeBase64url(key.credential())}`;
}

/** @throws TypeError unless it is whole seconds from 1 to a day. */
export function assertMaxAge(maxAge: unknown): asserts maxAge is number {
  if (Number.isSafeInteger(maxAge) && Number(maxAge) >= 1 && Number(maxAge) <= 86_400) return;
  throw new TypeError("maxAge must be 1 to 86400 whole seconds");
}
