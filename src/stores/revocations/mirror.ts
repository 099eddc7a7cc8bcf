import type { KeptRevocation, RevocationEntry } from "../../revocation/entry.js";
import { Pace } from "../../revocation/pace.js";
import type { RevocationQuery } from "../../revocation/source.js";
import { unanswered } from "../../storage/database.js";
import { inTime } from "../../storage/in-time.js";
import { type StorageError, storeError } from "../../storage/storage-error.js";
import type { StoreQueries, TableDatabase } from "../database.js";
import { PackedTable } from "./packed-table.js";
import type { RevocationRows, RevocationState } from "./rows.js";

/** Milliseconds after which a refresh that waits for the database is abandoned. */
const PATIENCE = 2000;
/**
 * If the last refresh is older than this many intervals, `catchUp` waits for a new refresh, because this
 * process was stopped or is busy.
 */
const FEW = 3;

/** A moment, by two clocks. */
interface Moment {
  /** Milliseconds by the clock of `performance`, which never goes back. */
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
  /** Milliseconds between two refreshes. */
  readonly refreshEvery: number;
  readonly onLoading: Progress;
}

/** A copy of the database's revocations in memory, reduced to what a check needs. */
export class RevocationMirror {
  readonly #database: TableDatabase;
  readonly #rows: RevocationRows;
  readonly #table: PackedTable = new PackedTable();
  #state: RevocationState = { version: 0, pruned: 0 };
  #pruning: Promise<void> = Promise.resolve();
  /** The moment when the last successful refresh started. */
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
   * Seconds since the last successful refresh started: the larger value of two clocks. The monotonic clock may
   * stop while the machine sleeps, and the time of day may be set back.
   */
  get age(): number {
    const { running, ofDay } = this.#readAt;
    return Math.max(performance.now() - running, Date.now() - ofDay) / 1000;
  }

  /** The reason why the last refresh failed; absent if it succeeded. */
  get problem(): StorageError | undefined {
    return this.#problem;
  }

  find(query: RevocationQuery): RevocationEntry[] {
    return this.#table.find(query);
  }

  /** Reads all revocations, then refreshes them at each interval. */
  async follow({ refreshEvery, onLoading }: Following): Promise<void> {
    const [database, rows] = [this.#database, this.#rows];
    this.#refreshEvery = refreshEvery;
    await database.read((db) => rows.check(db, database.dialect));
    await this.look((action) => database.read(action), onLoading);
    // The first refresh of a long list takes long, so its start may already be too old.
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
    // A pending refresh may have read the database before this process was stopped, or may have been abandoned
    // because of the stop. So refresh once more.
    for (let looks = 0; looks < 2 && isBehind(); looks++) {
      const isUnderWay = this.#refreshing !== undefined;
      await this.#refresh();
      if (this.#database.isClosed || (this.#problem !== undefined && !isUnderWay)) return;
    }
  }

  /** Adds an entry that has been written to the database. */
  async add(entry: KeptRevocation): Promise<void> {
    await this.#pruning;
    this.#table.add(entry);
  }

  /**
   * Reads the changes in the database since the last refresh.
   *
   * @throws StorageError if the database cannot be read.
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
    // Wait for the removal, so that it does not remove an entry that has been revoked again.
    await this.#pruning;
    const pace = new Pace();
    // Also read past `version`, because an entry that is revoked again during the refresh gets a higher
    // version.
    for (let [since, more] = [known, known < version]; more; ) {
      const changes = await read((db) => this.#rows.changes(db, since));
      for (const entry of changes.entries) this.#table.add(entry);
      ({ reached: since, more } = changes);
      // The list counts as read up to `version` only: later entries may be newer than `pruned`, and must be
      // read again after the next removal.
      const reached = Math.max(this.version, more ? Math.min(since, version) : version);
      this.#state = { ...this.#state, version: reached };
      progress((reached - known) / (version - known));
      if (pace.isOver) await pace.rest();
    }
    if (began.running > this.#readAt.running) this.#readAt = began;
  }

  /** Starts a refresh, or joins the pending refresh; resolves to `false` once the database is closed. */
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
