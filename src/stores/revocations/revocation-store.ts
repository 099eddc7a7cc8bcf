import { checkedEntry, type RevocationEntry } from "../../revocation/entry.js";
import { RevocationList } from "../../revocation/list.js";
import type { RevocationQuery, RevocationSource } from "../../revocation/source.js";
import { StorageError, storeError } from "../../storage/storage-error.js";
import type { RevocationFile } from "./revocation-file.js";

/** What to do to the list in memory once a transaction is committed. */
type Pending = (() => void)[];

/** How current a store's answers must be. */
export interface RevocationStoreOptions {
  /**
   * Milliseconds for which lookups rely on the last look at the file before they look whether
   * another process has revoked something; 100 unless given, 0 looks each time.
   */
  readonly refreshEvery?: number;
  /**
   * Seconds after the last successful look at the file for which the list may be relied on; 5 unless
   * given. Then every check is refused as `revocation_stale`, until the file can be read again.
   */
  readonly staleAfter?: number;
  /** Milliseconds since 1970; the issuer's clock, `Date.now` unless given. */
  readonly clock?: () => number;
}

/**
 * Revocations in a file that several processes share. Each holds all of them in memory, so lookups
 * are as fast as a {@link RevocationList}'s, and takes over what the others revoke. Made by
 * {@link createRevocationStore} and {@link openRevocationStore}.
 *
 * Lookups never throw: if the file can not be read, what is known goes on being refused, and after
 * `staleAfter` seconds everything is.
 */
export class RevocationStore implements RevocationSource {
  /** The file, as it was named. */
  readonly path: string;
  /** Absent once the store is closed. */
  #file: RevocationFile | undefined;
  readonly #refreshEvery: number;
  readonly #staleAfter: number;
  readonly #clock: () => number;
  #list: RevocationList = new RevocationList();
  #version = 0;
  #dataVersion: number;
  /** When the file was last looked at, and when with success, in milliseconds of `performance`. */
  #lookedAt: number;
  #readAt: number;
  #problem: StorageError | undefined;
  /** Absent outside of a transaction. */
  #pending: Pending | undefined;
  #failure: StorageError | undefined;

  /** @internal Use {@link createRevocationStore} or {@link openRevocationStore}. */
  constructor(path: string, file: RevocationFile, options: RevocationStoreOptions) {
    const { refreshEvery, staleAfter } = checkStoreOptions(options);
    this.path = path;
    this.#file = file;
    this.#refreshEvery = refreshEvery;
    this.#staleAfter = staleAfter * 1000;
    this.#clock = options.clock ?? Date.now;
    this.#lookedAt = performance.now();
    this.#readAt = this.#lookedAt;
    this.#dataVersion = file.dataVersion();
    this.#take(file, undefined);
    file.hurry();
  }

  find(query: RevocationQuery): RevocationEntry[] {
    this.#refresh();
    return this.#list.find(query);
  }

  isCurrent(): boolean {
    this.#refresh();
    // By a clock that nobody sets: the age of the list must not depend on the time of day.
    return performance.now() - this.#readAt < this.#staleAfter;
  }

  /** The version of the list: grows with every change and never shrinks. */
  get version(): number {
    this.#refresh();
    return this.#version;
  }

  /** Seconds since the list was last known to be what the file says. */
  get age(): number {
    this.#refresh();
    return (performance.now() - this.#readAt) / 1000;
  }

  /** Why the last look at the file failed; absent if it did not. */
  get problem(): StorageError | undefined {
    this.#refresh();
    return this.#problem;
  }

  /** Every entry, oldest first. */
  list(): readonly RevocationEntry[] {
    this.#refresh();
    return this.#list.snapshot().entries;
  }

  /**
   * Adds an entry; once this returns, it is on the disk and counts here, and other processes see it
   * within their `refreshEvery`. Of two for the same thing, what either revokes is revoked, for as
   * long as either says.
   *
   * @throws TypeError if the entry is not well formed.
   * @throws StorageError `store_locked` if others were writing for 2 seconds, `store_full`,
   *   `store_unwritable`, `store_corrupt`, or `store_missing` and `store_replaced` if the file is no
   *   longer in its place. The entry must then be taken as not added.
   */
  add(entry: RevocationEntry): void {
    this.addAll([entry]);
  }

  /**
   * Adds all entries or none, as {@link RevocationStore.add} does.
   *
   * @throws TypeError if an entry is not well formed.
   * @throws StorageError as `add` does.
   */
  addAll(entries: Iterable<RevocationEntry>): void {
    const checked = Array.from(entries, checkedEntry);
    if (checked.length === 0) return;
    this.#write((file, pending) => {
      for (const entry of checked) {
        file.put(entry);
        pending.push(() => this.#list.add(entry));
      }
    });
  }

  /**
   * Removes entries whose tokens have all expired.
   *
   * @param now - Milliseconds since 1970; the store's clock unless given.
   * @returns How many were removed.
   * @throws StorageError as `add` does.
   */
  prune(now: number = this.#clock()): number {
    return this.#write((file, pending) => {
      const removed = file.prune(now);
      pending.push(() => this.#list.prune(now));
      return removed;
    });
  }

  /**
   * Runs `action` while no other process can write to the store, or be in its own `exclusively`:
   * a lock that the system lifts if the process dies. What `action` adds is committed when it
   * returns, and shows in lookups then; if it throws, nothing is, and its error is thrown on.
   * Within it, `exclusively` only runs its action.
   *
   * @param action - Must be synchronous.
   * @throws TypeError if `action` returns a promise.
   * @throws StorageError as `add` does.
   *
   * @example
   * ```ts
   * import { mkdtempSync } from "node:fs";
   * import { tmpdir } from "node:os";
   * import { join } from "node:path";
   * import { createKeyring } from "proviso/issuer";
   * import {
   *   createKeyringFile,
   *   createRevocationStore,
   *   readKeyringFile,
   *   replaceKeyringFile,
   * } from "proviso/stores";
   *
   * const folder = mkdtempSync(join(tmpdir(), "proviso-"));
   * const keys = join(folder, "keys.json");
   * createKeyringFile(keys, createKeyring());
   * const store = await createRevocationStore(join(folder, "revocations.db"));
   *
   * store.exclusively(() => {
   *   const present = readKeyringFile(keys);
   *   replaceKeyringFile(keys, present.rotate(), present);
   * });
   * readKeyringFile(keys).list().length; // => 2
   * store.close();
   * ```
   */
  exclusively<T>(action: () => T): T {
    return this.#within(action);
  }

  /** Lets go of the file. Lookups go on with what is known, and soon refuse everything. */
  close(): void {
    if (this.#pending !== undefined) throw new TypeError("a store can not be closed within itself");
    this.#file?.close();
    this.#file = undefined;
  }

  [Symbol.dispose](): void {
    this.close();
  }

  /** Runs `action` in a transaction: the one under way, or else one of its own. */
  #within<T>(action: (file: RevocationFile, pending: Pending) => T): T {
    const file = this.#file;
    if (file === undefined) throw new TypeError("the revocation store is closed");
    if (this.#pending !== undefined) return synchronous(action(file, this.#pending));
    file.assertInPlace();
    file.begin();
    const now = performance.now();
    const pending: Pending = [];
    let result: T;
    try {
      this.#pending = pending;
      this.#take(file, this.#version);
      this.#dataVersion = file.dataVersion();
      this.#lookedAt = now;
      this.#readAt = now;
      this.#problem = undefined;
      result = synchronous(action(file, pending));
      if (this.#failure !== undefined) throw this.#failure;
      file.assertInPlace();
      this.#commit(file, pending);
    } finally {
      this.#pending = undefined;
      this.#failure = undefined;
      file.rollback();
    }
    // Moved away during the commit, it may be lost to whoever opens the path next.
    if (pending.length > 0) file.assertInPlace();
    return result;
  }

  #write<T>(change: (file: RevocationFile, pending: Pending) => T): T {
    return this.#within((file, pending) => {
      try {
        return change(file, pending);
      } catch (error) {
        // Half a change must not be committed, even if the caller goes on.
        if (error instanceof StorageError) this.#failure = error;
        throw error;
      }
    });
  }

  #commit(file: RevocationFile, pending: Pending): void {
    const version = file.version();
    file.commit();
    for (const apply of pending) apply();
    this.#version = version;
  }

  #refresh(): void {
    const file = this.#file;
    const now = performance.now();
    if (file === undefined || now - this.#lookedAt < this.#refreshEvery) return;
    this.#lookedAt = now;
    try {
      file.assertInPlace();
      const dataVersion = file.dataVersion();
      if (dataVersion !== this.#dataVersion) {
        this.#take(file, this.#version);
        this.#dataVersion = dataVersion;
      }
      this.#readAt = now;
      this.#problem = undefined;
    } catch (error) {
      this.#problem = storeError(error, this.path);
    }
  }

  /** Takes over what the file has beyond the version that is known. */
  #take(file: RevocationFile, since: number | undefined): void {
    const { version, complete, entries } = file.news(since);
    if (version < this.#version) {
      const detail = `its version fell from ${this.#version} to ${version}`;
      throw new StorageError("store_corrupt", this.path, { detail });
    }
    if (complete) this.#list = new RevocationList({ version, entries });
    else for (const entry of entries) this.#list.add(entry);
    this.#version = version;
  }
}

function synchronous<T>(result: T): T {
  if (typeof result === "object" && result !== null && "then" in result) {
    throw new TypeError("what runs exclusively must be synchronous, not return a promise");
  }
  return result;
}

/** @throws TypeError */
export function checkStoreOptions(options: RevocationStoreOptions): {
  readonly refreshEvery: number;
  readonly staleAfter: number;
} {
  const { refreshEvery = 100, staleAfter = 5 } = options;
  if (!Number.isFinite(refreshEvery) || refreshEvery < 0) {
    throw new TypeError("refreshEvery must be 0 or more milliseconds");
  }
  if (!Number.isFinite(staleAfter) || staleAfter * 1000 <= refreshEvery) {
    throw new TypeError("staleAfter must be seconds, and longer than refreshEvery");
  }
  return { refreshEvery, staleAfter };
}
