import { knownMembers } from "../checks/members.js";

/** A received card, and how long it may be used without another request. */
export interface KeptCard {
  readonly text: string;
  readonly etag: string | undefined;
  /** Milliseconds since 1970. */
  readonly freshUntil: number;
}

/** Cards by URL and options of the request, limited in number and size. Made by {@link createCardCache}. */
export interface CardCache {
  get(key: string): KeptCard | undefined;
  set(key: string, card: KeptCard): void;
  delete(key: string): void;
}

/** The limits of a cache. */
export interface CardCacheOptions {
  /** Maximum number of cards; 256 unless given. */
  readonly maxCards?: number;
  /** Maximum size of all entries together, in characters; 16 Mi unless given. */
  readonly maxCharacters?: number;
}

/**
 * Creates a cache of received cards; each discovery judges the cached card again. Several callers may share a
 * cache. Two callers share an entry only if their `insecure` and `ca` are equal, and either both or neither
 * have named the card's origin.
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

/** Maximum time for which a card is used without another request, in seconds, even if the response allows longer. */
const MAX_AGE = 3600;

/**
 * Returns the time until which a card is fresh, in milliseconds since 1970 (RFC 9111, `max-age` less `Age`);
 * `undefined` if the card must not be cached.
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
