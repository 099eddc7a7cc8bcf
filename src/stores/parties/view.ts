import { sql } from "kysely";
import {
  MAX_FOUND,
  type Page,
  type PartyRecords,
  type PartyView,
} from "../../agent/parties/store.js";
import { assertMembers } from "../../checks/members.js";
import type { StoreQueries } from "../database.js";
import { readStored, whole } from "../stored-values.js";
import { type Kind, key, LOOKUPS, TABLES } from "./kinds.js";
import { SHAPES } from "./shapes.js";

/** The database to read records from. */
export interface Source {
  readonly db: StoreQueries;
  /** The name of the database. */
  readonly name: string;
  /** Called with the version of each record that is read, and with version 0 for an id without a record. */
  readonly saw?: (kind: Kind, id: string, version: number) => void;
}

/** Columns that the tables of all kinds have. */
export interface Row {
  readonly id: string;
  readonly version: number;
  readonly body: string;
}

type Query = Page & { readonly [member: string]: unknown };

/** Returns the view of stored records. */
export function viewOf(source: Source): PartyView {
  const records = <K extends Kind>(kind: K) => ({
    get: async (id: string) => (await rowsOf(source, kind, { id }))[0],
    find: async (query: Query) => rowsOf(source, kind, { query }),
  });
  return {
    hosts: records("hosts"),
    agents: records("agents"),
    grants: records("grants"),
    approvals: records("approvals"),
    delegations: records("delegations"),
    requests: records("requests"),
  };
}

async function rowsOf<K extends Kind>(
  { db, name, saw }: Source,
  kind: K,
  by: { readonly id: string } | { readonly query: Query },
): Promise<readonly PartyRecords[K][]> {
  const chosen = "id" in by ? one(by.id) : some(kind, by.query);
  const statement = sql<Row>`SELECT id, version, body FROM ${sql.table(TABLES[kind])} ${chosen}`;
  const { rows } = await statement.execute(db);
  const found = readStored(name, `a record of ${kind}`, () =>
    rows.map((row) => ({ version: whole(row.version), kept: keptIn(kind, row) })),
  );
  if ("id" in by && found.length === 0) saw?.(kind, by.id, 0);
  for (const { version, kept } of found) saw?.(kind, kept.id, version);
  return found.map(({ kept }) => kept);
}

function one(id: string) {
  if (typeof id !== "string") throw new TypeError("id must be a string");
  return sql`WHERE id = ${key(id)}`;
}

function some(kind: Kind, query: Query) {
  const lookups = LOOKUPS[kind];
  assertMembers(query, [...Object.keys(lookups), "after", "limit", "latestFirst"], "query");
  const { after, limit = MAX_FOUND, latestFirst = false, ...members } = query;
  if (!Number.isSafeInteger(limit) || limit < 1 || limit > MAX_FOUND) {
    throw new TypeError(`limit: must be 1 to ${MAX_FOUND}`);
  }
  const conditions = [sql`1 = 1`];
  for (const [member, value] of Object.entries(members)) {
    if (value === undefined) continue;
    const condition = lookups[member]?.(value);
    if (condition === undefined) throw new TypeError(`${member}: cannot be looked up by this`);
    conditions.push(condition);
  }
  if (after !== undefined) {
    const table = sql.table(TABLES[kind]);
    conditions.push(
      sql`(created, id) ${latestFirst ? sql`<` : sql`>`} (SELECT created, id FROM ${table} WHERE id = ${key(after)})`,
    );
  }
  const order = latestFirst ? sql`created DESC, id DESC` : sql`created, id`;
  return sql`WHERE ${sql.join(conditions, sql` AND `)} ORDER BY ${order} LIMIT ${sql.lit(limit)}`;
}

/** @throws TypeError or SyntaxError if the row is damaged. */
export function keptIn<K extends Kind>(kind: K, row: Row): PartyRecords[K] {
  const kept: unknown = JSON.parse(row.body);
  const fits: (value: unknown) => value is PartyRecords[K] = SHAPES[kind];
  if (fits(kept) && key(kept.id) === row.id) return kept;
  throw new TypeError(`this is not a record of ${kind}`);
}
