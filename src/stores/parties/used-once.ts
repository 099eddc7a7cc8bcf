import { hash } from "node:crypto";
import { sql } from "kysely";
import type { SingleUse, UseOutcome } from "../../agent/parties/store.js";
import { inBatches } from "../batches.js";
import type { StoreQueries, TableDatabase } from "../database.js";
import { usedOnceOver } from "./pruning.js";

/** Maximum number of uses that one transaction writes. */
const CHUNK = 500;

/** Number of uses after which expired uses are removed. */
const SWEEP = 1000;

/**
 * Maximum number of transactions of one removal. Together, they remove more rows than were added since the last
 * removal.
 */
const STEPS = 10;

/** Milliseconds until a full table is counted again. */
const PAUSE = 1000;

interface Waiting {
  readonly key: string;
  readonly scope: string;
  readonly use: SingleUse;
  readonly now: number;
  readonly settle: (outcome: UseOutcome) => void;
  readonly fail: (error: unknown) => void;
}

/** A group of rows with a common limit. */
interface Room {
  /** Maximum number of rows in the group. */
  readonly most: number;
  /** 1 for the uses of strangers, 0 for all others. */
  readonly stranger: 0 | 1;
}

/**
 * One-time ids with a common limit. Calls that arrive during a transaction share the next transaction. Its rows
 * are ordered by key, so that two processes with the same ids cannot deadlock.
 */
export class UsedOnce {
  readonly #database: TableDatabase;
  readonly #room: Room;
  #waiting: Waiting[] = [];
  #working: Promise<void> | undefined;
  /** Number of rows at the last count; `undefined` before the first count. */
  #counted: number | undefined;
  #countedAt = 0;
  /** Number of uses since the last count. */
  #since = 0;

  constructor(database: TableDatabase, room: Room) {
    this.#database = database;
    this.#room = room;
  }

  use(use: SingleUse, now: number): Promise<UseOutcome> {
    const key = hash("sha256", JSON.stringify([use.scope, use.id]), "base64url");
    const scope = hash("sha256", use.scope, "base64url");
    return new Promise((settle, fail) => {
      this.#waiting.push({ key, scope, use, now, settle, fail });
      this.#working ??= this.#work();
    });
  }

  async #work(): Promise<void> {
    // Calls of the same turn of the event loop share a transaction.
    await Promise.resolve();
    while (this.#waiting.length > 0) {
      const some = this.#waiting.splice(0, CHUNK);
      try {
        const now = Math.max(...some.map((one) => one.now));
        const outcomes = (await this.#hasRoom(now)) ? await this.#write(some, now) : undefined;
        for (const [at, { settle }] of some.entries()) settle(outcomes?.[at] ?? "full");
      } catch (error) {
        for (const { fail } of some) fail(error);
      }
    }
    this.#working = undefined;
  }

  /** Returns whether the group has room for another use. Removes expired uses at intervals. */
  async #hasRoom(now: number): Promise<boolean> {
    const isFull = (): boolean => (this.#counted ?? 0) + this.#since >= this.#room.most;
    const looked = performance.now() - this.#countedAt < PAUSE;
    if (this.#counted !== undefined && this.#since < SWEEP && (!isFull() || looked)) {
      return !isFull();
    }
    let steps = 0;
    await inBatches(
      this.#database,
      async (db) => Number((await usedOnceOver(now).execute(db)).numAffectedRows ?? 0),
      () => ++steps === STEPS,
    );
    const { rows } = await this.#database.read((db) =>
      sql<{ readonly count: number }>`SELECT count(*) AS count FROM used_once
        WHERE stranger = ${this.#room.stranger}`.execute(db),
    );
    this.#counted = Number(rows[0]?.count);
    this.#countedAt = performance.now();
    this.#since = 0;
    return !isFull();
  }

  async #write(some: readonly Waiting[], now: number): Promise<readonly UseOutcome[]> {
    const [outcomes, added] = await this.#database.write(async (db) => {
      const counts = await countsOf(db, some, now);
      const fitting = new Map<string, Waiting>();
      for (const one of some) {
        const { most = Number.POSITIVE_INFINITY } = one.use;
        const count = counts.get(one.scope) ?? 0;
        if (count >= most || fitting.has(one.key)) continue;
        fitting.set(one.key, one);
        counts.set(one.scope, count + 1);
      }
      const first = await insert(db, [...fitting.values()], this.#room);
      const added = first.size;
      const outcomes = some.map(({ key }): UseOutcome => {
        // If several calls have the same id, only one of them gets `first`.
        if (first.delete(key)) return "first";
        return fitting.has(key) ? "used" : "scope_full";
      });
      return [outcomes, added] as const;
    });
    this.#since += added;
    return outcomes;
  }
}

/** Counts the remembered uses of each scope with a limit. */
async function countsOf(
  db: StoreQueries,
  some: readonly Waiting[],
  now: number,
): Promise<Map<string, number>> {
  const limited = some.filter(({ use }) => use.most !== undefined);
  const scopes = new Set(limited.map(({ scope }) => scope));
  if (scopes.size === 0) return new Map();
  const rows = await db
    .selectFrom("used_once")
    .select((is) => ["scope", is.fn.countAll<number>().as("count")])
    .where("scope", "in", [...scopes])
    .where("expires", ">", now)
    .groupBy("scope")
    .execute();
  return new Map(rows.map(({ scope, count }) => [scope, Number(count)]));
}

/** @returns The keys that were not stored before. */
async function insert(
  db: StoreQueries,
  some: readonly Waiting[],
  { stranger }: Room,
): Promise<Set<string>> {
  if (some.length === 0) return new Set();
  const rows = some.map(({ key, scope, use: { expires } }) => ({ key, scope, stranger, expires }));
  const written = await db
    .insertInto("used_once")
    .values(rows.sort((a, b) => (a.key < b.key ? -1 : 1)))
    .onConflict((conflict) => conflict.doNothing())
    .returning("key")
    .execute();
  return new Set(written.map(({ key }) => key));
}
