import { type Selectable, sql } from "kysely";
import {
  checkedRevocation,
  covers,
  type KeptRevocation,
  mergeRecords,
} from "../../revocation/entry.js";
import type { RevocationAddition, RevocationQuota } from "../../revocation/source.js";
import type { DatabaseDialect } from "../../storage/columns.js";
import type { StorageError } from "../../storage/storage-error.js";
import { BATCH, inBatches } from "../batches.js";
import type { StoreQueries, StoreTables, TableDatabase } from "../database.js";
import { corrupt, readStored, textOf, whole } from "../stored-values.js";

/** Options for adding an entry. */
interface PutOptions {
  /** The current time, in seconds since 1970. Expired entries are not counted against a quota. */
  readonly now: number;
  /** A version that the list has already had. */
  readonly least: number;
  readonly quota?: RevocationQuota | undefined;
}

/** The state of the list. */
export interface RevocationState {
  readonly version: number;
  /** Seconds since 1970. Entries whose `until` is at or before this time have been removed. */
  readonly pruned: number;
}

/** Entries in the order of their changes. */
interface RevocationChanges {
  readonly entries: readonly KeptRevocation[];
  /** The version in which the last entry changed. */
  readonly reached: number;
  readonly more: boolean;
}

/** Maximum number of entries that one query reads, because rows take many times as much memory as packed entries. */
const CHUNK = 5000;

/** The first and the last second that a timestamp can express (years 0000 to 9999), in seconds since 1970. */
const FIRST_SECOND = Date.parse("0000-01-01T00:00:00Z") / 1000;
const LAST_SECOND = Date.parse("9999-12-31T23:59:59Z") / 1000;

/** The revocation rows of a database. Every value that is read is validated. All methods throw StorageErrors. */
export class RevocationRows {
  readonly #name: string;

  /** @param name - The name of the database, for messages. */
  constructor(name: string) {
    this.#name = name;
  }

  /** Checks for damage that normal reads may not notice; PostgreSQL does this check itself. */
  async check(db: StoreQueries, dialect: DatabaseDialect): Promise<void> {
    if (dialect !== "sqlite") return;
    const check = sql<{ readonly quick_check: string }>`PRAGMA quick_check(revocation)`;
    const { rows } = await check.execute(db);
    if (rows.length !== 1 || rows[0]?.quick_check !== "ok") {
      throw this.corrupt("SQLite's quick_check fails");
    }
  }

  async state(db: StoreQueries): Promise<RevocationState> {
    const state = await db
      .selectFrom("revocation_state")
      .select(["version", "pruned"])
      .executeTakeFirst();
    return { version: this.#count(state?.version), pruned: this.#count(state?.pruned) };
  }

  /**
   * Returns the entries that changed after a version, in the order of their changes.
   *
   * @returns The entries, the version of the last entry (`since` if there is no entry), and whether there may
   *   be more.
   */
  async changes(db: StoreQueries, since: number): Promise<RevocationChanges> {
    const rows = await db
      .selectFrom("revocation")
      .selectAll()
      .where("changed", ">", since)
      .orderBy("changed")
      .limit(CHUNK)
      .execute();
    const entries = this.#sound(() => rows.map(entryOf));
    const last = rows.at(-1);
    const reached = last === undefined ? since : this.#count(last.changed);
    return { entries, reached, more: rows.length === CHUNK };
  }

  /** Returns the existing entry for the same object. */
  async known(
    db: StoreQueries,
    { kind, id }: Pick<KeptRevocation, "kind" | "id">,
  ): Promise<KeptRevocation | undefined> {
    const row = await db
      .selectFrom("revocation")
      .selectAll()
      .where("kind", "=", kind)
      .where("id", "=", JSON.stringify(id))
      .executeTakeFirst();
    return this.#sound(() => row && entryOf(row));
  }

  /** Makes every other writer wait until this transaction ends, and returns the version. */
  lock(db: StoreQueries): Promise<number> {
    return this.#advance(db, 0);
  }

  /** Adds an entry, or merges it into the existing entry for the same object. Returns the outcome. */
  async put(
    db: StoreQueries,
    entry: KeptRevocation,
    { now, least, quota }: PutOptions,
  ): Promise<RevocationAddition> {
    // Lock first: other writers then wait, so that versions are committed in order.
    this.assertGrown(least, await this.lock(db));
    const known = await this.known(db, entry);
    if (known !== undefined && covers(known.record, entry.record)) return "known";
    const party = quota === undefined ? null : JSON.stringify(quota.party);
    if (known === undefined && quota !== undefined) {
      if ((await this.#countOf(db, party, now)) >= quota.most) return "over_quota";
    }
    const { kind, id, record } = entry;
    const merged = known === undefined ? record : mergeRecords(known.record, record);
    // Advance the version only if a row changes, since every version of the list is published.
    const changed = await this.#advance(db, 1);
    const columns = {
      before: merged.before ?? null,
      until: merged.until ?? null,
      at: merged.at,
      reason: merged.reason === undefined ? null : JSON.stringify(merged.reason),
      changed,
    };
    await db
      .insertInto("revocation")
      .values({ kind, id: JSON.stringify(id), party, ...columns })
      .onConflict((conflict) => conflict.columns(["kind", "id"]).doUpdateSet(columns))
      .execute();
    return "added";
  }

  /**
   * Removes expired entries in several transactions. Other processes still find the entries until the last
   * transaction is committed.
   *
   * @param now - Seconds since 1970.
   * @returns The number of records removed.
   */
  async prune(database: TableDatabase, now: number): Promise<number> {
    const removed = await inBatches(database, async (db) => {
      await this.lock(db);
      const over = db.selectFrom("revocation").where("until", "<=", now).limit(BATCH);
      const { numDeletedRows } = await db
        .deleteFrom("revocation")
        .where(({ eb, refTuple }) =>
          eb(refTuple("kind", "id"), "in", over.select(["kind", "id"]).$asTuple("kind", "id")),
        )
        .executeTakeFirst();
      return Number(numDeletedRows);
    });
    if (removed === 0) return 0;
    await database.write((db) => this.#notePruned(db, now), { urgent: true });
    return removed;
  }

  /** Throws if a version is lower than a version that the list has already had. */
  assertGrown(known: number, version: number): void {
    if (version < known) throw this.corrupt(`its version fell from ${known} to ${version}`);
  }

  /** Returns the error for contents that proviso cannot have written. */
  corrupt(detail: string): StorageError {
    return corrupt(this.#name, detail);
  }

  /** Increases the version, and returns the new version. */
  async #advance(db: StoreQueries, by: number): Promise<number> {
    const row = await db
      .updateTable("revocation_state")
      .set((is) => ({ version: is("version", "+", by) }))
      .returning("version")
      .executeTakeFirst();
    return this.#count(row?.version);
  }

  async #notePruned(db: StoreQueries, now: number): Promise<void> {
    await this.#advance(db, 1);
    const pruned = Math.max((await this.state(db)).pruned, now);
    await db.updateTable("revocation_state").set({ pruned }).execute();
  }

  async #countOf(db: StoreQueries, party: string | null, now: number): Promise<number> {
    const { count } = await db
      .selectFrom("revocation")
      .select((is) => is.fn.countAll<number>().as("count"))
      .where("party", "=", party)
      .where((is) => is.or([is("until", "is", null), is("until", ">", now)]))
      .executeTakeFirstOrThrow();
    return count;
  }

  #count(value: unknown): number {
    return this.#sound(() => {
      const count = whole(value);
      if (count < 0) throw new RangeError("a count is not negative");
      return count;
    });
  }

  #sound<T>(read: () => T): T {
    return readStored(this.#name, "a revocation", read);
  }
}

/** @throws TypeError, SyntaxError or RangeError if the row is damaged. */
function entryOf(row: Selectable<StoreTables["revocation"]>): KeptRevocation {
  return checkedRevocation(row.kind, textOf(row.id), {
    before: row.before === null ? undefined : timeOf(row.before),
    until: row.until === null ? undefined : timeOf(row.until),
    at: timeOf(row.at),
    reason: row.reason === null ? undefined : textOf(row.reason),
  });
}

function timeOf(value: unknown): number {
  const time = whole(value);
  if (time >= FIRST_SECOND && time <= LAST_SECOND) return time;
  throw new RangeError("there is no such time");
}
