import { equalBytes } from "@noble/ciphers/utils.js";
import { canonicalBytes } from "../bytes/json.js";
import { parseTime } from "../caveats/time.js";
import type { CompactMacaroon } from "../macaroon/compact.js";
import type { RootKey } from "../macaroon/root-key.js";
import { type AuthenticToken, keyOfToken } from "./authentic-token.js";
import { DigestTable } from "./digest-table.js";
import type { KeyedDigest } from "./keyed-digest.js";
import { earliestExpiry } from "./verified-capability.js";

/** How much a verification cache keeps. */
export interface CacheBounds {
  /** Verified texts and verified prefixes, each an entry; 1,000 unless given. */
  readonly entries?: number | undefined;
  /** The memory that the entries take, as estimated from their sizes, in bytes; 16 MiB unless given. */
  readonly bytes?: number | undefined;
}

interface Bounds {
  readonly entries: number;
  readonly bytes: number;
}

/** What the bounds are unless given. */
export const CACHE_BOUNDS: Bounds = /* @__PURE__ */ Object.freeze({
  entries: 1000,
  bytes: 16 * 1024 * 1024,
});

/** Where root keys are looked up by id. */
export interface KeySource {
  find(kid: string): RootKey | undefined;
}

interface Kept {
  readonly token: AuthenticToken;
  /** Milliseconds since 1970. */
  readonly expires: number;
  readonly bytes: number;
}

// An estimate of what parsed tokens take, generous for short ones: a fixed part, one for each link, one for each byte of the macaroon.
const ENTRY_BYTES = 1024;
const LINK_BYTES = 1024;
const BYTES_PER_BYTE = 4;

/**
 * What this process has verified of tokens: that their links are authentic, and how they read; no
 * decision. The least recently used entry leaves first. An entry is never answered once its expiry has come, or
 * its key is gone or has another secret.
 */
export class VerificationCache {
  /** By a digest of the identifier and the links. */
  readonly #entries = new DigestTable<Kept>();
  readonly #bounds: Bounds;
  readonly #clock: () => number;
  readonly #digest: KeyedDigest;
  #followed: KeySource | undefined;
  #bytes = 0;

  /** @param clock - Milliseconds since 1970. */
  constructor(bounds: CacheBounds, clock: () => number, digest: KeyedDigest) {
    const { entries = CACHE_BOUNDS.entries, bytes = CACHE_BOUNDS.bytes } = bounds;
    this.#bounds = { entries, bytes };
    this.#clock = clock;
    this.#digest = digest;
  }

  /** Entries kept at present. */
  get size(): number {
    return this.#entries.size;
  }

  /** The estimated memory of the present entries, in bytes. */
  get bytes(): number {
    return this.#bytes;
  }

  /** Where the first `caveats` links of a chain are looked up. */
  place(macaroon: CompactMacaroon, caveats: number): string {
    return this.#digest.of(macaroon, caveats);
  }

  /**
   * The token that is kept at a place: it has the links that the place is of, or one more. Finding it does not
   * count as use, since the token that asks may be forged.
   *
   * @param keys - The present keys.
   */
  find(place: string, keys: KeySource): AuthenticToken | undefined {
    const entry = this.#entries.find(place);
    const kept = this.#entries.value(entry);
    if (kept === undefined) return undefined;
    if (this.#clock() < kept.expires && isPresent(kept.token, keys)) return kept.token;
    // Looking a key up may have changed what is kept here.
    if (this.#entries.value(entry) === kept) this.#forget(entry, kept);
    return undefined;
  }

  /** Counts as use: the token that asked is authentic. */
  used(place: string): void {
    const entry = this.#entries.find(place);
    if (entry !== 0) this.#entries.use(entry);
  }

  /**
   * Keeps what has just been verified, unless it has expired or is larger than the bound.
   *
   * @param count - Of how many of its links the place is: all, or all but the last.
   * @param size - Bytes of the macaroon.
   */
  keep(place: string, token: AuthenticToken, count: number, size: number): void {
    const expires = expiryOf(token, count);
    const bytes = ENTRY_BYTES + LINK_BYTES * token.chains[0].links.length + BYTES_PER_BYTE * size;
    if (bytes > this.#bounds.bytes || this.#clock() >= expires) return;
    this.#drop(this.#entries.find(place));
    this.#bytes += bytes;
    while (this.#entries.size >= this.#bounds.entries || this.#bytes > this.#bounds.bytes) {
      this.#drop(this.#entries.oldest);
    }
    this.#entries.add(place, { token, expires, bytes });
  }

  /** Forgets every entry whose key is not among these, each time that these are other keys than before. */
  follow(keys: KeySource): void {
    if (this.#followed === keys) return;
    this.#followed = keys;
    const lives = new Map<RootKey, boolean>();
    for (let entry = this.#entries.oldest; entry !== 0; ) {
      const next = this.#entries.after(entry);
      const kept = this.#entries.value(entry);
      if (kept !== undefined) {
        const key = keyOfToken(kept.token);
        const live = lives.get(key) ?? isPresent(kept.token, keys);
        lives.set(key, live);
        // Looking a key up may have changed what is kept here.
        if (!live && this.#entries.value(entry) === kept) this.#forget(entry, kept);
      }
      entry = next;
    }
  }

  #drop(entry: number): void {
    const kept = this.#entries.value(entry);
    if (kept !== undefined) this.#forget(entry, kept);
  }

  #forget(entry: number, { bytes }: Kept): void {
    this.#entries.remove(entry);
    this.#bytes -= bytes;
  }
}

/** Whether the key of a token is still there. A key file that was read again gives other objects for the same secrets. */
function isPresent(token: AuthenticToken, keys: KeySource): boolean {
  const known = keyOfToken(token);
  const key = keys.find(token.identifier.kid);
  if (key === undefined || key === known) return key !== undefined;
  const identifier = canonicalBytes({ ...token.identifier });
  return equalBytes(key.tag(identifier), known.tag(identifier));
}

/** When the first `count` links of a token expire: milliseconds since 1970. */
function expiryOf({ chains }: AuthenticToken, count: number): number {
  const earliest = earliestExpiry(chains[0].links, count);
  if (earliest === undefined) return Number.POSITIVE_INFINITY;
  return parseTime(earliest) ?? Number.NEGATIVE_INFINITY;
}
