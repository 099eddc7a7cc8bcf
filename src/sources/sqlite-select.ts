import { MAX_TEXT_LENGTH } from "../agent/resources/field-value.js";
import type { FieldCondition, ResourceFilter } from "../agent/resources/resource.js";
import type { Scalar } from "../caveats/scalar.js";
import type { Column, SqliteTable } from "./sqlite-schema.js";

/** A query with the values of its parameters. */
export interface Select {
  readonly sql: string;
  readonly values: readonly (string | number)[];
}

/** Bytes of UTF-8 or UTF-16 that the longest text may take. */
const LONGEST_BYTES = 3 * MAX_TEXT_LENGTH;

/** The columns that a collection's rows are read with, in order: the key, the title, the fields. */
export function columnsOf(table: SqliteTable): readonly Column[] {
  return [table.key, table.title, ...table.fields.values()];
}

/**
 * All rows that a filter matches, and perhaps others: SQLite's `=` converts types and may not tell
 * letters' case apart, and it orders texts otherwise.
 */
export function selectRows(table: SqliteTable, filter: ResourceFilter, limit: number): Select {
  const parts = Object.entries(filter).flatMap(([field, condition]) => {
    const column = table.fields.get(field);
    return column === undefined ? [] : conditionParts(column.name, condition);
  });
  const where = parts.map(({ sql }) => `(${sql})`).join(" AND ");
  const order = `ORDER BY r.${quoted(table.key.name)} LIMIT ?`;
  return {
    sql: `${selectFrom(table)}${where === "" ? "" : ` WHERE ${where}`} ${order}`,
    values: [...parts.flatMap(({ values }) => values), limit],
  };
}

/** All rows with a key, and perhaps others; the key is the first parameter, the limit the second. */
export function selectByKey(table: SqliteTable): string {
  return `${selectFrom(table)} WHERE r.${quoted(table.key.name)} = ? LIMIT ?`;
}

function selectFrom(table: SqliteTable): string {
  const values = columnsOf(table).map(({ name }, at) => {
    // With its table: builds of SQLite may take a column that has gone since for a text.
    const column = `r.${quoted(name)}`;
    // As bytes: libsql reads a text only up to its first NUL, and ends the process at one that is
    // not UTF-8.
    const bytes = `CASE WHEN length(CAST(${column} AS BLOB)) <= ${LONGEST_BYTES} THEN CAST(${column} AS BLOB) END`;
    const value = `CASE typeof(${column}) WHEN 'text' THEN ${bytes} WHEN 'blob' THEN NULL ELSE ${column} END`;
    return `typeof(${column}) AS t${at}, ${value} AS v${at}`;
  });
  return `SELECT ${values.join(", ")} FROM main.${quoted(table.table)} AS r`;
}

function conditionParts(name: string, condition: FieldCondition): readonly Select[] {
  const column = `r.${quoted(name)}`;
  if (typeof condition !== "object" || condition === null) return equalParts(column, [condition]);
  const { in: list, min, max } = condition;
  return [
    ...(list === undefined ? [] : equalParts(column, list)),
    ...(typeof min === "number" ? [{ sql: `${column} >= ?`, values: [min] }] : []),
    ...(typeof max === "number" ? [{ sql: `${column} <= ?`, values: [max] }] : []),
  ];
}

function equalParts(column: string, list: readonly Scalar[]): readonly Select[] {
  const values: (string | number)[] = [];
  for (const value of list) {
    // libsql takes no booleans: it ends the process.
    if (typeof value === "boolean") values.push(value ? 1 : 0);
    else if (value !== null) values.push(value);
  }
  const tests = [
    ...(values.length === 0 ? [] : [`${column} IN (${values.map(() => "?").join(", ")})`]),
    ...(list.includes(null) ? [`${column} IS NULL`] : []),
  ];
  return tests.length === 0 ? [] : [{ sql: tests.join(" OR "), values }];
}

function quoted(name: string): string {
  return `"${name.replaceAll('"', '""')}"`;
}
