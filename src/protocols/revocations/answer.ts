import { equalBytes } from "@noble/ciphers/utils.js";
import { decodeBase64 } from "../../bytes/base64.js";
import { canonicalJson, isJsonObject, type Json } from "../../bytes/json.js";
import { TokenError } from "../../bytes/token-error.js";
import { parseTime } from "../../caveats/time.js";
import { ClientError } from "../../client/client-error.js";
import type { FeedKey } from "../../issuer/derived-keys.js";
import { digestOfText } from "../../macaroon/hmac.js";
import {
  MAC_HEADER,
  NONCE_HEADER,
  type Statement,
  statementMac,
  TRUST_HEADER,
} from "./statement.js";

/** A service's request for the list, independent of the HTTP server. */
export interface FeedQuestion {
  /** The header `If-None-Match`. */
  readonly known?: string | undefined;
  /** The header `Proviso-Feed-Nonce`: up to 64 characters of base64url. */
  readonly nonce?: string | undefined;
  /** The query parameter `page`: the name of one page in an index. */
  readonly page?: string | undefined;
}

/** The answer to a service, independent of the HTTP server. */
export interface FeedAnswer {
  readonly status: 200 | 304 | 400 | 404 | 503;
  readonly headers: Readonly<Record<string, string>>;
  /** A JSON text; empty if the status is 304. */
  readonly body: string;
}

export const JSON_TYPE = { "Content-Type": "application/json" } as const;

export const NO_PAGE: FeedAnswer = failed(
  404,
  "not_found",
  "the list no longer has this page; request its index again",
);

export const NONCE_INVALID: FeedAnswer = failed(
  400,
  "nonce_invalid",
  `${NONCE_HEADER} must have 1 to 64 characters of base64url`,
);

export const UNAVAILABLE: FeedAnswer = failed(
  503,
  "unavailable",
  "the revocation list cannot be relied on at the moment; try again soon",
  { "Retry-After": "5" },
);

/** Returns the body of an error, in the format that an agent's clients read. */
export function faultBody(code: number, reason: string, message: string): string {
  return JSON.stringify({ error: { code, status: reason.toUpperCase(), message } });
}

function failed(
  status: 400 | 404 | 503,
  reason: string,
  message: string,
  more: Readonly<Record<string, string>> = {},
): FeedAnswer {
  const headers = { "Cache-Control": "no-store", ...JSON_TYPE, ...more };
  return { status, headers, body: faultBody(status, reason, message) };
}

/** An answer of the feed with a verified MAC, which shows that the issuer made the answer for this service. */
export interface FeedReading {
  /** The names of the list's pages; absent if the list has not changed. */
  readonly pages?: readonly string[];
  readonly statement: Statement;
  /** Time until which the list may be trusted, in milliseconds since 1970. */
  readonly trustedUntil: number;
}

/** The context in which an answer is read. */
interface ReadingContext {
  readonly key: FeedKey;
  /** The version and digest of the service's list, if the request was conditional. */
  readonly known: Pick<Statement, "version" | "digest"> | undefined;
  /** The nonce of the request. */
  readonly nonce: string;
  readonly origin: string;
}

/**
 * Reads an answer. Uses nothing in it before its MAC is verified.
 *
 * @throws ClientError `answer_malformed` if the answer is not that of a feed, or its MAC is wrong.
 */
export async function readAnswer(
  response: Response,
  { key, known, nonce, origin }: ReadingContext,
): Promise<FeedReading> {
  const badAnswer = (what: string): ClientError =>
    new ClientError("answer_malformed", `the revocation list of ${origin}: ${what}`, origin);
  const trusted = response.headers.get(TRUST_HEADER) ?? "";
  const trustedUntil = parseTime(trusted);
  const index = response.status === 304 ? undefined : indexIn(await bodyOf(response));
  const list = response.status === 304 ? known : index;
  if (list === undefined || trustedUntil === undefined)
    throw badAnswer("the answer is not of a feed");
  const { version, digest } = list;
  const statement = { version, digest, trustedUntil: trusted, nonce };
  if (!isMac(response.headers.get(MAC_HEADER), statementMac(key, statement))) {
    throw badAnswer(
      "the answer was not made for this question of this service by the issuer that has its key",
    );
  }
  return { statement, trustedUntil, ...(index === undefined ? {} : { pages: index.pages }) };
}

async function bodyOf(response: Response): Promise<{ readonly [name: string]: Json }> {
  const text = await response.text();
  const value: Json = text === "" ? null : JSON.parse(text);
  return isJsonObject(value) ? value : {};
}

/** The name of a page: a SHA-256 digest in base64url. */
const NAME = /^[\w-]{43}$/;

function indexIn({
  version,
  pages,
}: {
  readonly [name: string]: Json;
}): (Pick<Statement, "version" | "digest"> & { readonly pages: readonly string[] }) | undefined {
  if (typeof version !== "number" || !Array.isArray(pages)) return undefined;
  if (!Number.isSafeInteger(version) || version < 0) return undefined;
  const names = pages.filter((name) => typeof name === "string" && NAME.test(name));
  if (names.length < pages.length) return undefined;
  return { version, pages: names, digest: digestOfText(canonicalJson(names)) };
}

function isMac(header: string | null, expected: Uint8Array): boolean {
  try {
    return equalBytes(decodeBase64(header ?? ""), expected);
  } catch (error) {
    if (error instanceof TokenError) return false;
    throw error;
  }
}
