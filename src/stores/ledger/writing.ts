import { sql } from "kysely";
import { LRUCache } from "lru-cache";
import type { IssuedCapability, LedgerEvent } from "../../agent/ledger.js";
import { formatTime } from "../../caveats/time.js";
import { BATCH, inBatches } from "../batches.js";
import type { StoreQueries, TableDatabase } from "../database.js";
import { type EventRow, hopText, issuedRow, whatOf } from "./row.js";

type Writing = StoreQueries;

const DAY = 24 * 60 * 60 * 1000;
/** Maximum number of hops in one INSERT, because one statement can bind only a limited number of values. */
const MAX_HOPS = 1000;
/** Maximum number of stored hops that are remembered. */
const KNOWN = 10_000;

/** The contents of a hop, and the time of the event that had the hop, in milliseconds since 1970. */
interface ToldHop {
  readonly revocation: string;
  readonly hop: string;
  readonly at: number;
}

/** Remembers which hops are stored, so that most events write no hops. */
export class KnownHops {
  readonly #kept = new LRUCache<string, number>({ max: KNOWN });

  /** Returns the hops of the events, except hops that are known to have been written within the last day. */
  newIn(events: readonly LedgerEvent[]): readonly ToldHop[] {
    const told = new Map<string, ToldHop>();
    for (const { at, path = [] } of events) {
      const now = Date.parse(at);
      for (const hop of path) {
        const { revocationId: revocation } = hop;
        if (now < (this.#kept.get(revocation) ?? Number.NEGATIVE_INFINITY) + DAY) continue;
        const text = hopText(hop);
        if (text !== undefined) told.set(revocation, { revocation, hop: text, at: now });
      }
    }
    // In a fixed order, so that two processes cannot deadlock.
    return [...told.values()].sort((a, b) => (a.revocation < b.revocation ? -1 : 1));
  }

  /** Records that these hops are committed. */
  add(hops: readonly ToldHop[]): void {
    for (const { revocation, at } of hops) this.#kept.set(revocation, at);
  }
}

export async function insertEvents(
  db: Writing,
  rows: readonly EventRow[],
  hops: readonly ToldHop[],
): Promise<void> {
  if (rows.length > 0) await db.insertInto("event").values(rows).execute();
  for (let from = 0; from < hops.length; from += MAX_HOPS) {
    await db
      .insertInto("hop")
      .values(hops.slice(from, from + MAX_HOPS))
      .onConflict((conflict) =>
        conflict.column("revocation").doUpdateSet({ at: (eb) => eb.ref("excluded.at") }),
      )
      .execute();
  }
}

/** @throws TypeError if a capability's id is already stored, or given twice. */
export async function insertIssued(
  db: Writing,
  issued: readonly IssuedCapability[],
): Promise<void> {
  for (const capability of issued) {
    const { numInsertedOrUpdatedRows } = await db
      .insertInto("issued")
      .values(issuedRow(capability))
      .onConflict((conflict) => conflict.doNothing())
      .executeTakeFirstOrThrow();
    if (numInsertedOrUpdatedRows === 0n) {
      throw new TypeError(`capability ${capability.id} was issued before`);
    }
  }
}

/**
 * Removes old events and expired issued capabilities, in small transactions. Never removes the issuance event
 * of a capability that has not expired.
 *
 * @param before - The time before which events are old, in milliseconds since 1970.
 * @param now - Milliseconds since 1970.
 * @param isOver - Called after each transaction. Returns `true` to stop; a later call handles the remaining
 *   rows.
 * @returns The number of rows removed.
 */
export async function removeOld(
  database: TableDatabase,
  before: number,
  now: number,
  isOver: () => boolean,
): Promise<number> {
  const expired = formatTime(now);
  const most = sql.lit(BATCH);
  const steps = [
    sql`DELETE FROM issued WHERE id IN
      (SELECT id FROM issued WHERE expires <= ${expired} LIMIT ${most})`,
    sql`DELETE FROM event WHERE seq IN
      (SELECT seq FROM event
        WHERE at < ${before} AND (what <> ${whatOf("issuance", "allowed")}
          OR NOT EXISTS (SELECT id FROM issued WHERE issued.id = event.capability))
        ORDER BY at LIMIT ${most})`,
    // The stored time of a hop is updated only once a day, so hops are kept one day longer than events.
    sql`DELETE FROM hop WHERE revocation IN
      (SELECT revocation FROM hop WHERE at < ${before - DAY} LIMIT ${most})`,
    sql`DELETE FROM gap WHERE until < ${formatTime(before)}`,
  ];
  let removed = 0;
  for (const step of steps) {
    removed += await inBatches(
      database,
      async (db) => Number((await step.execute(db)).numAffectedRows ?? 0),
      isOver,
    );
    if (isOver()) break;
  }
  return removed;
}
