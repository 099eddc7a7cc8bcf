import { sql } from "kysely";
import { MAX_NAME_LENGTH } from "../agent/resources/filter.js";
import { isObject } from "../bytes/json.js";
import { isWellFormed } from "../bytes/utf8.js";
import { shown, shownList } from "../caveats/scalar.js";
import { assertMembers } from "../checks/members.js";
import { nearest } from "../checks/nearest.js";
import { isBindable } from "../storage/columns.js";
import type { ForeignDatabase } from "../storage/foreign.js";
import { ResourceError } from "./resource-error.js";

/** The table and the columns from which the items of one collection are read. */
export interface Collection {
  /** The name of a table or a view. */
  readonly table: string;
  /** The column that identifies an item. Its values are unique integers or strings. */
  readonly name: string;
  /** The column with the display name of an item. */
  readonly displayName: string;
  /** The columns that filters can use, by the name of the field. */
  readonly fields: { readonly [field: string]: string };
}

/** A column of a table. */
export interface Column {
  readonly name: string;
  /**
   * The type of the column's values. On PostgreSQL, it is the column's type. On SQLite, it is `any`, or `bit`
   * for a column declared `BOOLEAN`, whose values 0 and 1 become `false` and `true`.
   */
  readonly kind: "boolean" | "number" | "text" | "other" | "any" | "bit";
}

/** A collection whose table and columns exist in the database. */
export interface KnownTable {
  readonly collection: string;
  readonly table: string;
  readonly key: Column;
  readonly title: Column;
  /** The columns for filters, by the name of the field, in order. */
  readonly fields: ReadonlyMap<string, Column>;
}

const MEMBERS = ["table", "name", "displayName", "fields"];
const MAX_COLLECTION_LENGTH = 128;

/**
 * Validates the form of a configuration, without reading the database.
 *
 * @throws TypeError that names the wrong field, such as `collections.reports.table`.
 */
export function checkCollections(
  collections: unknown,
): asserts collections is { readonly [collection: string]: Collection } {
  if (!isObject(collections) || Object.keys(collections).length === 0) {
    throw new TypeError("collections must be an object with at least one collection");
  }
  for (const [collection, value] of Object.entries(collections)) {
    const where = `collections.${collection}`;
    if (!/^[^/\p{Cc}]+$/u.test(collection) || !isName(collection, MAX_COLLECTION_LENGTH)) {
      const expected = `1 to ${MAX_COLLECTION_LENGTH} characters without a slash or controls`;
      throw new TypeError(`${shown(where)}: a collection's name must be ${expected}`);
    }
    if (!isObject(value)) throw new TypeError(`${where} must be an object, not ${shown(value)}`);
    assertMembers(value, MEMBERS, where);
    const { fields, ...names } = value;
    if (!isObject(fields)) {
      throw new TypeError(`${where}.fields must be an object, not ${shown(fields)}`);
    }
    for (const [field, column] of Object.entries(fields)) {
      if (!isName(field, MAX_NAME_LENGTH)) {
        const expected = `must be 1 to ${MAX_NAME_LENGTH} characters, not ${shown(field)}`;
        throw new TypeError(`${where}.fields: a field's name ${expected}`);
      }
      assertName(`${where}.fields.${field}`, "a column", column);
    }
    assertName(`${where}.table`, "a table", names["table"]);
    assertName(`${where}.name`, "a column", names["name"]);
    assertName(`${where}.displayName`, "a column", names["displayName"]);
  }
}

function assertName(where: string, what: string, name: unknown): void {
  if (typeof name === "string" && name !== "" && isBindable(name)) return;
  throw new TypeError(`${where} must be the name of ${what}, not ${shown(name)}`);
}

/**
 * Finds the tables and columns of a configuration in the database.
 *
 * @throws ResourceError `source_mismatch` that names the existing tables or columns.
 */
export async function knownTables(
  database: ForeignDatabase,
  collections: { readonly [collection: string]: Collection },
): Promise<ReadonlyMap<string, KnownTable>> {
  const known = await tablesOf(database);
  const pick = <T>(where: string, what: string, name: string, all: ReadonlyMap<string, T>): T => {
    const found = all.get(name);
    if (found !== undefined) return found;
    const names = [...all.keys()].sort();
    const near = nearest(name, names);
    const hint = near === undefined ? "" : `; did you mean ${shown(near)}?`;
    const list = shownList(names, 64);
    const detail = `${where}: there is no ${what} ${shown(name)}; known: ${list}${hint}`;
    throw new ResourceError("source_mismatch", database.name, detail);
  };
  return new Map(
    Object.entries(collections).map(([collection, { table, name, displayName, fields }]) => {
      const where = `collections.${collection}`;
      const columns = pick(`${where}.table`, "table", table, known);
      const column = (place: string, wanted: string): Column => {
        const type = pick(`${where}.${place}`, "column", wanted, columns);
        return { name: wanted, kind: kindOf(database, type) };
      };
      const filtered = Object.entries(fields).map(
        ([field, wanted]) => [field, column(`fields.${field}`, wanted)] as const,
      );
      const key = column("name", name);
      const title = column("displayName", displayName);
      return [collection, { collection, table, key, title, fields: new Map(filtered) }];
    }),
  );
}

/** Returns the types of all columns, by table. */
async function tablesOf(
  database: ForeignDatabase,
): Promise<ReadonlyMap<string, ReadonlyMap<string, string>>> {
  const tables = new Map<string, Map<string, string>>();
  const columns = await database.read(async (db) => {
    if (database.dialect === "postgres") {
      const found = await db.introspection.getTables();
      return found.flatMap(({ name: table, columns: those }) =>
        those.map(({ name, dataType }) => ({ table, name, type: dataType })),
      );
    }
    // Kysely's own list of an SQLite table's columns lacks the generated ones.
    const { rows } = await sql<{ table: string; name: string; type: string }>`
      SELECT list.name AS "table", info.name AS name, info.type AS type
      FROM pragma_table_list AS list, pragma_table_xinfo(list.name) AS info
      WHERE list.schema = 'main' AND list.type <> 'shadow' AND info.hidden <> 1
        AND list.name NOT LIKE 'sqlite\\_%' ESCAPE '\\'`.execute(db);
    return rows;
  });
  for (const { table, name, type } of columns) {
    tables.set(table, (tables.get(table) ?? new Map()).set(name, type));
  }
  return tables;
}

const NUMBERS = ["int2", "int4", "int8", "float4", "float8", "numeric"];
const TEXTS = ["text", "varchar", "bpchar", "name", "citext"];

function kindOf({ dialect }: ForeignDatabase, type: string): Column["kind"] {
  const name = type.toLowerCase();
  const boolean = /^bool(?:ean)?$/.test(name);
  if (dialect === "sqlite") return boolean ? "bit" : "any";
  if (boolean) return "boolean";
  if (NUMBERS.includes(name)) return "number";
  return TEXTS.includes(name) ? "text" : "other";
}

function isName(name: string, longest: number): boolean {
  return name !== "" && name.length <= longest && isWellFormed(name);
}
