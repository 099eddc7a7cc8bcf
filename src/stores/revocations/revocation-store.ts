import { setImmediate as nextTurn, setTimeout as sleep } from "node:timers/promises";
import type { Kysely, Transaction } from "kysely";
import {
  covers,
  entryOf,
  type KeptRevocation,
  type RevocationEntry,
  readEntry,
} from "../../revocation/entry.js";
import type { RevocationSnapshot } from "../../revocation/list.js";
import { PackedTable } from "../../revocation/packed/packed-table.js";
import type { RevocationAddition, RevocationQuota, RevocationSink } from "../../revocation/sink.js";
import type {
  RevocationQuery,
  RevocationRecords,
  RevocationSource,
} from "../../revocation/source.js";
import { RevocationTable } from "../../revocation/table.js";
import { StorageError, storeError } from "../../storage/storage-error.js";
import type { StoreDatabase, StoreTables } from "../database.js";
import { RevocationRows } from "./rows.js";

/** Milliseconds after which a look is given up: another one may be answered. */
const PATIENCE = 2000;

/** Milliseconds of removing entries after which other work is let run. */
const STEP = 2;

/**
 * Revocations in a database that several processes share. Each process holds in memory what is revoked and
 * until when, so that a look-up does no I/O, and follows what the others revoke; when and why is read from the
 * database. Ten million revoked links take 24 bytes each. Made by `openRevocations`.
 *
 * Look-ups never throw. While the database cannot be read, what is known goes on being refused, and
 * after `staleAfter` seconds everything is. So it is once the database is closed.
 */
export class RevocationStore implements RevocationSource, RevocationSink, RevocationRecords {
  readonly #database: StoreDatabase;
  readonly #rows: RevocationRows;
  readonly #staleAfter: number;
  readonly #clock: () => number;
  readonly #table: PackedTable = new PackedTable();
  #version = 0;
  #pruned = 0;
  #pruning: Promise<void> = Promise.resolve();
  /** When the last look that succeeded began, in milliseconds of `performance`. */
  #readAt = Number.NEGATIVE_INFINITY;
  #problem: StorageError | undefined;
  /** What is read back next, in one go. */
  #written: KeptRevocation[] = [];
  #readingBack: Promise<void> | undefined;

  /** @internal Use `openRevocations`. */
  constructor(database: StoreDatabase, staleAfter: number, clock: () => number) {
    this.#database = database;
    this.#rows = new RevocationRows(database.name);
    this.#staleAfter = staleAfter * 1000;
    this.#clock = clock;
  }

  /** The kind and id of every entry that concerns the token. */
  find(query: RevocationQuery): RevocationEntry[] {
    return this.#table.find(query);
  }

  /**
   * Every entry that concerns the token, as the database has it: with when and why.
   *
   * @throws StorageError
   */
  async entriesOf(query: RevocationQuery): Promise<readonly RevocationEntry[]> {
    const found = await this.#database.read((db) =>
      Promise.all(this.find(query).map((thing) => this.#rows.known(db, thing))),
    );
    // What is over may have been removed since it was found.
    return found.filter((entry) => entry !== undefined).map(entryOf);
  }

  isCurrent(): boolean {
    // By a clock that no one sets: the age of the list must not depend on the time of day.
    return performance.now() - this.#readAt < this.#staleAfter;
  }

  /** The version of the list: grows with every change and never shrinks. */
  get version(): number {
    return this.#version;
  }

  /** How many entries there are. */
  get size(): number {
    return this.#table.size;
  }

  /** Seconds since the list was last known to be what the database says. */
  get age(): number {
    return (performance.now() - this.#readAt) / 1000;
  }

  /** Why the last look at the database failed; absent if it did not. */
  get problem(): StorageError | undefined {
    return this.#problem;
  }

  /**
   * Reads every entry, oldest first.
   *
   * @throws StorageError
   */
  async list(): Promise<readonly RevocationEntry[]> {
    const whole = new RevocationTable();
    let since: number | undefined = 0;
    while (since !== undefined) {
      const from: number = since;
      const { entries, more } = await this.#database.read((db) => this.#rows.changes(db, from));
      for (const entry of entries) whole.add(entry);
      since = more;
    }
    return whole.entries();
  }

  /**
   * Reads the list as data, oldest entry first, as `RevocationList` gives it.
   *
   * @param trustedUntil - Until when a copy elsewhere may rely on it; a time such as `2026-01-31T23:59:59Z`.
   * @throws StorageError
   */
  async snapshot(trustedUntil: string): Promise<RevocationSnapshot> {
    // What is revoked while the list is read may be in it, too; nothing of this version is missing.
    const version = this.#version;
    return { version, trustedUntil, entries: await this.list() };
  }

  /**
   * Adds an entry. When the promise is fulfilled, the entry is in the database, has been read back
   * from there and counts here; other processes see it within their `refreshEvery`. Of two for the
   * same thing, what either revokes is revoked, for as long as either says. It is written even when
   * the disk is nearly full.
   *
   * @param quota - The party that the entry counts against; none unless given.
   * @throws TypeError if the entry is not well formed.
   * @throws StorageError The entry must then be taken as not added.
   */
  async add(entry: RevocationEntry, quota?: RevocationQuota): Promise<RevocationAddition> {
    const kept = readEntry(entry);
    const addition = await this.#database.write((db) => this.#put(db, kept, quota), {
      urgent: true,
    });
    if (addition !== "over_quota") await this.#confirm([kept]);
    return addition;
  }

  /**
   * Removes entries whose tokens have all expired.
   *
   * @param now - Milliseconds since 1970; the store's clock unless given.
   * @returns How many were removed.
   * @throws TypeError if `now` is not a finite number.
   * @throws StorageError as `add` does.
   */
  async prune(now: number = this.#clock()): Promise<number> {
    if (!Number.isFinite(now)) throw new TypeError("now must be milliseconds since 1970");
    const removed = await this.#database.write(
      (db) => this.#rows.prune(db, Math.floor(now / 1000)),
      { urgent: true },
    );
    await this.#look((action) => this.#database.read(action));
    return removed;
  }

  /**
   * Runs `action` while no other process can write to the list, or be in its own `exclusively`: a
   * lock that is lifted if the process dies. What `action` adds is committed when it is done; if it
   * throws, nothing is, and its error is thrown on.
   *
   * @param action - Adds entries by the function that it is given: `store.add` would wait for itself.
   * @throws StorageError as `add` does; `store_locked` if another process held the lock for 2 seconds.
   */
  async exclusively<T>(
    action: (add: (entry: RevocationEntry) => Promise<void>) => T | Promise<T>,
  ): Promise<T> {
    const added: KeptRevocation[] = [];
    const result = await this.#database.write(
      async (db) => {
        await this.#rows.lock(db);
        return action(async (entry) => {
          const kept = readEntry(entry);
          await this.#put(db, kept);
          added.push(kept);
        });
      },
      { urgent: true },
    );
    await this.#confirm(added);
    return result;
  }

  /**
   * Reads everything, then looks every so often for what has changed.
   *
   * @internal
   */
  async follow(refreshEvery: number): Promise<void> {
    await this.#database.read((db) => this.#rows.check(db, this.#database.dialect));
    await this.#look((action) => this.#database.read(action));
    const again = (): void => {
      setTimeout(async () => {
        if (await this.#refresh()) again();
      }, refreshEvery).unref();
    };
    again();
  }

  /** One look; `false` once the database is closed. */
  async #refresh(): Promise<boolean> {
    const { name } = this.#database;
    try {
      await this.#look((action) => inTime(this.#database.read(action), name));
      this.#problem = undefined;
    } catch (error) {
      if (this.#database.isClosed) return false;
      this.#problem = storeError(error, name);
    }
    return true;
  }

  #put(
    db: Transaction<StoreTables>,
    entry: KeptRevocation,
    quota?: RevocationQuota,
  ): Promise<RevocationAddition> {
    const now = Math.floor(this.#clock() / 1000);
    return this.#rows.put(db, entry, { now, least: this.#version, quota });
  }

  /** Reads back what was written. All that is written in one turn is read back at once. */
  async #confirm(entries: readonly KeptRevocation[]): Promise<void> {
    if (entries.length === 0) return;
    this.#written.push(...entries);
    this.#readingBack ??= nextTurn().then(() => {
      const written = this.#written;
      this.#written = [];
      this.#readingBack = undefined;
      return this.#database.readAfresh((db) => this.#readBack(db, written));
    });
    await this.#readingBack;
  }

  async #readBack(db: Kysely<StoreTables>, entries: readonly KeptRevocation[]): Promise<void> {
    for (const entry of entries) {
      const found = await this.#rows.known(db, entry);
      if (found === undefined || !covers(found.record, entry.record)) {
        throw this.#rows.corrupt("a revocation that was written is not there");
      }
      await this.#pruning;
      this.#table.add(found);
    }
    await this.#look((action) => action(db));
  }

  /** Takes over what the database has beyond what is known. */
  async #look(
    read: <T>(action: (db: Kysely<StoreTables>) => Promise<T>) => Promise<T>,
  ): Promise<void> {
    const began = performance.now();
    const known = this.#version;
    const { version, pruned } = await read((db) => this.#rows.state(db));
    this.#rows.assertGrown(known, version);
    if (pruned > this.#pruned) {
      this.#pruned = pruned;
      this.#pruning = this.#pruning.then(() => this.#remove(pruned));
    }
    // What is revoked anew after that must not go with it.
    await this.#pruning;
    for (let since = known; since < version; ) {
      const { entries, more = version } = await read((db) => this.#rows.changes(db, since));
      for (const entry of entries) this.#table.add(entry);
      since = more;
      this.#version = Math.max(this.#version, Math.min(more, version));
    }
    this.#readAt = Math.max(this.#readAt, began);
  }

  /** Removes from memory what has been removed from the database. */
  async #remove(pruned: number): Promise<void> {
    let began = performance.now();
    for (const _ of this.#table.pruning(pruned)) {
      if (performance.now() - began < STEP) continue;
      await nextTurn();
      began = performance.now();
    }
  }
}

/** Gives up a look that is not answered. */
function inTime<T>(look: Promise<T>, name: string): Promise<T> {
  const answered = new AbortController();
  const options = { ref: false, signal: answered.signal };
  const late = sleep(PATIENCE, undefined, options).then(() => {
    const detail = `no answer for ${PATIENCE / 1000} s`;
    throw new StorageError("store_unreachable", name, { detail });
  });
  return Promise.race([look, late]).finally(() => answered.abort());
}
