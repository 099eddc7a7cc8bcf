import { setImmediate as nextTurn } from "node:timers/promises";
import { assertString } from "../../checks/kinds.js";
import {
  covers,
  entryOf,
  type KeptRevocation,
  type RevocationEntry,
  readEntry,
} from "../../revocation/entry.js";
import type { RevocationSnapshot } from "../../revocation/list.js";
import { oldestFirst } from "../../revocation/oldest-first.js";
import { Pace } from "../../revocation/pace.js";
import type {
  RevocationAddition,
  RevocationQuery,
  RevocationQuota,
  RevocationRecords,
  RevocationSink,
  RevocationSource,
} from "../../revocation/source.js";
import { RevocationTable } from "../../revocation/table.js";
import type { StorageError } from "../../storage/storage-error.js";
import type { StoreQueries, TableDatabase } from "../database.js";
import { type Following, RevocationMirror } from "./mirror.js";
import { RevocationRows } from "./rows.js";

/**
 * Revocations in a database that several processes share. Each process keeps the revoked objects in memory, each with
 * the end of its revocation, so a look-up needs no I/O. It also follows the revocations of other processes. Times and
 * reasons are read from the database when needed. Each revoked link takes 28 bytes of memory at a million links. Made
 * by `openRevocations`.
 *
 * Look-ups never throw. While the database cannot be read, tokens with a known revocation are still refused.
 * After `staleAfter` seconds, or once the database is closed, every token is refused.
 */
export class RevocationStore implements RevocationSource, RevocationSink, RevocationRecords {
  readonly #database: TableDatabase;
  readonly #rows: RevocationRows;
  readonly #staleAfter: number;
  readonly #clock: () => number;
  readonly #mirror: RevocationMirror;
  /** Written entries that the next read will fetch together. */
  #written: KeptRevocation[] = [];
  #readingBack: Promise<void> | undefined;

  /** @internal Use `openRevocations`. */
  constructor(database: TableDatabase, staleAfter: number, clock: () => number) {
    this.#database = database;
    this.#rows = new RevocationRows(database.name);
    this.#mirror = new RevocationMirror(database, this.#rows);
    this.#staleAfter = staleAfter;
    this.#clock = clock;
  }

  /** Returns the kind and id of every entry that concerns the token. */
  find(query: RevocationQuery): RevocationEntry[] {
    return this.#mirror.find(query);
  }

  /**
   * Reads from the database every entry that concerns the token, with its time and reason.
   *
   * @throws StorageError if the database cannot be read.
   */
  async entriesOf(query: RevocationQuery): Promise<readonly RevocationEntry[]> {
    const found = await this.#database.read((db) =>
      Promise.all(this.find(query).map((thing) => this.#rows.known(db, thing))),
    );
    // An expired entry may have been removed since it was found.
    return found.filter((entry) => entry !== undefined).map(entryOf);
  }

  isCurrent(): boolean {
    return this.age < this.#staleAfter;
  }

  /**
   * Reads new revocations, unless the last read is at most three intervals (`refreshEvery`) old.
   * @see RevocationSource.catchUp
   */
  catchUp(): Promise<void> {
    return this.#mirror.catchUp();
  }

  /** The version of the list; grows with every change and never shrinks. */
  get version(): number {
    return this.#mirror.version;
  }

  /** Number of entries. */
  get size(): number {
    return this.#mirror.size;
  }

  /** Seconds since the list was last known to match the database. */
  get age(): number {
    return this.#mirror.age;
  }

  /** The reason why the last read of the database failed; absent if it succeeded. */
  get problem(): StorageError | undefined {
    return this.#mirror.problem;
  }

  /**
   * Reads every entry, oldest first.
   *
   * @throws StorageError if the database cannot be read.
   */
  async list(): Promise<readonly RevocationEntry[]> {
    return (await this.#read()).entries;
  }

  /**
   * Reads the list as data, oldest entry first, in the form of `RevocationList`.
   *
   * @param trustedUntil - The time until which copies may be trusted, such as `2026-01-31T23:59:59Z`.
   * @throws StorageError if the database cannot be read.
   */
  async snapshot(trustedUntil: string): Promise<RevocationSnapshot> {
    assertString(trustedUntil, "trustedUntil");
    const { version, entries } = await this.#read();
    return { version, trustedUntil, entries };
  }

  /** Reads every entry, oldest first, with the version of the list. */
  async #read(): Promise<Pick<RevocationSnapshot, "version" | "entries">> {
    const { version } = await this.#database.read((db) => this.#rows.state(db));
    this.#rows.assertGrown(this.version, version);
    const whole = new RevocationTable();
    const pace = new Pace();
    let since = 0;
    for (let more = true; more; ) {
      const changes = await this.#database.read((db) => this.#rows.changes(db, since));
      for (const entry of changes.entries) whole.add(entry);
      ({ reached: since, more } = changes);
      if (pace.isOver) await pace.rest();
    }
    const entries: RevocationEntry[] = [];
    for (const kept of await oldestFirst(whole.kept())) {
      entries.push(entryOf(kept));
      if (pace.isOver) await pace.rest();
    }
    // The entries may be newer than `version`. Two snapshots with different contents must not have the same
    // version.
    return { version: Math.max(version, since), entries };
  }

  /**
   * Adds an entry. Resolves once the entry has been written to the database and read back, and is in force in
   * this process. Other processes read it within their `refreshEvery`. If the same object has an entry, both
   * are merged: the result revokes everything that either entry revokes, until the later time. Written even if
   * the disk is nearly full.
   *
   * @param quota - The party whose quota the entry counts against; none unless given.
   * @throws TypeError if the entry is not well formed.
   * @throws StorageError if the entry could not be written or read back; treat the entry as not added.
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
   * @returns The number of entries removed.
   * @throws TypeError if `now` is not a finite number.
   * @throws StorageError if the entries could not be removed.
   */
  async prune(now: number = this.#clock()): Promise<number> {
    if (!Number.isFinite(now)) throw new TypeError("now must be milliseconds since 1970");
    const removed = await this.#rows.prune(this.#database, Math.floor(now / 1000));
    await this.#mirror.look((action) => this.#database.read(action));
    return removed;
  }

  /**
   * Runs `action` while no other process can write to the list, or run an action of its own. The lock is
   * released if the process dies. The entries that `action` adds are committed when the returned promise
   * resolves. If `action` throws, no entry is added, and the error is rethrown.
   *
   * @param action - Adds entries with the function passed to it, and awaits each call; that function throws
   *   once the action has settled. The action must not await `store.add`, which would wait for the action.
   * @throws StorageError if an entry could not be written or read back; `store_locked` if another process held
   *   the lock for 2 seconds; `store_timeout` if the action has not settled within 10 seconds (`writeTimeout`
   *   of `openStores`).
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

  /** @internal */
  follow(how: Following): Promise<void> {
    return this.#mirror.follow(how);
  }

  #put(
    db: StoreQueries,
    entry: KeptRevocation,
    quota?: RevocationQuota,
  ): Promise<RevocationAddition> {
    const now = Math.floor(this.#clock() / 1000);
    return this.#rows.put(db, entry, { now, least: this.version, quota });
  }

  /** Reads written entries back, together with all entries that were written in the same turn of the event loop. */
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

  async #readBack(db: StoreQueries, entries: readonly KeptRevocation[]): Promise<void> {
    for (const entry of entries) {
      const found = await this.#rows.known(db, entry);
      if (found === undefined || !covers(found.record, entry.record)) {
        throw this.#rows.corrupt("a revocation that was written is not there");
      }
      await this.#mirror.add(found);
    }
    await this.#mirror.look((action) => action(db));
  }
}
