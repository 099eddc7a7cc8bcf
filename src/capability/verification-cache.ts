import { parseTime } from "../caveats/time.js";
import type { AuthenticToken } from "./authentic-token.js";
import { earliestExpiry } from "./verified-capability.js";

/** Limits of a verification cache. */
export interface CacheBounds {
  /** Maximum number of tokens kept; 1,000 by default. */
  readonly entries?: number | undefined;
  /** Maximum memory of all entries in bytes, estimated from the sizes of the tokens; 16 MiB by default. */
  readonly bytes?: number | undefined;
}

export const CACHE_BOUNDS: { readonly entries: number; readonly bytes: number } =
  /* @__PURE__ */ Object.freeze({ entries: 1000, bytes: 16 * 1024 * 1024 });

interface Entry {
  readonly token: AuthenticToken;
  /** Milliseconds since 1970. */
  readonly expires: number;
  readonly bytes: number;
}

// Estimated memory of a parsed token and of everything derived from it: a constant, plus an amount for each link and
// for each character. Hops with many short limits take the most memory for their size.
const ENTRY_BYTES = 1024;
const LINK_BYTES = 1024;
const BYTES_PER_CHARACTER = 32;

/**
 * Caches recently verified tokens by a digest of the whole string, including signature and discharges. The cache
 * stores no decisions. For a cached token, the calling code must still look up the key.
 */
export class VerificationCache {
  /** Ordered by last use, the least recent first. */
  readonly #entries = new Map<string, Entry>();
  readonly #most: { readonly entries: number; readonly bytes: number };
  readonly #clock: () => number;
  #bytes = 0;

  /** @param clock - Returns milliseconds since 1970. */
  constructor(bounds: CacheBounds, clock: () => number) {
    const { entries = CACHE_BOUNDS.entries, bytes = CACHE_BOUNDS.bytes } = bounds;
    this.#most = { entries, bytes };
    this.#clock = clock;
  }

  /** Number of entries kept at present. */
  get size(): number {
    return this.#entries.size;
  }

  /** The estimated memory of the present entries, in bytes. */
  get bytes(): number {
    return this.#bytes;
  }

  /** Returns the cached token with this digest, unless one of its hops has expired. */
  find(digest: string): AuthenticToken | undefined {
    const now = this.#clock();
    const entry = this.#entries.get(digest);
    if (entry === undefined) return undefined;
    this.#entries.delete(digest);
    if (now >= entry.expires) {
      this.#bytes -= entry.bytes;
      return undefined;
    }
    this.#entries.set(digest, entry);
    return entry.token;
  }

  /**
   * Caches a token that has just been completely verified, unless the token has expired, or needs more memory than the
   * maximum for all entries together.
   *
   * @param length - Number of characters of the presented string.
   */
  keep(digest: string, token: AuthenticToken, length: number): void {
    const now = this.#clock();
    this.forget(digest);
    const expires = expiryOf(token);
    const links = token.chains.reduce((sum, chain) => sum + chain.links.length, 0);
    const bytes = ENTRY_BYTES + LINK_BYTES * links + BYTES_PER_CHARACTER * length;
    if (bytes > this.#most.bytes || now >= expires) return;
    this.#entries.set(digest, { token, expires, bytes });
    this.#bytes += bytes;
    for (const [oldestDigest, oldest] of this.#entries) {
      if (this.#entries.size <= this.#most.entries && this.#bytes <= this.#most.bytes) break;
      this.#entries.delete(oldestDigest);
      this.#bytes -= oldest.bytes;
    }
  }

  /** Removes the token with this digest, if there is one. */
  forget(digest: string): void {
    this.#bytes -= this.#entries.get(digest)?.bytes ?? 0;
    this.#entries.delete(digest);
  }
}

/** Returns the earliest expiry of all hops in all chains, in milliseconds since 1970; infinite if no hop expires. */
function expiryOf({ chains }: AuthenticToken): number {
  const earliest = earliestExpiry(chains.flatMap(({ links }) => links));
  if (earliest === undefined) return Number.POSITIVE_INFINITY;
  return parseTime(earliest) ?? Number.NEGATIVE_INFINITY;
}
