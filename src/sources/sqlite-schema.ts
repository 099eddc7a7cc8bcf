import type { TextDecoder } from "node:util";
import { MAX_NAME_LENGTH } from "../agent/resources/field-value.js";
import { isWellFormed } from "../bytes/utf8.js";
import { nearest } from "../caveats/nearest.js";
import { shown, shownList } from "../caveats/scalar.js";
import type { Connection } from "../storage/sqlite-driver.js";
import { ResourceError } from "./resource-error.js";

/** Where one collection's items are in a database. */
export interface SqliteCollection {
  /** A table or a view. */
  readonly table: string;
  /**
   * The column that names an item: integers or texts. Of a table, one that is its primary key or has
   * a unique index to itself. Of a view it must be unique too: a name of two rows leads to neither.
   */
  readonly name: string;
  /** The column that callers see. */
  readonly displayName: string;
  /** Columns by the name of the field that they are filtered as. */
  readonly fields: { readonly [field: string]: string };
}

/** A column as its table has it. */
export interface Column {
  readonly name: string;
  /** Whether it is declared `BOOLEAN`, so that 0 and 1 in it are `false` and `true`. */
  readonly boolean: boolean;
}

/** A collection whose table and columns are in the database. */
export interface SqliteTable {
  readonly collection: string;
  readonly table: string;
  readonly key: Column;
  readonly title: Column;
  /** By field, in order. */
  readonly fields: ReadonlyMap<string, Column>;
}

const MEMBERS = ["table", "name", "displayName", "fields"];
const LONGEST_COLLECTION = 128;
const BOOLEAN = /^bool(?:ean)?$/i;

/**
 * Checks the form of a configuration, without a look at the database.
 *
 * @throws TypeError naming the field that is wrong, such as `collections.reports.table`.
 */
export function checkCollections(
  collections: unknown,
): asserts collections is { readonly [collection: string]: SqliteCollection } {
  if (!isObject(collections) || Object.keys(collections).length === 0) {
    throw new TypeError("collections must be an object with at least one collection");
  }
  for (const [collection, value] of Object.entries(collections)) {
    const where = `collections.${collection}`;
    if (!/^[^/\p{Cc}]+$/u.test(collection) || !isName(collection, LONGEST_COLLECTION)) {
      const expected = `1 to ${LONGEST_COLLECTION} characters without a slash or controls`;
      throw new TypeError(`${shown(where)}: a collection's name must be ${expected}`);
    }
    if (!isObject(value)) throw new TypeError(`${where} must be an object, not ${shown(value)}`);
    const unknown = Object.keys(value).find((name) => !MEMBERS.includes(name));
    if (unknown !== undefined) {
      throw new TypeError(`${where}.${unknown}: unknown member; known: ${shownList(MEMBERS)}`);
    }
    const { fields } = value;
    if (!isObject(fields)) {
      throw new TypeError(`${where}.fields must be an object, not ${shown(fields)}`);
    }
    const long = Object.keys(fields).find((field) => !isName(field, MAX_NAME_LENGTH));
    if (long !== undefined) {
      const expected = `1 to ${MAX_NAME_LENGTH} characters`;
      throw new TypeError(
        `${where}.fields: a field's name must be ${expected}, not ${shown(long)}`,
      );
    }
    const { table, name, displayName } = value;
    const columns = Object.entries(fields).map(([field, column]) => [`fields.${field}`, column]);
    for (const [member, text] of [...Object.entries({ table, name, displayName }), ...columns]) {
      if (typeof text === "string" && text !== "" && !text.includes("\0") && isWellFormed(text))
        continue;
      const what = member === "table" ? "a table" : "a column";
      throw new TypeError(`${where}.${member} must be the name of ${what}, not ${shown(text)}`);
    }
  }
}

/**
 * Looks up a collection's table and columns, spelled as the database has them.
 *
 * @param decoder - Of texts in the database's encoding.
 * @param file - As the operator named it.
 * @throws ResourceError `source_mismatch`.
 */
export function tableOf(
  connection: Connection,
  decoder: TextDecoder,
  file: string,
  collection: string,
  config: SqliteCollection,
): SqliteTable {
  const text = (row: unknown, name: string): string => {
    const bytes = member(row, name);
    return bytes instanceof ArrayBuffer ? decoder.decode(bytes) : "";
  };
  const where = `collections.${collection}`;
  const tables = new Map(
    connection
      .prepare(
        `SELECT CAST(name AS BLOB) AS name, type FROM pragma_table_list
         WHERE schema = 'main' AND type <> 'shadow' AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\'`,
      )
      .all()
      .map((row) => [text(row, "name"), member(row, "type")] as const),
  );
  assertKnown(file, `${where}.table`, "table", config.table, [...tables.keys()]);
  const columns = new Map(
    connection
      .prepare(
        `SELECT CAST(name AS BLOB) AS name, CAST(type AS BLOB) AS type
         FROM pragma_table_xinfo(?) WHERE hidden <> 1`,
      )
      .all(config.table)
      .map((row) => [text(row, "name"), text(row, "type")] as const),
  );
  const column = (place: string, name: string): Column => {
    assertKnown(file, `${where}.${place}`, "column", name, [...columns.keys()]);
    return { name, boolean: BOOLEAN.test(columns.get(name) ?? "") };
  };
  const key = column("name", config.name);
  const title = column("displayName", config.displayName);
  const fields = new Map(
    Object.entries(config.fields).map(([field, name]) => [field, column(`fields.${field}`, name)]),
  );
  if (tables.get(config.table) === "table" && !isUnique(connection, config.table, key.name)) {
    const detail = `${where}.name: the column ${shown(key.name)} of ${shown(config.table)} has no unique index to itself, so it can not name items`;
    throw new ResourceError("source_mismatch", file, detail);
  }
  return { collection, table: config.table, key, title, fields };
}

function isUnique(connection: Connection, table: string, column: string): boolean {
  const [row] = connection
    .prepare(
      `SELECT (SELECT count(*) = 1 AND max(name) = ?2 FROM pragma_table_xinfo(?1) WHERE pk > 0)
         OR EXISTS (
           SELECT 1 FROM pragma_index_list(?1) AS list WHERE list."unique" = 1 AND list.partial = 0
             AND (SELECT count(*) = 1 AND max(name) = ?2 FROM pragma_index_info(list.name))
         ) AS known`,
    )
    .all(table, column);
  return member(row, "known") === 1;
}

function assertKnown(
  file: string,
  where: string,
  what: string,
  name: string,
  known: readonly string[],
): void {
  if (known.includes(name)) return;
  const near = nearest(name, known);
  const hint = near === undefined ? "" : `; did you mean ${shown(near)}?`;
  const list = shownList([...known].sort(), 64);
  const detail = `${where}: there is no ${what} ${shown(name)}; known: ${list}${hint}`;
  throw new ResourceError("source_mismatch", file, detail);
}

/** A member of a row. */
export function member(row: unknown, name: string): unknown {
  return typeof row === "object" && row !== null ? Reflect.get(row, name) : undefined;
}

function isName(name: string, longest: number): boolean {
  return name !== "" && name.length <= longest && isWellFormed(name);
}

function isObject(value: unknown): value is { readonly [name: string]: unknown } {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
