import { LRUCache } from "lru-cache";

/** A card as it came, and how long it may be used without asking again. */
export interface KeptCard {
  readonly text: string;
  readonly etag: string | undefined;
  /** Milliseconds since 1970. */
  readonly freshUntil: number;
}

/** Cards by their address, within bounds. Made by {@link createCardCache}. */
export interface CardCache {
  get(address: string): KeptCard | undefined;
  set(address: string, card: KeptCard): void;
  delete(address: string): void;
}

/** How much is kept, and for how long. */
export interface CardCacheOptions {
  /** Cards; 256 unless given. */
  readonly maxCards?: number;
  /** Characters of all cards together; 16 Mi unless given. */
  readonly maxCharacters?: number;
}

/**
 * A cache for the cards of agents. What it keeps is judged anew for every use; it saves requests alone.
 * Use one for requests with the same `allowHosts`: a card that is kept is not asked for again, wherever
 * its agent is.
 */
export function createCardCache(options: CardCacheOptions = {}): CardCache {
  const { maxCards = 256, maxCharacters = 16 * 1024 * 1024 } = options;
  const cards = new LRUCache<string, KeptCard>({
    max: maxCards,
    maxSize: maxCharacters,
    sizeCalculation: ({ text }, address) => text.length + address.length + 1,
  });
  return {
    get: (address) => cards.get(address),
    set: (address, card) => void cards.set(address, card),
    delete: (address) => void cards.delete(address),
  };
}

/** Seconds for which a card is used at most without asking again, whatever its agent says. */
const MAX_AGE = 3600;

/**
 * Until when a card may be used without asking again (RFC 9111, `max-age` less `Age`); `undefined` if it
 * is not to be kept at all. A card that says nothing is asked for again each time.
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
