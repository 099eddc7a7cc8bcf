import { createHash } from "node:crypto";
import type { Caller } from "../agent/caller.js";

interface Entry {
  readonly caller: Caller;
  /** Milliseconds since 1970. */
  readonly from: number;
  readonly until: number;
}

/** Milliseconds for which a token is not checked again: for so long a withdrawn key still counts. */
const LONGEST = 60_000;
const CAPACITY = 1000;

/**
 * Access tokens that were good a moment ago: checking a signature takes a hundred times as long as
 * a hash. Holds digests, not tokens, and the least recently used goes first.
 */
export class TokenCache {
  readonly #entries = new Map<string, Entry>();

  /** Who the token is from, if it has been checked within the last minute and has not expired. */
  find(digest: string, now: number): Caller | undefined {
    const entry = this.#entries.get(digest);
    if (entry === undefined) return undefined;
    this.#entries.delete(digest);
    // A clock that was set back makes tokens too new that were not.
    if (now < entry.from || now >= entry.until) return undefined;
    this.#entries.set(digest, entry);
    return entry.caller;
  }

  /** @param expires - Of the token, in milliseconds since 1970. */
  keep(digest: string, caller: Caller, expires: number, now: number): void {
    const until = Math.min(expires, now + LONGEST);
    this.#entries.delete(digest);
    this.#entries.set(digest, { caller, from: now, until });
    if (this.#entries.size <= CAPACITY) return;
    const [oldest = digest] = this.#entries.keys();
    this.#entries.delete(oldest);
  }

  clear(): void {
    this.#entries.clear();
  }
}

/** What a token is known by: nobody can make another with the same. */
export function digestOf(token: string): string {
  return createHash("sha256").update(token).digest("base64");
}
