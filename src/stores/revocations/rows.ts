import { type Kysely, type Selectable, sql, type Transaction } from "kysely";
import {
  checkedRevocation,
  covers,
  type KeptRevocation,
  mergeRecords,
} from "../../revocation/entry.js";
import type { RevocationAddition, RevocationQuota } from "../../revocation/sink.js";
import type { DatabaseDialect } from "../../storage/columns.js";
import { StorageError } from "../../storage/storage-error.js";
import type { StoreTables } from "../database.js";

/** How an entry is added. */
interface PutOptions {
  /** Seconds since 1970: entries that are over count against no quota. */
  readonly now: number;
  /** A version that the list has had. */
  readonly known: number;
  readonly quota?: RevocationQuota | undefined;
}

/** What the list is at. */
export interface RevocationState {
  readonly version: number;
  /** Seconds since 1970: entries whose `until` is this or earlier have been removed. */
  readonly pruned: number;
}

/** Entries that are read at once: their rows are many times as large as what is kept of them. */
const CHUNK = 5000;

/** Of the years 0000 and 9999, which a time can be written with. */
const FIRST_SECOND = Date.parse("0000-01-01T00:00:00Z") / 1000;
const LAST_SECOND = Date.parse("9999-12-31T23:59:59Z") / 1000;

interface Checked {
  readonly quick_check: string;
}

type Row = Selectable<StoreTables["revocation"]>;

/** The rows of revocations in one database; every value that comes out of it is checked. */
export class RevocationRows {
  readonly #name: string;

  /** @param name - Of the database, for messages. */
  constructor(name: string) {
    this.#name = name;
  }

  /**
   * Looks for damage that reading need not come upon; PostgreSQL does so by itself.
   *
   * @throws StorageError `store_corrupt`.
   */
  async check(db: Kysely<StoreTables>, dialect: DatabaseDialect): Promise<void> {
    if (dialect !== "sqlite") return;
    const { rows } = await sql<Checked>`PRAGMA quick_check(revocation)`.execute(db);
    if (rows.length !== 1 || rows[0]?.quick_check !== "ok") {
      throw this.corrupt("SQLite's quick_check fails");
    }
  }

  /** @throws StorageError */
  async state(db: Kysely<StoreTables>): Promise<RevocationState> {
    const rows = await db.selectFrom("revocation_state").select(["version", "pruned"]).execute();
    const [state] = rows;
    return { version: this.#whole(state?.version), pruned: this.#whole(state?.pruned) };
  }

  /**
   * Entries that have changed since a version, in the order of their changes.
   *
   * @returns The entries, and the version of the last where there may be more.
   * @throws StorageError
   */
  async changes(
    db: Kysely<StoreTables>,
    since: number,
  ): Promise<{ readonly entries: readonly KeptRevocation[]; readonly more?: number }> {
    const rows = await db
      .selectFrom("revocation")
      .select(["kind", "id", "before", "until", "at", "reason", "changed"])
      .where("changed", ">", since)
      .orderBy("changed")
      .limit(CHUNK)
      .execute();
    const entries = rows.map((row) => this.#entry(row));
    return rows.length < CHUNK ? { entries } : { entries, more: this.#whole(rows.at(-1)?.changed) };
  }

  /** The entry for the same thing, if there is one. @throws StorageError */
  async known(
    db: Kysely<StoreTables>,
    { kind, id }: Pick<KeptRevocation, "kind" | "id">,
  ): Promise<KeptRevocation | undefined> {
    const row = await db
      .selectFrom("revocation")
      .select(["kind", "id", "before", "until", "at", "reason"])
      .where("kind", "=", kind)
      .where("id", "=", JSON.stringify(id))
      .executeTakeFirst();
    return row === undefined ? undefined : this.#entry(row);
  }

  /** Makes every other writer wait for the end of the transaction. @throws StorageError */
  async lock(db: Transaction<StoreTables>): Promise<void> {
    await this.#advance(db, 0);
  }

  /**
   * Adds entries to what is there, and says of each what came of it.
   *
   * @throws StorageError
   */
  async put(
    db: Transaction<StoreTables>,
    entries: readonly KeptRevocation[],
    options: PutOptions,
  ): Promise<RevocationAddition[]> {
    // First of all: other writers wait here, so that versions are committed in their order.
    const version = (await this.#advance(db, entries.length)) - entries.length;
    const { known } = options;
    if (version < known) throw this.corrupt(`its version fell from ${known} to ${version}`);
    const additions: RevocationAddition[] = [];
    for (const [at, entry] of entries.entries()) {
      additions.push(await this.#put(db, entry, version + at + 1, options));
    }
    return additions;
  }

  /**
   * Removes what is over.
   *
   * @param now - Seconds since 1970.
   * @returns How many were removed.
   * @throws StorageError
   */
  async prune(db: Transaction<StoreTables>, now: number): Promise<number> {
    await this.lock(db);
    const { version, pruned } = await this.state(db);
    const { numDeletedRows } = await db
      .deleteFrom("revocation")
      .where("until", "<=", now)
      .executeTakeFirst();
    if (numDeletedRows > 0n) {
      const state = { version: version + 1, pruned: Math.max(pruned, now) };
      await db.updateTable("revocation_state").set(state).execute();
    }
    return Number(numDeletedRows);
  }

  /** The error for contents that cannot be. */
  corrupt(detail: string): StorageError {
    return new StorageError("store_corrupt", this.#name, { detail });
  }

  async #put(
    db: Transaction<StoreTables>,
    entry: KeptRevocation,
    changed: number,
    { now, quota }: PutOptions,
  ): Promise<RevocationAddition> {
    const known = await this.known(db, entry);
    if (known !== undefined && covers(known.record, entry.record)) return "known";
    const party = quota === undefined ? null : JSON.stringify(quota.party);
    if (known === undefined && quota !== undefined) {
      if ((await this.#countOf(db, party, now)) >= quota.most) return "over_quota";
    }
    const { kind, id, record } = entry;
    const merged = known === undefined ? record : mergeRecords(known.record, record);
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

  /** The version after it has grown. */
  async #advance(db: Transaction<StoreTables>, by: number): Promise<number> {
    const row = await db
      .updateTable("revocation_state")
      .set((is) => ({ version: is("version", "+", by) }))
      .returning("version")
      .executeTakeFirst();
    return this.#whole(row?.version);
  }

  async #countOf(db: Transaction<StoreTables>, party: string | null, now: number): Promise<number> {
    const row = await db
      .selectFrom("revocation")
      .select((is) => is.fn.countAll<number>().as("count"))
      .where("party", "=", party)
      .where((is) => is.or([is("until", "is", null), is("until", ">", now)]))
      .executeTakeFirst();
    return this.#whole(row?.count);
  }

  #entry(row: Omit<Row, "changed" | "party">): KeptRevocation {
    try {
      return checkedRevocation(row.kind, textFrom(row.id), {
        before: row.before === null ? undefined : this.#time(row.before),
        until: row.until === null ? undefined : this.#time(row.until),
        at: this.#time(row.at),
        reason: textFrom(row.reason),
      });
    } catch (error) {
      if (error instanceof StorageError) throw error;
      throw this.corrupt("a revocation in it is not well formed");
    }
  }

  #time(value: unknown): number {
    if (typeof value === "number" && Number.isSafeInteger(value)) {
      if (value >= FIRST_SECOND && value <= LAST_SECOND) return value;
    }
    throw this.corrupt("a time in it is wrong");
  }

  #whole(value: unknown): number {
    if (typeof value === "number" && Number.isSafeInteger(value) && value >= 0) return value;
    throw this.corrupt("a number in it is wrong");
  }
}

/** @throws TypeError or SyntaxError for what is neither null nor a JSON string. */
function textFrom(value: unknown): string | undefined {
  if (value === null) return undefined;
  const text: unknown = typeof value === "string" ? JSON.parse(value) : value;
  if (typeof text === "string") return text;
  throw new TypeError("this is not a text");
}
