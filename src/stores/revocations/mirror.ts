import type { KeptRevocation, RevocationEntry } from "../../revocation/entry.js";
import { Pace } from "../../revocation/pace.js";
import type { RevocationQuery } from "../../revocation/source.js";
import { unanswered } from "../../storage/database.js";
import { inTime } from "../../storage/in-time.js";
import { type StorageError, storeError } from "../../storage/storage-error.js";
import type { StoreQueries, TableDatabase } from "../database.js";
import { PackedTable } from "./packed-table.js";
import type { RevocationRows, RevocationState } from "./rows.js";

/** Milliseconds after which a look at the database is abandoned; another may be answered. */
const PATIENCE = 2000;
/** Number of intervals after which code that can wait waits for another look: this process was stopped or is busy. */
const FEW = 3;

/** A moment, in milliseconds. */
interface Moment {
  /** By `performance`. */
  readonly running: number;
  /** Milliseconds since 1970. */
  readonly ofDay: number;
}

/** Reads from the database. */
type Read = <T>(action: (db: StoreQueries) => Promise<T>) => Promise<T>;

/** Called with the fraction done, from 0 to 1. */
type Progress = (part: number) => void;

/** Options for following the database. */
export interface Following {
  /** Milliseconds. */
  readonly refreshEvery: number;
  readonly onLoading: Progress;
}

/** A copy of the database's revocations in memory, with all that a check needs. */
export class RevocationMirror {
  readonly #database: TableDatabase;
  readonly #rows: RevocationRows;
  readonly #table: PackedTable = new PackedTable();
  #state: RevocationState = { version: 0, pruned: 0 };
  #pruning: Promise<void> = Promise.resolve();
  /** Start of the last successful look, by both clocks. */
  #readAt: Moment = { running: Number.NEGATIVE_INFINITY, ofDay: 0 };
  #problem: StorageError | undefined;
  #refreshEvery = 0;
  #refreshing: Promise<boolean> | undefined;

  constructor(database: TableDatabase, rows: RevocationRows) {
    this.#database = database;
    this.#rows = rows;
  }

  get version(): number {
    return this.#state.version;
  }

  get size(): number {
    return this.#table.size;
  }

  /**
   * Seconds since then, by the larger of two clocks: one that nobody sets back but that may stop with the
   * machine, and the time of day.
   */
  get age(): number {
    const { running, ofDay } = this.#readAt;
    return Math.max(performance.now() - running, Date.now() - ofDay) / 1000;
  }

  /** The reason why the last look failed; absent if it succeeded. */
  get problem(): StorageError | undefined {
    return this.#problem;
  }

  find(query: RevocationQuery): RevocationEntry[] {
    return this.#table.find(query);
  }

  /** Reads everything, then looks for changes at each interval. */
  async follow({ refreshEvery, onLoading }: Following): Promise<void> {
    const [database, rows] = [this.#database, this.#rows];
    this.#refreshEvery = refreshEvery;
    await database.read((db) => rows.check(db, database.dialect));
    await this.look((action) => database.read(action), onLoading);
    // The first look may have begun longer ago than the list may be relied on.
    await this.look((action) => database.read(action));
    const again = (): void => {
      setTimeout(async () => {
        if (await this.#refresh()) again();
      }, refreshEvery).unref();
    };
    again();
  }

  /** Implements {@link RevocationSource.catchUp}. */
  async catchUp(): Promise<void> {
    const isBehind = (): boolean => this.age * 1000 > FEW * this.#refreshEvery;
    // The pending look may have read before this process was stopped, or been abandoned for that: look once
    // more.
    for (let looks = 0; looks < 2 && isBehind(); looks++) {
      const isUnderWay = this.#refreshing !== undefined;
      await this.#refresh();
      if (this.#database.isClosed || (this.#problem !== undefined && !isUnderWay)) return;
    }
  }

  /** Takes over an entry that is in the database. */
  async add(entry: KeptRevocation): Promise<void> {
    await this.#pruning;
    this.#table.add(entry);
  }

  /**
   * Takes over changes of the database since the last look.
   *
   * @throws StorageError
   */
  async look(read: Read, progress: Progress = () => {}): Promise<void> {
    const began: Moment = { running: performance.now(), ofDay: Date.now() };
    const known = this.version;
    const { version, pruned } = await read((db) => this.#rows.state(db));
    this.#rows.assertGrown(known, version);
    if (pruned > this.#state.pruned) {
      this.#state = { ...this.#state, pruned };
      this.#pruning = this.#pruning.then(() => this.#remove(pruned));
    }
    // Entries revoked anew after that must not be removed with it.
    await this.#pruning;
    const pace = new Pace();
    // Reads past `version` too: entries revoked anew during the look have moved there.
    for (let [since, more] = [known, known < version]; more; ) {
      const changes = await read((db) => this.#rows.changes(db, since));
      for (const entry of changes.entries) this.#table.add(entry);
      ({ reached: since, more } = changes);
      // Not past it: entries newer than `pruned` are read again after the next pruning.
      const reached = Math.max(this.version, more ? Math.min(since, version) : version);
      this.#state = { ...this.#state, version: reached };
      progress((reached - known) / (version - known));
      if (pace.isOver) await pace.rest();
    }
    if (began.running > this.#readAt.running) this.#readAt = began;
  }

  /** One look, shared by all callers while it is pending; `false` once the database is closed. */
  #refresh(): Promise<boolean> {
    this.#refreshing ??= this.#refreshed().finally(() => {
      this.#refreshing = undefined;
    });
    return this.#refreshing;
  }

  async #refreshed(): Promise<boolean> {
    const { name } = this.#database;
    const late = () => unanswered(name, PATIENCE);
    try {
      await this.look((action) => inTime(this.#database.read(action), PATIENCE, late));
      this.#problem = undefined;
    } catch (error) {
      if (this.#database.isClosed) return false;
      this.#problem = storeError(error, name);
    }
    return true;
  }

  /** Removes the entries that were removed from the database. */
  async #remove(pruned: number): Promise<void> {
    const pace = new Pace();
    for (const _ of this.#table.pruning(pruned)) if (pace.isOver) await pace.rest();
  }
}
