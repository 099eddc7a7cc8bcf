import type { IssuedCapability, Ledger, LedgerEvent, LedgerQuery } from "../../agent/ledger.js";
import { parseTime } from "../../caveats/time.js";
import { assertMembers } from "../../checks/members.js";
import { type StoreDatabase, type TableDatabase, tablesOf } from "../database.js";
import { type Batch, type LedgerGap, Notes, type NotesOptions } from "./notes.js";
import { assertQuery, readEvents, readGaps, readIssued } from "./reading.js";
import { eventRow } from "./row.js";
import { insertEvents, insertIssued, KnownHops, removeOld } from "./writing.js";

/** Options of a ledger. */
export interface LedgerOptions extends NotesOptions {
  /** Number of days for which `prune` keeps events; 90 unless given. */
  readonly retention?: number;
}

const OPTIONS = ["interval", "capacity", "retention", "onProblem", "clock"];
const DAY = 24 * 60 * 60 * 1000;
const MAX_INTERVAL = 60_000;
const MAX_RETENTION = 36_500;

/**
 * A ledger in a database. Several processes may write to it and read it at the same time.
 *
 * Events passed to `commit` are durable once the promise resolves. Events passed to `note` are written in batches:
 * within `interval` milliseconds, or as soon as 512 events wait.
 */
export class LedgerStore implements Ledger {
  readonly #database: TableDatabase;
  readonly #notes: Notes;
  readonly #hops = new KnownHops();
  readonly #retention: number;
  readonly #clock: () => number;
  #closed: Promise<void> | undefined;

  /**
   * @param database - A database of the stores. The ledger does not close it.
   * @throws TypeError if an option is wrong.
   */
  constructor(database: StoreDatabase, options: LedgerOptions = {}) {
    assertMembers(options, OPTIONS, "options");
    const { interval = 100, capacity = 100_000, retention = 90 } = options;
    const { onProblem = () => {}, clock = Date.now } = options;
    if (!Number.isFinite(interval) || interval < 0 || interval > MAX_INTERVAL) {
      throw new TypeError("interval must be 0 to 60,000 milliseconds");
    }
    if (!Number.isSafeInteger(capacity) || capacity < 1) {
      throw new TypeError("capacity must be a whole number of at least 1");
    }
    if (!Number.isSafeInteger(retention) || retention < 1 || retention > MAX_RETENTION) {
      throw new TypeError("retention must be 1 to 36,500 whole days");
    }
    this.#database = tablesOf(database);
    this.#retention = retention * DAY;
    this.#clock = clock;
    this.#notes = new Notes({ interval, capacity, onProblem, clock }, (batch) =>
      this.#writeBatch(batch),
    );
  }

  /** The reason why the last batch of noted events could not be written; absent if it was written. */
  get problem(): Error | undefined {
    return this.#notes.problem;
  }

  /**
   * Queues an event, which is written soon. The event is not copied, so do not change it afterwards.
   *
   * @throws TypeError if the ledger is closed.
   */
  note(event: LedgerEvent): void {
    this.#assertOpen();
    this.#notes.add(event);
  }

  /**
   * Writes an event and the capabilities that were issued with it. Resolves once all are committed.
   *
   * @param options.urgent - Writes the event even if the disk is nearly full; for revocations only.
   * @throws TypeError if the event or a capability is invalid, or a capability's id is already in use.
   * @throws StorageError if the event could not be written. The caller must then not perform the action that
   *   the event records.
   */
  async commit(
    event: LedgerEvent,
    issued: readonly IssuedCapability[] = [],
    options: { readonly urgent?: boolean } = {},
  ): Promise<void> {
    this.#assertOpen();
    const row = eventRow(event);
    for (const { id, expires } of issued) {
      if (typeof id !== "string" || id === "" || parseTime(expires) === undefined) {
        throw new TypeError("an issued capability must have an id, and expire at a time");
      }
    }
    const hops = this.#hops.newIn([event]);
    await this.#database.write(async (db) => {
      await insertIssued(db, issued);
      await insertEvents(db, [row], hops);
    }, options);
    this.#hops.add(hops);
  }

  /**
   * Returns an issued capability that has not expired.
   *
   * @throws StorageError if the database cannot be read.
   */
  async issued(id: string): Promise<IssuedCapability | undefined> {
    this.#assertOpen();
    return readIssued(this.#database, id, this.#clock());
  }

  /**
   * Returns events, oldest first, including events that this process has noted but not yet written. Each hop of
   * a path has its contents if the ledger still has them.
   *
   * @throws TypeError if the query is invalid.
   * @throws StorageError if noted events cannot be written, or the database cannot be read.
   */
  async list(query: LedgerQuery = {}): Promise<readonly LedgerEvent[]> {
    this.#assertOpen();
    assertQuery(query);
    await this.#notes.drain();
    return readEvents(this.#database, query);
  }

  /**
   * Returns the periods in which events were lost because they could not be written, oldest first, each with
   * the number of lost events.
   *
   * @throws StorageError if the database cannot be read.
   */
  async gaps(): Promise<readonly LedgerGap[]> {
    this.#assertOpen();
    return readGaps(this.#database);
  }

  /**
   * Removes events older than `retention`, and issued capabilities that have expired, in small transactions.
   * Keeps the issuance event of a capability that has not expired.
   *
   * @returns The number of rows removed.
   * @throws StorageError if the rows cannot be removed.
   */
  async prune(): Promise<number> {
    this.#assertOpen();
    const now = this.#clock();
    return removeOld(this.#database, now - this.#retention, now, () => this.#closed !== undefined);
  }

  /**
   * Writes all events noted so far.
   *
   * @throws StorageError if writing fails; the events are kept, and are written later.
   */
  async flush(): Promise<void> {
    this.#assertOpen();
    await this.#notes.drain();
  }

  /**
   * Writes the waiting events, and closes the ledger. The database stays open.
   *
   * @throws StorageError if the events cannot be written; they are then lost.
   */
  async close(): Promise<void> {
    this.#closed ??= this.#notes.drain().finally(() => this.#notes.stop());
    await this.#closed;
  }

  #assertOpen(): void {
    if (this.#closed !== undefined) throw new TypeError("the ledger is closed");
  }

  async #writeBatch({ rows, events, lost }: Batch): Promise<void> {
    const hops = this.#hops.newIn(events);
    await this.#database.write(async (db) => {
      if (lost !== undefined) await db.insertInto("gap").values(lost).execute();
      await insertEvents(db, rows, hops);
    });
    this.#hops.add(hops);
  }
}

/**
 * Opens the ledger in a database of the stores. Close the ledger before the database.
 *
 * @throws TypeError if an option is wrong.
 *
 * @example
 * ```ts
 * import { mkdtempSync } from "node:fs";
 * import { tmpdir } from "node:os";
 * import { join } from "node:path";
 * import { createIssuer, createKeyring, createRevocationList } from "proviso/issuer";
 * import { createStores, openLedger } from "proviso/stores";
 *
 * const database = await createStores(join(mkdtempSync(join(tmpdir(), "proviso-")), "proviso.db"));
 * const ledger = openLedger(database);
 * const revocations = createRevocationList();
 * const issuer = createIssuer({ name: "documents-agent", keys: createKeyring(), revocations });
 * const { capability, identifier } = issuer.issue(() => ({
 *   grant: "documents:read",
 *   operations: ["retrieve"],
 * }));
 *
 * const { id, expires } = capability;
 * const who = { principal: "alice", invoker: "assistant" };
 * const at = new Date().toISOString();
 * await ledger.commit({ kind: "issuance", at, decision: "allowed", capability: id, ...who }, [
 *   { id, identifier, hop: JSON.stringify(capability.hop), ...who, expires },
 * ]);
 * (await ledger.issued(id))?.principal; // => "alice"
 * await ledger.close();
 * await database.close();
 * ```
 */
export function openLedger(database: StoreDatabase, options: LedgerOptions = {}): LedgerStore {
  return new LedgerStore(database, options);
}
