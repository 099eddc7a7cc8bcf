import type { JsonObject } from "../bytes/json.js";
import { readAddress } from "../client/address.js";
import type { Resolve } from "../client/pinned-addresses.js";
import { type GetAnswer, pinnedGet } from "../client/pinned-get.js";
import { type CardCache, freshUntil, type KeptCard } from "./card-cache.js";
import { MAX_CARD_BYTES, parseCard } from "./card-text.js";

/** How cards are fetched. */
export interface FetchOptions {
  /**
   * Places that may be asked though they are not of the public network, `HOST:PORT` each. The address that
   * a caller gives is one without being listed.
   */
  readonly allowHosts?: readonly string[] | undefined;
  /** Whether plain HTTP to other machines is allowed: anybody on the way can change such a card. */
  readonly insecure?: boolean | undefined;
  /** Milliseconds for one card with all redirects; 10,000 unless given. */
  readonly timeout?: number | undefined;
  /** Cards are fetched each time unless given. */
  readonly cache?: CardCache | undefined;
  /** Milliseconds since 1970; `Date.now` unless given. */
  readonly clock?: (() => number) | undefined;
  /** Looks names up; the system's resolver unless given. */
  readonly resolve?: Resolve | undefined;
  /** Certificates, as PEM, that are trusted in the place of the usual ones. */
  readonly ca?: string | undefined;
}

/** A card as its agent serves it; nothing in it is judged. */
export interface FetchedCard {
  readonly document: JsonObject;
  /** Where it was asked for. */
  readonly url: URL;
}

/** Milliseconds for one card, unless given. */
export const FETCH_TIMEOUT = 10_000;

/**
 * Fetches a card from its agent's address, or from the cache while it may.
 *
 * @param address - As {@link readAddress} takes it.
 * @param named - Origins that the caller wrote itself.
 * @throws ClientError
 */
export async function fetchCard(
  address: string,
  named: readonly string[],
  options: FetchOptions,
): Promise<FetchedCard> {
  const { cache, clock = Date.now, insecure } = options;
  const url = readAddress(address, { insecure: insecure === true }).card;
  const kept = cache?.get(url.href);
  if (kept !== undefined && clock() < kept.freshUntil) return fetched(kept.text, url);
  const answer = await getJson(url, named, options, MAX_CARD_BYTES, conditionOf(kept));
  const { text, etag } = answer.status === 304 ? known(kept) : textIn(answer);
  const card = fetched(text, url);
  const until = freshUntil(answer.header, clock());
  if (until === undefined) cache?.delete(url.href);
  else cache?.set(url.href, { text, etag, freshUntil: until });
  return card;
}

/** Fetches a JSON document as cards are fetched. @throws ClientError */
export function getJson(
  url: URL,
  named: readonly string[],
  options: FetchOptions,
  maxBytes: number,
  headers: Readonly<Record<string, string>> = {},
): Promise<GetAnswer> {
  const { allowHosts, insecure, timeout = FETCH_TIMEOUT, resolve, ca } = options;
  return pinnedGet(url, { named, allowHosts, insecure, timeout, maxBytes, headers, resolve, ca });
}

function conditionOf(kept: KeptCard | undefined): Readonly<Record<string, string>> {
  const version = { "A2A-Version": "1.0" };
  return kept?.etag === undefined ? version : { ...version, "If-None-Match": kept.etag };
}

function known(kept: KeptCard | undefined): Pick<KeptCard, "text" | "etag"> {
  // Only a condition is answered so; a server that does it without one has sent no card.
  return kept ?? { text: "", etag: undefined };
}

function textIn({ text, header }: GetAnswer): Pick<KeptCard, "text" | "etag"> {
  const etag = header("ETag");
  return { text, etag: etag !== undefined && etag.length <= MAX_ETAG ? etag : undefined };
}

const MAX_ETAG = 512;

function fetched(text: string, url: URL): FetchedCard {
  return { document: parseCard(text, url), url };
}
