import { NONCE_HEADER } from "./statement.js";

/** A service's question, independent of the server. */
export interface FeedQuestion {
  /** The header `If-None-Match`. */
  readonly known?: string | undefined;
  /** The header `Proviso-Feed-Nonce`: up to 64 characters of base64url. */
  readonly nonce?: string | undefined;
  /** The query's `page`: the name of one page, taken from an index. */
  readonly page?: string | undefined;
}

/** The answer to a service, independent of the server. */
export interface FeedAnswer {
  readonly status: 200 | 304 | 400 | 404 | 503;
  readonly headers: Readonly<Record<string, string>>;
  /** JSON; empty with 304. */
  readonly body: string;
}

export const JSON_TYPE = { "Content-Type": "application/json" } as const;

export const NO_PAGE: FeedAnswer = failed(
  404,
  "not_found",
  "the list has no such page any more; ask for its index again",
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

/** Writes an error in the form that clients of an agent read. */
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
