import type { IssuedCapability, LedgerEvent, LedgerQuery } from "../../agent/ledger.js";
import type { Hop } from "../../caveats/hop.js";
import { formatTime } from "../../caveats/time.js";
import type { SqlValue, Statement } from "../../storage/sqlite-driver.js";
import { field, type SqliteFile } from "../../storage/sqlite-file.js";
import { type EventRow, eventOf, hopOfText, hopText } from "./row.js";
import { capabilityKey, principalKey, REFUSED_KEY, selection } from "./selection.js";

/** A stretch of time of which the ledger does not have everything. */
export interface LedgerGap {
  /** When the first event was lost, and when the last: `YYYY-MM-DDTHH:MM:SSZ`. */
  readonly from: string;
  readonly until: string;
  /** How many were lost. */
  readonly lost: number;
}

/** Rows of one INSERT: calling the database costs as much as what it does. */
const TOGETHER = 32;
/** Hops that are known to be in the file, after which they are forgotten. */
const MOST_KNOWN = 10_000;

const EVENT = "INSERT INTO event (at, what, principal, capability, body) VALUES ";
const PLACES = "(?, ?, ?, ?, ?)";

interface Writing {
  readonly one: Statement;
  readonly many: Statement;
  readonly mention: Statement;
  readonly hop: Statement;
  readonly keep: Statement;
  readonly gap: Statement;
  readonly prune: Statement;
}

/** The SQL of a ledger. Nothing here begins or ends a transaction. */
export class LedgerTables {
  readonly #file: SqliteFile;
  readonly #queries = new Map<string, Statement>();
  /** Prepared by the first that writes. */
  #writing: Writing | undefined;
  readonly #known = new Set<string>();

  constructor(file: SqliteFile) {
    this.#file = file;
  }

  /** Adds events, given as rows and as the hops that they name. */
  add(rows: readonly EventRow[], events: readonly LedgerEvent[]): void {
    const { one, many, mention } = this.#statements();
    const [row] = this.#rows("SELECT coalesce(max(seq), 0) AS last FROM event");
    const last = this.#number(row, "last");
    mention.run(last + 1, last + rows.length, JSON.stringify(mentioned(rows)));
    let at = 0;
    for (; at + TOGETHER <= rows.length; at += TOGETHER) {
      const values: SqlValue[] = [];
      for (const row of rows.slice(at, at + TOGETHER)) values.push(...columns(row));
      many.run(...values);
    }
    for (const row of rows.slice(at)) one.run(...columns(row));
    for (const { path = [] } of events) for (const hop of path) this.#addHop(hop);
  }

  /** What was added is not there after all. */
  forget(): void {
    this.#known.clear();
  }

  /** Whether an issued capability of that id is kept, expired or not. */
  has(id: string): boolean {
    return this.#query("SELECT 1 FROM issued WHERE id = ?").all(JSON.stringify(id)).length > 0;
  }

  keep(issued: IssuedCapability): void {
    const { id, identifier, hop, principal, invoker, expires, query } = issued;
    const body = JSON.stringify({ id, identifier, hop, principal, invoker, expires, query });
    this.#statements().keep.run(JSON.stringify(id), expires, body);
  }

  addGap({ from, until, lost }: LedgerGap): void {
    this.#statements().gap.run(from, until, lost);
  }

  /** Removes issued capabilities that have expired, and tells how many. */
  prune(now: number): number {
    return this.#statements().prune.run(formatTime(now)).changes;
  }

  issued(id: string, now: number): IssuedCapability | undefined {
    const sql = "SELECT body FROM issued WHERE id = ? AND expires > ?";
    const [row] = this.#rows(sql, JSON.stringify(id), formatTime(now));
    if (row === undefined) return undefined;
    const body = this.#sound("a capability", (): unknown => JSON.parse(this.#text(row, "body")));
    return {
      id: this.#text(body, "id"),
      identifier: this.#text(body, "identifier"),
      hop: this.#text(body, "hop"),
      principal: this.#text(body, "principal"),
      invoker: this.#text(body, "invoker"),
      expires: this.#text(body, "expires"),
      ...(field(body, "query") === undefined ? {} : { query: this.#text(body, "query") }),
    };
  }

  list(query: LedgerQuery): readonly LedgerEvent[] {
    const { sql, values } = selection(query);
    const rows = this.#rows(sql, ...values);
    const hops = new Map<string, Hop | undefined>();
    const hopOf = (id: string): Hop | undefined => {
      if (!hops.has(id)) hops.set(id, this.#hop(id));
      return hops.get(id);
    };
    return rows.map((row) => this.#event(row, hopOf)).reverse();
  }

  gaps(): readonly LedgerGap[] {
    return this.#rows('SELECT "from", until, lost FROM gap ORDER BY seq').map((row) => ({
      from: this.#text(row, "from"),
      until: this.#text(row, "until"),
      lost: this.#number(row, "lost"),
    }));
  }

  #addHop(hop: NonNullable<LedgerEvent["path"]>[number]): void {
    const id = hop.revocationId;
    if (this.#known.has(id)) return;
    const text = hopText(hop);
    if (text === undefined) return;
    this.#statements().hop.run(id, text);
    if (this.#known.size >= MOST_KNOWN) this.#known.clear();
    this.#known.add(id);
  }

  #statements(): Writing {
    if (this.#writing !== undefined) return this.#writing;
    const prepare = (sql: string): Statement => this.#file.prepare(sql);
    this.#writing = {
      one: prepare(EVENT + PLACES),
      many: prepare(EVENT + Array(TOGETHER).fill(PLACES).join(", ")),
      mention: prepare(
        "INSERT INTO mention (key, first, last) SELECT value, ?, ? FROM json_each(?)",
      ),
      hop: prepare("INSERT OR IGNORE INTO hop (revocation, hop) VALUES (?, ?)"),
      keep: prepare("INSERT INTO issued (id, expires, body) VALUES (?, ?, ?)"),
      gap: prepare('INSERT INTO gap ("from", until, lost) VALUES (?, ?, ?)'),
      prune: prepare("DELETE FROM issued WHERE expires <= ?"),
    };
    return this.#writing;
  }

  #rows(sql: string, ...values: SqlValue[]): unknown[] {
    return this.#file.attempt(() => this.#query(sql).all(...values));
  }

  #query(sql: string): Statement {
    const known = this.#queries.get(sql) ?? this.#file.prepare(sql);
    this.#queries.set(sql, known);
    return known;
  }

  #event(row: unknown, hopOf: (id: string) => Hop | undefined): LedgerEvent {
    const nullable = (name: string): string | null =>
      field(row, name) === null ? null : this.#text(row, name);
    const read: EventRow = {
      at: this.#number(row, "at"),
      what: this.#number(row, "what"),
      principal: nullable("principal"),
      capability: nullable("capability"),
      body: this.#text(row, "body"),
    };
    return this.#sound("an event", () => eventOf(read, hopOf));
  }

  #hop(id: string): Hop | undefined {
    const sql = "SELECT hop FROM hop WHERE revocation = ?";
    const [row] = this.#rows(sql, id);
    if (row === undefined) return undefined;
    return this.#sound("a hop", () => hopOfText(this.#text(row, "hop")));
  }

  #sound<T>(what: string, read: () => T): T {
    try {
      return read();
    } catch (error) {
      if (
        error instanceof TypeError ||
        error instanceof SyntaxError ||
        error instanceof RangeError
      ) {
        throw this.#file.corrupt(`${what} in it is not well formed`);
      }
      throw error;
    }
  }

  #text(row: unknown, name: string): string {
    const value = field(row, name);
    if (typeof value === "string") return value;
    throw this.#file.corrupt(`a text in it is wrong: "${name}"`);
  }

  #number(row: unknown, name: string): number {
    const value = field(row, name);
    if (Number.isSafeInteger(value)) return Number(value);
    throw this.#file.corrupt(`a number in it is wrong: "${name}"`);
  }
}

/** What events are found by, each once, in the order of the index. */
function mentioned(rows: readonly EventRow[]): readonly string[] {
  const keys = new Set<string>();
  for (const { principal, capability, what } of rows) {
    if (principal !== null) keys.add(principalKey(principal));
    if (capability !== null) keys.add(capabilityKey(capability));
    if (what % 2 === 1) keys.add(REFUSED_KEY);
  }
  return [...keys].sort();
}

function columns({ at, what, principal, capability, body }: EventRow): SqlValue[] {
  return [at, what, principal, capability, body];
}
