import { hash } from "node:crypto";
import type { JsonObject } from "../bytes/json.js";
import { readAddress } from "../client/address.js";
import { isNamed } from "../client/address-rules.js";
import { ClientError } from "../client/client-error.js";
import type { Resolve } from "../client/pinned-addresses.js";
import { type GetAnswer, pinnedGet } from "../client/pinned-get.js";
import { type CardCache, freshUntil, type KeptCard } from "./card-cache.js";
import { MAX_CARD_BYTES, parseCard } from "./card-text.js";

export interface FetchOptions {
  /**
   * Further addresses, as `HOST:PORT`, that may be contacted although they are not public. The URL that the
   * caller gives is always allowed.
   */
  readonly allowHosts?: readonly string[] | undefined;
  /** Allows plain HTTP to other machines. Any machine on the network path can then change the card. */
  readonly insecure?: boolean | undefined;
  /**
   * Timeout for one card, in milliseconds; 10,000 unless given. The time includes redirects, fetching the keys
   * of its signatures, and resolving the host of its interface.
   */
  readonly timeout?: number | undefined;
  /** The cache to use. Without a cache, each call fetches the card. */
  readonly cache?: CardCache | undefined;
  /** Returns the current time, in milliseconds since 1970; `Date.now` unless given. */
  readonly clock?: (() => number) | undefined;
  /** Resolves host names; the system's resolver unless given. */
  readonly resolve?: Resolve | undefined;
  /** PEM certificates to trust instead of the default certificates. */
  readonly ca?: string | undefined;
}

/** The deadline of one discovery. */
interface Deadline {
  /**
   * Returns the milliseconds left, more than 0.
   * @throws ClientError `timed_out` if no time is left
   */
  left(url: URL): number;
}

/** Returns the options with a deadline that applies to all requests made with them. */
export function withDeadline<Options extends FetchOptions>(
  options: Options,
): Options & { readonly deadline: Deadline } {
  const { timeout = FETCH_TIMEOUT } = options;
  const until = performance.now() + timeout;
  const left = ({ origin }: URL): number => {
    const rest = Math.ceil(until - performance.now());
    if (rest > 0) return rest;
    const message = `${origin} is not asked: the ${timeout / 1000} s for one card are over`;
    throw new ClientError("timed_out", message, origin);
  };
  return { ...options, deadline: { left } };
}

/** A card as its server sent it; nothing has been judged. */
export interface FetchedCard {
  readonly document: JsonObject;
  /** The requested URL. */
  readonly url: URL;
  /** True if the card is at the path used by A2A before 0.3. */
  readonly isAtOlderPlace: boolean;
}

export type BoundedFetch = FetchOptions & { readonly deadline: Deadline };

/** Default timeout for one card, in milliseconds. */
export const FETCH_TIMEOUT = 10_000;

/**
 * Fetches a card, from the cache while the cached card is fresh. If there is no card at the URL, tries the path
 * used by A2A before 0.3.
 *
 * @param address - In the form that {@link readAddress} accepts.
 * @param named - Origins that the caller has named.
 * @throws ClientError if no card could be fetched
 */
export async function fetchCard(
  address: string,
  named: readonly string[],
  options: BoundedFetch,
): Promise<FetchedCard> {
  const { insecure } = options;
  const { card, olderCard } = readAddress(address, { insecure: insecure === true });
  // While a card found at the older path is fresh, the newer path is not tried.
  if (olderCard !== undefined && isFresh(olderCard, named, options)) {
    return { ...(await fetchAt(olderCard, named, options)), isAtOlderPlace: true };
  }
  try {
    return { ...(await fetchAt(card, named, options)), isAtOlderPlace: false };
  } catch (error) {
    if (olderCard === undefined || !(error instanceof ClientError) || !isAbsent(error.status)) {
      throw error;
    }
    return { ...(await olderAt(olderCard, error, named, options)), isAtOlderPlace: true };
  }
}

function isFresh(url: URL, named: readonly string[], options: BoundedFetch): boolean {
  const { cache, clock = Date.now } = options;
  const kept = cache?.get(keyOf(url, named, options));
  return kept !== undefined && clock() < kept.freshUntil;
}

/** Returns whether an HTTP status means that the resource does not exist. */
export function isAbsent(status: number | undefined): boolean {
  return status === 404 || status === 410;
}

/**
 * Fetches a card from the older path.
 * @throws ClientError with the code of `first` if there is no card at the older path either
 */
async function olderAt(
  url: URL,
  first: ClientError,
  named: readonly string[],
  options: BoundedFetch,
): Promise<Omit<FetchedCard, "isAtOlderPlace">> {
  try {
    return await fetchAt(url, named, options);
  } catch (error) {
    if (!isNoCard(error)) throw error;
    const { code, message, origin, status } = first;
    throw new ClientError(code, `${message}, and no card is at ${url.pathname}`, origin, status);
  }
}

/** Returns whether a request for a card failed because the answer has an error status, or is not JSON. */
export function isNoCard(error: unknown): boolean {
  return error instanceof ClientError && (error.code === "not_found" || error.code === "not_json");
}

async function fetchAt(
  url: URL,
  named: readonly string[],
  options: BoundedFetch,
): Promise<Omit<FetchedCard, "isAtOlderPlace">> {
  const { cache, clock = Date.now } = options;
  const key = keyOf(url, named, options);
  const kept = cache?.get(key);
  if (kept !== undefined && clock() < kept.freshUntil) return fetched(kept.text, url);
  const answer = await getJson(url, named, options, MAX_CARD_BYTES, conditionOf(kept));
  const { text, etag } = answer.status === 304 ? known(kept) : textIn(answer);
  const card = fetched(text, url);
  const until = freshUntil(answer.header, clock());
  if (until === undefined) cache?.delete(key);
  else cache?.set(key, { text, etag, freshUntil: until });
  return card;
}

/**
 * Returns the key of a card in the cache. The key says whether the caller named the origin, and includes `insecure` and
 * `ca`, since a redirect that one caller may follow can be forbidden for another caller.
 */
function keyOf(url: URL, named: readonly string[], options: FetchOptions): string {
  const { allowHosts, insecure = false, ca } = options;
  const trust = ca === undefined ? "" : hash("sha256", ca, "base64url");
  return JSON.stringify([url.href, isNamed(url, { named, allowHosts }), insecure, trust]);
}

/**
 * Fetches a JSON document with the same limits on hosts and time as a card.
 * @throws ClientError if no document could be fetched
 */
export async function getJson(
  url: URL,
  named: readonly string[],
  options: BoundedFetch,
  maxBytes: number,
  headers: Readonly<Record<string, string>> = {},
): Promise<GetAnswer> {
  const { allowHosts, insecure, deadline, resolve, ca } = options;
  const timeout = deadline.left(url);
  return pinnedGet(url, { named, allowHosts, insecure, timeout, maxBytes, headers, resolve, ca });
}

function conditionOf(kept: KeptCard | undefined): Readonly<Record<string, string>> {
  const version = { "A2A-Version": "1.0" };
  return kept?.etag === undefined ? version : { ...version, "If-None-Match": kept.etag };
}

function known(kept: KeptCard | undefined): Pick<KeptCard, "text" | "etag"> {
  // A server that answers an unconditional request with 304 has sent no card.
  return kept ?? { text: "", etag: undefined };
}

function textIn({ text, header }: GetAnswer): Pick<KeptCard, "text" | "etag"> {
  const etag = header("ETag");
  return { text, etag: etag !== undefined && etag.length <= MAX_ETAG ? etag : undefined };
}

const MAX_ETAG = 512;

function fetched(text: string, url: URL): Omit<FetchedCard, "isAtOlderPlace"> {
  return { document: parseCard(text, url.origin), url };
}
