import type { IssuedCapability, Ledger, LedgerEvent, LedgerQuery } from "../../agent/ledger.js";
import { parseTime } from "../../caveats/time.js";
import type { SqliteFile, WriteOptions } from "../../storage/sqlite-file.js";
import type { StorageError } from "../../storage/storage-error.js";
import { Notes } from "./notes.js";
import type { LedgerOptions } from "./options.js";
import { eventRow } from "./row.js";
import { type LedgerGap, LedgerTables } from "./tables.js";

/**
 * A ledger in a file, which an agent writes and others may read meanwhile. Made by
 * {@link openLedger}.
 *
 * What `commit` wrote survives any crash. What `note` took is written within `interval` milliseconds
 * or after 512 events, and then survives the end of this process, however it comes; a crash of the
 * whole system may lose what was noted since the last `commit` or `flush`.
 */
export class LedgerFile implements Ledger {
  /** The file, as it was named. */
  readonly path: string;
  /** Absent once the ledger is closed. */
  #file: SqliteFile | undefined;
  readonly #tables: LedgerTables;
  readonly #notes: Notes;
  readonly #clock: () => number;

  /** @internal Use {@link openLedger}. */
  constructor(file: SqliteFile, options: Required<LedgerOptions>) {
    this.path = file.name;
    this.#file = file;
    this.#tables = new LedgerTables(file);
    this.#clock = options.clock;
    this.#notes = new Notes(options, ({ rows, events, lost, wait }) => {
      this.#write({ durable: false, ...(wait === undefined ? {} : { wait }) }, (tables) => {
        if (lost !== undefined) tables.addGap(lost);
        tables.add(rows, events);
      });
    });
  }

  /** Why the last batch could not be written; absent if it was. */
  get problem(): StorageError | undefined {
    return this.#notes.problem;
  }

  /**
   * Notes an event, to be written soon. Costs next to nothing: the event is kept as it is, so it must
   * not be changed afterwards.
   *
   * @throws TypeError if the ledger is closed.
   */
  note(event: LedgerEvent): void {
    this.#open();
    this.#notes.add(event);
  }

  /**
   * Writes an event, with the capabilities that it issued, to the disk.
   *
   * @throws TypeError if the event or a capability is none, or one of its id is there already.
   * @throws StorageError if it could not be written: what it records must not happen then.
   */
  commit(event: LedgerEvent, issued: readonly IssuedCapability[] = []): void {
    this.#open();
    const rows = [eventRow(event)];
    const ids = new Set<string>();
    for (const { id, expires } of issued) {
      if (typeof id !== "string" || id === "" || parseTime(expires) === undefined) {
        throw new TypeError("an issued capability must have an id, and expire at a time");
      }
      ids.add(id);
    }
    const known = this.#write({ durable: true }, (tables) => {
      const taken = [...ids].find((id) => tables.has(id));
      if (taken !== undefined || ids.size < issued.length) return { taken };
      tables.add(rows, [event]);
      if (issued.length > 0) tables.prune(this.#clock());
      for (const capability of issued) tables.keep(capability);
      return undefined;
    });
    if (known !== undefined) {
      throw new TypeError(`capability ${known.taken ?? [...ids][0]} was issued before`);
    }
  }

  /** @throws StorageError if the file can not be read. */
  issued(id: string): IssuedCapability | undefined {
    this.#open();
    return this.#tables.issued(id, this.#clock());
  }

  /**
   * Events, oldest first. What the hops of a path say is added wherever an event has told it.
   *
   * @throws TypeError if the query asks for what there is not.
   * @throws StorageError if what was noted can not be written, or the file not be read.
   */
  list(query: LedgerQuery = {}): readonly LedgerEvent[] {
    this.#open();
    this.#notes.drain();
    return this.#tables.list(query);
  }

  /** When events were lost because they could not be written, and how many, oldest first. */
  gaps(): readonly LedgerGap[] {
    this.#open();
    return this.#tables.gaps();
  }

  /**
   * Removes issued capabilities that have expired; `commit` does so as well.
   *
   * @returns How many were removed.
   * @throws StorageError
   */
  prune(): number {
    return this.#write({ durable: false }, (tables) => tables.prune(this.#clock()));
  }

  /**
   * Writes all that was noted to the disk.
   *
   * @throws StorageError if that could not be done: it still waits then.
   */
  flush(): void {
    const file = this.#open();
    this.#notes.drain();
    file.sync();
  }

  /**
   * Writes what is left to the disk and lets go of the file.
   *
   * @throws StorageError if something was left and could not be written; the file is let go of.
   */
  close(): void {
    const file = this.#file;
    if (file === undefined) return;
    try {
      this.#notes.drain();
      file.sync();
    } finally {
      this.#notes.stop();
      this.#file = undefined;
      file.close();
    }
  }

  [Symbol.dispose](): void {
    this.close();
  }

  #open(): SqliteFile {
    if (this.#file === undefined) throw new TypeError("the ledger is closed");
    return this.#file;
  }

  #write<T>(options: WriteOptions, action: (tables: LedgerTables) => T): T {
    const tables = this.#tables;
    try {
      return this.#open().write(options, () => action(tables));
    } catch (error) {
      tables.forget();
      throw error;
    }
  }
}
