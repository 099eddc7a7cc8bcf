import type { KeptRevocation, RevocationEntry } from "../../revocation/entry.js";
import { Pace } from "../../revocation/pace.js";
import type { RevocationQuery } from "../../revocation/source.js";
import { unanswered } from "../../storage/database.js";
import { inTime } from "../../storage/in-time.js";
import { type StorageError, storeError } from "../../storage/storage-error.js";
import type { StoreQueries, TableDatabase } from "../database.js";
import { PackedTable } from "./packed-table.js";
import type { RevocationRows, RevocationState } from "./rows.js";

/** Milliseconds after which a look is given up: another one may be answered. */
const PATIENCE = 2000;
/** Intervals after which a look is too long ago for who can wait: this process was stopped, or is busy. */
const FEW = 3;

/** A moment, in milliseconds. */
interface Moment {
  /** Of `performance`. */
  readonly running: number;
  /** Since 1970. */
  readonly ofDay: number;
}

/** Reads from the database. */
type Read = <T>(action: (db: StoreQueries) => Promise<T>) => Promise<T>;

/** Called with the part that is done, from 0 to 1. */
type Progress = (part: number) => void;

/** How the database is followed. */
export interface Following {
  /** Milliseconds. */
  readonly refreshEvery: number;
  readonly onLoading: Progress;
}

/** What the database says is revoked, in memory: enough for a check. */
export class RevocationMirror {
  readonly #database: TableDatabase;
  readonly #rows: RevocationRows;
  readonly #table: PackedTable = new PackedTable();
  #state: RevocationState = { version: 0, pruned: 0 };
  #pruning: Promise<void> = Promise.resolve();
  /** When the last look that succeeded began, by both clocks. */
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

  /** Seconds: by a clock that no one sets back, and by the time of day, since the first may stop with the machine. */
  get age(): number {
    const { running, ofDay } = this.#readAt;
    return Math.max(performance.now() - running, Date.now() - ofDay) / 1000;
  }

  /** Why the last look failed; absent if it did not. */
  get problem(): StorageError | undefined {
    return this.#problem;
  }

  find(query: RevocationQuery): RevocationEntry[] {
    return this.#table.find(query);
  }

  /** Reads everything, then looks every so often for what has changed. */
  async follow({ refreshEvery, onLoading }: Following): Promise<void> {
    const [database, rows] = [this.#database, this.#rows];
    this.#refreshEvery = refreshEvery;
    await database.read((db) => rows.check(db, database.dialect));
    await this.look((action) => database.read(action), onLoading);
    // The first may have begun longer ago than the list may be relied on.
    await this.look((action) => database.read(action));
    const again = (): void => {
      setTimeout(async () => {
        if (await this.#refresh()) again();
      }, refreshEvery).unref();
    };
    again();
  }

  /** As {@link RevocationSource.catchUp} promises. */
  async catchUp(): Promise<void> {
    const isBehind = (): boolean => this.age * 1000 > FEW * this.#refreshEvery;
    // One that is under way may have been read, or given up, because this process was stopped: then one look more.
    for (let looks = 0; looks < 2 && isBehind(); looks++) {
      const isUnderWay = this.#refreshing !== undefined;
      await this.#refresh();
      if (this.#database.isClosed || (this.#problem !== undefined && !isUnderWay)) return;
    }
  }

  /** Takes over an entry that the database has. */
  async add(entry: KeptRevocation): Promise<void> {
    await this.#pruning;
    this.#table.add(entry);
  }

  /**
   * Takes over what the database has beyond what is known.
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
    // What is revoked anew after that must not go with it.
    await this.#pruning;
    const pace = new Pace();
    // Past `version` too: what is revoked anew during the look has moved there.
    for (let [since, more] = [known, known < version]; more; ) {
      const changes = await read((db) => this.#rows.changes(db, since));
      for (const entry of changes.entries) this.#table.add(entry);
      ({ reached: since, more } = changes);
      // Not past it: entries that are newer than `pruned` are read again after the next pruning.
      const reached = Math.max(this.version, more ? Math.min(since, version) : version);
      this.#state = { ...this.#state, version: reached };
      progress((reached - known) / (version - known));
      if (pace.isOver) await pace.rest();
    }
    if (began.running > this.#readAt.running) this.#readAt = began;
  }

  /** One look, shared by all that ask while it is under way; `false` once the database is closed. */
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

  /** Removes what has been removed from the database. */
  async #remove(pruned: number): Promise<void> {
    const pace = new Pace();
    for (const _ of this.#table.pruning(pruned)) if (pace.isOver) await pace.rest();
  }
}
