import { equalBytes } from "@noble/ciphers/utils.js";
import { parseTime } from "../caveats/time.js";
import type { MacaroonParts } from "../macaroon/macaroon.js";
import type { RootKey } from "../macaroon/root-key.js";
import type { Identifier } from "./identifier.js";
import type { KeyedDigest } from "./keyed-digest.js";
import { hopsOf, type ReadLink } from "./token.js";

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

/** A chain of links whose tags were verified under a root key. Nothing in it may change while it is kept. */
export interface VerifiedLinks<T> {
  readonly key: RootKey;
  readonly identifier: Identifier;
  /** The identifier and caveats as they were received; links of a prefix are its first ones. */
  readonly parts: MacaroonParts;
  readonly links: readonly ReadLink[];
  /** Of the identifier, then of each link. */
  readonly revocationIds: readonly string[];
  /** After the last link. Its reader can append links, so it is shown to no caller. */
  readonly tag: Uint8Array;
  /** The whole token; absent for a prefix, whose signature no text has shown. */
  readonly token?: T;
}

/** Where root keys are looked up by id. */
export interface KeySource {
  find(kid: string): RootKey | undefined;
}

interface Entry<T> {
  readonly verified: VerifiedLinks<T>;
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
export class VerificationCache<T> {
  /** Least recently used first. */
  readonly #entries = new Map<string, Entry<T>>();
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

  /** Where a text is looked up; `undefined` for one that is not kept. */
  ofText(text: string): string | undefined {
    return this.#digest.text(text);
  }

  /** Where the first `caveats` links of a chain are looked up; `undefined` if one is not first-party. */
  ofLinks(parts: MacaroonParts, caveats: number): string | undefined {
    return this.#digest.chain(parts, caveats);
  }

  /**
   * What is kept at a place. Finding it does not count as use, since the token that asks may be forged.
   *
   * @param keys - The present keys.
   */
  find(place: string, keys: KeySource): VerifiedLinks<T> | undefined {
    const entry = this.#entries.get(place);
    if (entry === undefined) return undefined;
    const { verified, expires } = entry;
    const key = keys.find(verified.identifier.kid);
    if (this.#clock() < expires && key !== undefined && isSame(key, verified)) return verified;
    this.#forget(place);
    return undefined;
  }

  /** Counts as use: the token that asked is authentic. */
  used(place: string): void {
    const entry = this.#entries.get(place);
    if (entry === undefined) return;
    this.#entries.delete(place);
    this.#entries.set(place, entry);
  }

  /** Keeps what has just been verified, unless it has expired or is larger than the bound. */
  keep(place: string, verified: VerifiedLinks<T>): void {
    const entry = { verified, expires: expiryOf(verified), bytes: sizeOf(verified) };
    const hasExpired = this.#clock() >= entry.expires;
    this.#forget(place);
    if (entry.bytes > this.#bounds.bytes || hasExpired) return;
    this.#entries.set(place, entry);
    this.#bytes += entry.bytes;
    for (const oldest of this.#entries.keys()) {
      if (this.#entries.size <= this.#bounds.entries && this.#bytes <= this.#bounds.bytes) return;
      this.#forget(oldest);
    }
  }

  /** Forgets every entry whose key is not among these, each time that these are other keys than before. */
  follow(keys: KeySource): void {
    if (this.#followed === keys) return;
    this.#followed = keys;
    const lives = new Map<RootKey, boolean>();
    for (const [place, { verified }] of this.#entries) {
      let live = lives.get(verified.key);
      if (live === undefined) {
        const key = keys.find(verified.identifier.kid);
        live = key !== undefined && isSame(key, verified);
        lives.set(verified.key, live);
      }
      if (!live) this.#forget(place);
    }
  }

  #forget(place: string): void {
    const entry = this.#entries.get(place);
    if (entry === undefined) return;
    this.#entries.delete(place);
    this.#bytes -= entry.bytes;
  }
}

/** A key file that was read again gives other objects for the same secrets. */
function isSame<T>(key: RootKey, { key: known, parts }: VerifiedLinks<T>): boolean {
  return key === known || equalBytes(key.tag(parts.identifier), known.tag(parts.identifier));
}

function expiryOf<T>({ links }: VerifiedLinks<T>): number {
  let earliest: string | undefined;
  for (const hop of hopsOf(links)) {
    // Times of the one form sort as texts.
    const expires = hop?.expires;
    if (expires !== undefined && (earliest === undefined || expires < earliest)) earliest = expires;
  }
  return earliest === undefined
    ? Number.POSITIVE_INFINITY
    : (parseTime(earliest) ?? Number.NEGATIVE_INFINITY);
}

function sizeOf<T>({ parts, links }: VerifiedLinks<T>): number {
  let bytes = parts.identifier.length + (parts.location?.length ?? 0);
  for (const { identifier } of parts.caveats) bytes += identifier.length;
  return ENTRY_BYTES + LINK_BYTES * links.length + BYTES_PER_BYTE * bytes;
}
