import { knownMembers } from "../checks/members.js";

/** A received card, and how long it may be used without another request. */
export interface KeptCard {
  readonly text: string;
  readonly etag: string | undefined;
  /** Milliseconds since 1970. */
  readonly freshUntil: number;
}

/** Cards by URL and request headers, limited in number and size. Made by {@link createCardCache}. */
export interface CardCache {
  get(key: string): KeptCard | undefined;
  set(key: string, card: KeptCard): void;
  delete(key: string): void;
}

/** The limits of a cache. */
export interface CardCacheOptions {
  /** Most cards; 256 unless given. */
  readonly maxCards?: number;
  /** Most characters of all cards together; 16 Mi unless given. */
  readonly maxCharacters?: number;
}

/**
 * Creates a cache of cards. Each use judges the card anew. Several callers may share a cache: entries of
 * callers that differ in the origins they named, in allowing plain HTTP, or in `ca` are kept separate.
 *
 * @throws TypeError naming the option that is not valid.
 */
export function createCardCache(options: CardCacheOptions = {}): CardCache {
  const own = knownMembers(options, ["maxCards", "maxCharacters"], "options");
  const { maxCards = 256, maxCharacters = 16 * 1024 * 1024 } = own;
  for (const [name, value] of Object.entries({ maxCards, maxCharacters })) {
    if (Number.isSafeInteger(value) && value >= 0) continue;
    throw new TypeError(`options.${name} must be a whole number of at least 0`);
  }
  // Maps keep insertion order: the first card is the least recently used.
  const cards = new Map<string, KeptCard>();
  let characters = 0;
  const take = (address: string): KeptCard | undefined => {
    const card = cards.get(address);
    if (card !== undefined && cards.delete(address)) characters -= sizeOf(address, card);
    return card;
  };
  const put = (address: string, card: KeptCard): void => {
    cards.set(address, card);
    characters += sizeOf(address, card);
  };
  return {
    get: (address) => {
      const card = take(address);
      if (card !== undefined) put(address, card);
      return card;
    },
    set: (address, card) => {
      take(address);
      if (sizeOf(address, card) > maxCharacters) return;
      put(address, card);
      for (const oldest of cards.keys()) {
        if (cards.size <= maxCards && characters <= maxCharacters) break;
        take(oldest);
      }
    },
    delete: (address) => void take(address),
  };
}

function sizeOf(address: string, { text, etag = "" }: KeptCard): number {
  return text.length + address.length + etag.length;
}

/** Most seconds for which a card is used without another request, whatever its agent says. */
const MAX_AGE = 3600;

/**
 * Returns until when a card is fresh (RFC 9111, `max-age` less `Age`); `undefined` if it must not be cached.
 *
 * @param now - Milliseconds since 1970.
 */
export function freshUntil(
  header: (name: string) => string | undefined,
  now: number,
): number | undefined {
  const directives = (header("Cache-Control") ?? "").toLowerCase().split(",");
  const all = new Map(
    directives.map((one) => {
      const [name = "", value = ""] = one.split("=", 2);
      return [name.trim(), value.trim().replaceAll('"', "")] as const;
    }),
  );
  if (all.has("no-store")) return undefined;
  const given = all.get("max-age") ?? "";
  if (all.has("no-cache") || !/^\d{1,10}$/.test(given)) return now;
  const age = header("Age") ?? "";
  const spent = /^\d{1,10}$/.test(age) ? Number(age) : 0;
  return now + Math.min(Math.max(Number(given) - spent, 0), MAX_AGE) * 1000;
}
