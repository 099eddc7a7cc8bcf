import { TextDecoder } from "node:util";
import { type RawBuilder, type SqlBool, sql } from "kysely";
import {
  isFilterable,
  MAX_RESOURCE_NAME_BYTES,
  MAX_TEXT_LENGTH,
} from "../agent/resources/filter.js";
import type { FieldCondition, Resource, ResourceFilter } from "../agent/resources/resource.js";
import { canonicalJson } from "../bytes/json.js";
import type { Scalar } from "../caveats/scalar.js";
import { isBindable } from "../storage/columns.js";
import type { ForeignDatabase } from "../storage/foreign.js";
import type { Column, KnownTable } from "./table-columns.js";

/** The rows to select, and the maximum number to read. */
export interface Rows {
  readonly key?: string | number;
  readonly filter?: ResourceFilter;
  readonly limit: number;
}

/** Maximum number of bytes of a string with {@link MAX_TEXT_LENGTH} code units, in UTF-8 or UTF-16. */
const LONGEST_BYTES = 3 * MAX_TEXT_LENGTH;

/** Returns the key that an item's name contains; `undefined` if the key is not in canonical form. */
export function readKey(text: string): string | number | undefined {
  try {
    const key: unknown = JSON.parse(text);
    return isKey(key) && canonicalJson(key) === text ? key : undefined;
  } catch {
    return undefined;
  }
}

/**
 * Returns the items that a key or a filter selects, ordered by key. The result may include further items, which
 * the caller must filter out.
 */
export async function itemsOf(
  database: ForeignDatabase,
  table: KnownTable,
  { key, filter = {}, limit }: Rows,
): Promise<{ readonly rows: number; readonly items: readonly Resource[] }> {
  const columns = [table.key, table.title, ...table.fields.values()];
  const conditions = Object.entries(filter).flatMap(([field, condition]) => {
    const column = table.fields.get(field);
    return column === undefined ? [] : conditionsOn(column, condition);
  });
  if (key !== undefined) conditions.push(...conditionsOn(table.key, key));
  return database.read(async (db) => {
    const encoding = database.dialect === "sqlite" ? await encodingOf(db) : "utf-8";
    const decoder = new TextDecoder(encoding, { fatal: true, ignoreBOM: true });
    const value = database.dialect === "sqlite" ? sqliteText : postgresText;
    const rows = await db
      .selectFrom(sql<object>`${sql.id(table.table)}`.as("r"))
      .select(columns.map((column, at) => value(column).as(`v${at}`)))
      .where((eb) => eb.and(conditions))
      .orderBy(reference(table.key))
      .limit(limit)
      .execute();
    const items = rows.flatMap((row) => {
      const values = columns.map(({ kind }, at) => read(Reflect.get(row, `v${at}`), kind, decoder));
      return itemOf(table, values) ?? [];
    });
    return { rows: rows.length, items };
  });
}

async function encodingOf(db: Parameters<RawBuilder<unknown>["execute"]>[0]): Promise<string> {
  const { rows } = await sql<{ encoding: string }>`PRAGMA encoding`.execute(db);
  return rows[0]?.encoding ?? "utf-8";
}

function itemOf(
  { collection, fields }: KnownTable,
  [key, title, ...rest]: readonly (Scalar | undefined)[],
): Resource | undefined {
  if (!isKey(key)) return undefined;
  const name = `${collection}/${canonicalJson(key)}`;
  if (Buffer.byteLength(name) > MAX_RESOURCE_NAME_BYTES) return undefined;
  const known = [...fields.keys()].flatMap((field, at) => {
    const value = rest[at];
    return value === undefined ? [] : [[field, value] as const];
  });
  const displayName = String(title ?? key);
  return { name, displayName, collection, kind: "item", fields: Object.fromEntries(known) };
}

function isKey(value: unknown): value is string | number {
  return isFilterable(value) && (typeof value === "string" || typeof value === "number");
}

/**
 * Qualifies a column with the name of its table. Otherwise some builds of SQLite take the name of a dropped
 * column for a string.
 */
function reference({ name }: Column): RawBuilder<unknown> {
  return sql.id("r", name);
}

/**
 * Encodes a value as ASCII, with a first letter for its type. libsql reads a string only up to its first NUL,
 * and aborts the process if a string is not UTF-8.
 */
function sqliteText(column: Column): RawBuilder<unknown> {
  const value = reference(column);
  return sql`CASE typeof(${value}) WHEN 'null' THEN NULL WHEN 'integer' THEN 'n' || ${value}
    WHEN 'real' THEN 'n' || printf('%!.17g', ${value})
    WHEN 'text' THEN CASE WHEN length(CAST(${value} AS BLOB)) <= ${LONGEST_BYTES}
      THEN 'h' || hex(CAST(${value} AS BLOB)) ELSE '' END
    ELSE '' END`;
}

function postgresText(column: Column): RawBuilder<unknown> {
  const letter = column.kind === "number" ? "n" : column.kind === "boolean" ? "b" : "t";
  return sql`${sql.lit(letter)} || left(CAST(${reference(column)} AS text), ${sql.lit(MAX_TEXT_LENGTH + 1)})`;
}

/** Decodes the value of a column; `undefined` if filters cannot use it. */
function read(value: unknown, kind: Column["kind"], decoder: TextDecoder): Scalar | undefined {
  if (value === null) return null;
  if (typeof value !== "string") return undefined;
  const text = value.slice(1);
  switch (value[0]) {
    case "b":
      return text === "true";
    case "n":
      return numberOf(text, kind);
    case "h":
      try {
        return filterable(decoder.decode(Buffer.from(text, "hex")));
      } catch {
        return undefined;
      }
    case "t":
      return filterable(text);
    default:
      return undefined;
  }
}

function numberOf(text: string, kind: Column["kind"]): Scalar | undefined {
  const number = Number(text);
  if (kind === "bit" && (number === 0 || number === 1)) return number === 1;
  const rounded = /^-?\d+$/.test(text) && !Number.isSafeInteger(number);
  return rounded ? undefined : filterable(number);
}

function filterable(value: string | number): Scalar | undefined {
  return isFilterable(value) ? value : undefined;
}

/** Returns SQL conditions that select at least every row which the filter would accept. */
function conditionsOn(column: Column, condition: FieldCondition): RawBuilder<SqlBool>[] {
  const value = reference(column);
  if (typeof condition !== "object" || condition === null) return equals(column, [condition]);
  const { in: list, min, max } = condition;
  const conditions = list === undefined ? [] : equals(column, list);
  if (column.kind !== "number" && !isAny(column.kind)) return conditions;
  if (typeof min === "number") conditions.push(sql`${value} >= ${bound(column, min)}`);
  if (typeof max === "number") conditions.push(sql`${value} <= ${bound(column, max)}`);
  return conditions;
}

function equals(column: Column, list: readonly Scalar[]): RawBuilder<SqlBool>[] {
  const { kind } = column;
  if (kind === "other") return [];
  // PostgreSQL only compares values of the same type. A value of another type matches no row.
  const type = kind === "text" ? "string" : kind;
  const comparable = list.filter((one) => one !== null && (isAny(kind) || typeof one === type));
  // If a value cannot be sent to the database, exclude no rows there. `matches` applies the filter later.
  if (comparable.some((one) => typeof one === "string" && !isBindable(one))) return [];
  const tests = [
    ...(list.includes(null) ? [sql<SqlBool>`${reference(column)} IS NULL`] : []),
    ...comparable.map((one) => sql<SqlBool>`${reference(column)} = ${bound(column, one)}`),
  ];
  return [tests.length === 0 ? sql<SqlBool>`1 = 0` : sql<SqlBool>`(${sql.join(tests, sql` OR `)})`];
}

function isAny(kind: Column["kind"]): boolean {
  return kind === "any" || kind === "bit";
}

/** Converts a number so that the database can use an index, whatever the numeric type of the column. */
function bound({ kind }: Column, value: Scalar): RawBuilder<unknown> {
  if (typeof value === "boolean") return sql.lit(value);
  if (kind !== "number" || typeof value !== "number") return sql`${value}`;
  return Number.isSafeInteger(value)
    ? sql`CAST(${value} AS bigint)`
    : sql`CAST(${value} AS double precision)`;
}
