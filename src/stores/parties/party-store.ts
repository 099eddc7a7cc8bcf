import { setTimeout as sleep } from "node:timers/promises";
import type {
  PartyDraft,
  PartyStore,
  PartyView,
  SingleUse,
  UseOutcome,
} from "../../agent/parties/store.js";
import { assertMembers } from "../../checks/members.js";
import { StorageError } from "../../storage/storage-error.js";
import { errorCode } from "../../system/error-code.js";
import { type StoreDatabase, type TableDatabase, tablesOf } from "../database.js";
import { KnownHops } from "../ledger/writing.js";
import { Change, Conflict } from "./change.js";
import { type PruneCursors, pruneParties } from "./pruning.js";
import { UsedOnce } from "./used-once.js";
import { viewOf } from "./view.js";

/** Options of the store of parties. */
export interface PartyStoreOptions {
  /**
   * Number of days after which `prune` removes approvals, grants, agents and hosts that have ended, delegations that
   * have expired, and unlinked hosts that are unused; 90 unless given.
   */
  readonly retention?: number | undefined;
  /** Maximum number of times that a change runs if it conflicts with other changes; 50 unless given. */
  readonly runs?: number | undefined;
  /**
   * Maximum number of one-time ids that the store remembers, counted separately for strangers and for all
   * other parties; 500,000 each unless given. Further uses are refused until some ids expire.
   */
  readonly mostUsed?: number | undefined;
}

const DAY = 24 * 60 * 60 * 1000;

const MAX_RETENTION = 36_500;

const MAX_RUNS = 1000;

const MOST_USED = 500_000;

/**
 * Milliseconds before a change runs again: a random pause. Its maximum grows with each run, from the first
 * value to the second.
 */
const [FIRST_PAUSE, LONGEST_PAUSE] = [4, 100];

class StoredParties implements PartyStore {
  readonly #database: TableDatabase;
  readonly #retention: number;
  readonly #runs: number;
  readonly #used: UsedOnce;
  readonly #usedByStrangers: UsedOnce;
  readonly #places: PruneCursors = {};
  readonly #hops = new KnownHops();

  constructor(database: StoreDatabase, options: PartyStoreOptions) {
    assertMembers(options, ["retention", "runs", "mostUsed"], "options");
    const { retention = 90, runs = 50, mostUsed = MOST_USED } = options;
    if (!Number.isSafeInteger(retention) || retention < 1 || retention > MAX_RETENTION) {
      throw new TypeError("options.retention: must be 1 to 36,500 whole days");
    }
    if (!Number.isSafeInteger(runs) || runs < 1 || runs > MAX_RUNS) {
      throw new TypeError("options.runs: must be a whole number, 1 to 1,000");
    }
    if (!Number.isSafeInteger(mostUsed) || mostUsed < 1) {
      throw new TypeError("options.mostUsed: must be a whole number of at least 1");
    }
    this.#database = tablesOf(database);
    this.#retention = retention * DAY;
    this.#runs = runs;
    this.#used = new UsedOnce(this.#database, { most: mostUsed, stranger: 0 });
    this.#usedByStrangers = new UsedOnce(this.#database, { most: mostUsed, stranger: 1 });
  }

  async read<T>(look: (view: PartyView) => Promise<T>): Promise<T> {
    return this.#database.read((db) => look(viewOf({ db, name: this.#database.name })));
  }

  async change<T>(change: (draft: PartyDraft) => Promise<T>): Promise<T> {
    for (let run = 1; ; run++) {
      try {
        return await this.#run(change);
      } catch (error) {
        if (!isConflict(error)) throw error;
        if (run >= this.#runs) {
          const detail = `others changed the same records ${run} times in the meantime; nothing was changed`;
          throw new StorageError("store_locked", this.#database.name, { detail, cause: error });
        }
      }
      await sleep(Math.random() * Math.min(FIRST_PAUSE * run, LONGEST_PAUSE));
    }
  }

  async useOnce(use: SingleUse, now: number): Promise<UseOutcome> {
    assertMembers(use, ["scope", "id", "expires", "most", "stranger"], "use");
    if (!Number.isSafeInteger(use.expires)) {
      throw new TypeError("use.expires: must be whole milliseconds");
    }
    if (use.most !== undefined && (!Number.isSafeInteger(use.most) || use.most < 1)) {
      throw new TypeError("use.most: must be a whole number of at least 1");
    }
    return (use.stranger === true ? this.#usedByStrangers : this.#used).use(use, now);
  }

  async prune(now: number): Promise<number> {
    return pruneParties(this.#database, now, now - this.#retention, this.#places);
  }

  async #run<T>(change: (draft: PartyDraft) => Promise<T>): Promise<T> {
    const { name, dialect } = this.#database;
    const { value, told } = await this.#database.write(async (db) => {
      const started = new Change({ db, name, dialect });
      try {
        return { value: await change(started.draft), told: await started.finish(this.#hops) };
      } finally {
        started.end();
      }
    });
    this.#hops.add(told);
    return value;
  }
}

/** Returns whether an error is a version conflict or a violation of a unique constraint. */
function isConflict(error: unknown): boolean {
  if (error instanceof Conflict) return true;
  const code = error instanceof StorageError ? errorCode(error.cause) : "";
  return TAKEN.includes(code);
}

/** Error codes of PostgreSQL and SQLite for a violation of a unique constraint. */
const TAKEN = ["23505", "SQLITE_CONSTRAINT_UNIQUE", "SQLITE_CONSTRAINT_PRIMARYKEY"];

/**
 * Opens the store of hosts, agents, their grants, approvals and delegations in a database, which the caller
 * closes. Several processes may share the database.
 *
 * @throws TypeError naming the option that is wrong.
 */
export function openParties(database: StoreDatabase, options: PartyStoreOptions = {}): PartyStore {
  return new StoredParties(database, options);
}
