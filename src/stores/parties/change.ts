import { type RawBuilder, sql } from "kysely";
import type { LedgerEvent } from "../../agent/ledger.js";
import type { PartyDraft, PartyRecords } from "../../agent/parties/store.js";
import type { DatabaseDialect } from "../../storage/columns.js";
import type { StoreQueries } from "../database.js";
import { type EventRow, eventRow } from "../ledger/row.js";
import { insertEvents, type KnownHops } from "../ledger/writing.js";
import { APPROVERS, type Approver, CLAIMS, COLUMNS, type Kind, key, TABLES } from "./kinds.js";
import { SHAPES } from "./shapes.js";
import { viewOf } from "./view.js";

/**
 * Thrown if another transaction changed a record between the read and the write of this transaction. The change
 * then runs again.
 */
export class Conflict extends Error {
  override readonly name = "Conflict";
}

/** The database that a change writes to. */
export interface Target {
  readonly db: StoreQueries;
  /** The name of the database. */
  readonly name: string;
  readonly dialect: DatabaseDialect;
}

/** A change in progress: its reads and writes, in a transaction that is not yet committed. */
export class Change {
  /** The argument of the callback. */
  readonly draft: PartyDraft;
  readonly #target: Target;
  /** The version in which each record was read first or written last, by kind and id; 0 for a new record. */
  readonly #versions = new Map<string, number>();
  readonly #events: LedgerEvent[] = [];
  readonly #rows: EventRow[] = [];
  #conflict: Conflict | undefined;
  #over = false;

  constructor(target: Target) {
    this.#target = target;
    const open = (): StoreQueries => this.#open();
    const view = viewOf({
      get db() {
        return open();
      },
      name: target.name,
      saw: (kind, id, version) => this.#saw(kind, id, version),
    });
    this.draft = {
      ...view,
      put: (kind, kept) => this.#put(kind, kept),
      remove: (kind, kept) => this.#remove(kind, kept.id),
      note: (event) => this.#note(event),
    };
  }

  /**
   * Writes the ledger events of the change. Later use of the draft throws.
   *
   * @returns The hops of the events, to be remembered as stored once the transaction is committed.
   * @throws Conflict if there was a conflict, even if the callback caught the error.
   */
  async finish(hops: KnownHops): Promise<ReturnType<KnownHops["newIn"]>> {
    if (this.#conflict !== undefined) throw this.#conflict;
    const told = hops.newIn(this.#events);
    await insertEvents(this.#open(), this.#rows, told);
    this.#over = true;
    return told;
  }

  /**
   * Makes later use of the draft throw, whether the change succeeded or failed, because another transaction
   * will soon use the connection.
   */
  end(): void {
    this.#over = true;
  }

  #open(): StoreQueries {
    if (this.#over) throw new TypeError("this change is over");
    return this.#target.db;
  }

  #note(event: LedgerEvent): void {
    this.#open();
    this.#rows.push(eventRow(event));
    this.#events.push(event);
  }

  #saw(kind: Kind, id: string, version: number): void {
    const known = this.#versions.get(versionKey(kind, id));
    if (known === undefined) this.#versions.set(versionKey(kind, id), version);
    // In PostgreSQL, this transaction sees what other transactions have committed meanwhile.
    else if (known !== version) throw this.#conflicts();
  }

  async #put<K extends Kind>(kind: K, kept: PartyRecords[K]): Promise<void> {
    const row = rowOf(kind, kept);
    const version = this.#versions.get(versionKey(kind, kept.id));
    const write = () => (version ? this.#update(kind, row, version) : this.#insert(kind, row));
    if (!(await this.#claim(kind, kept)) || !(await write())) {
      if (version === undefined) await this.#assertRead(kind, kept.id);
      throw this.#conflicts();
    }
    this.#versions.set(versionKey(kind, kept.id), (version ?? 0) + 1);
    await putApprovers(this.#open(), row.id, APPROVERS[kind](kept));
  }

  async #remove(kind: Kind, id: string): Promise<void> {
    const version = this.#versions.get(versionKey(kind, id));
    if (!version) throw new TypeError(`${kind}: a record must be read before it is removed`);
    const table = sql.table(TABLES[kind]);
    const statement = sql`DELETE FROM ${table} WHERE ${this.#unchanged(kind, key(id), version)}`;
    const { numAffectedRows } = await statement.execute(this.#open());
    if (numAffectedRows !== 1n) throw this.#conflicts();
    this.#versions.set(versionKey(kind, id), 0);
  }

  /**
   * Returns a condition for a record of this version. A record that another transaction is changing does not
   * match, so that the conflict shows at once, without waiting.
   */
  #unchanged(kind: Kind, id: string, version: number): RawBuilder<unknown> {
    const read = sql`id = ${id} AND version = ${version}`;
    if (this.#target.dialect !== "postgres") return read;
    const table = sql.table(TABLES[kind]);
    return sql`${read} AND id IN (SELECT id FROM ${table} WHERE ${read} FOR UPDATE SKIP LOCKED)`;
  }

  /**
   * Returns whether no other transaction is claiming the same value. This transaction does not
   * wait for the other transaction. If the other transaction waited too, both would be in a deadlock.
   */
  async #claim<K extends Kind>(kind: K, kept: PartyRecords[K]): Promise<boolean> {
    const claim = CLAIMS[kind](kept);
    if (claim === undefined || this.#target.dialect !== "postgres") return true;
    const lock = JSON.stringify([kind, claim]);
    const { rows } = await sql<{ free: boolean }>`
      SELECT pg_try_advisory_xact_lock(hashtextextended(${lock}, 0)) AS free`.execute(this.#open());
    return rows[0]?.free === true;
  }

  async #insert(kind: Kind, row: Row): Promise<boolean> {
    const all = { ...row, version: 1 };
    const names = sql.join(Object.keys(all).map((name) => sql.ref(name)));
    const { numAffectedRows } = await sql`INSERT INTO ${sql.table(TABLES[kind])} (${names})
      VALUES (${sql.join(Object.values(all))}) ON CONFLICT DO NOTHING`.execute(this.#open());
    return numAffectedRows === 1n;
  }

  async #update(kind: Kind, row: Row, version: number): Promise<boolean> {
    const table = sql.table(TABLES[kind]);
    const values = Object.entries({ ...row, version: version + 1 });
    const changes = sql.join(values.map(([name, value]) => sql`${sql.ref(name)} = ${value}`));
    const unchanged = this.#unchanged(kind, row.id, version);
    const { numAffectedRows } =
      await sql`UPDATE ${table} SET ${changes} WHERE ${unchanged}`.execute(this.#open());
    return numAffectedRows === 1n;
  }

  /**
   * @throws TypeError if the record exists, but the change has not read it. Without this error, every run of the change
   *   would end in a conflict.
   */
  async #assertRead(kind: Kind, id: string): Promise<void> {
    const statement = sql`SELECT 1 FROM ${sql.table(TABLES[kind])} WHERE id = ${key(id)}`;
    const { rows } = await statement.execute(this.#open());
    if (rows.length > 0) {
      throw new TypeError(
        `${kind}: a record that is there must be read before another is put in its place`,
      );
    }
  }

  // Remember the conflict, since the callback might catch the error.
  #conflicts(): Conflict {
    this.#conflict ??= new Conflict("another change came between");
    return this.#conflict;
  }
}

/** A record as a row of its table. */
interface Row {
  readonly id: string;
  readonly [column: string]: string | number | null;
}

/** @throws TypeError if `kept` is not a record of this kind. */
function rowOf<K extends Kind>(kind: K, kept: PartyRecords[K]): Row {
  const body = JSON.stringify(kept);
  // Check the record in the same way as when it is read.
  if (!SHAPES[kind](JSON.parse(body))) throw new TypeError(`this is not a record of ${kind}`);
  return { ...COLUMNS[kind](kept), id: key(kept.id), created: kept.created, body };
}

function versionKey(kind: Kind, id: string): string {
  return `${kind} ${id}`;
}

async function putApprovers(
  db: StoreQueries,
  approval: string,
  approvers: readonly Approver[],
): Promise<void> {
  if (approvers.length === 0) return;
  const rows = approvers.map((one) => ({ ...one, principal: key(one.principal), approval }));
  const insert = db.insertInto("approver").values(rows);
  await insert
    .onConflict((conflict) =>
      conflict
        .columns(["principal", "approval"])
        .doUpdateSet(({ ref }) => ({ decided: ref("excluded.decided") })),
    )
    .execute();
}
