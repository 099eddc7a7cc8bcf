import type { TextDecoder } from "node:util";
import { isFilterable, MAX_RESOURCE_NAME_BYTES } from "../agent/resources/field-value.js";
import type { Resource } from "../agent/resources/resource.js";
import { canonicalJson } from "../bytes/json.js";
import type { Scalar } from "../caveats/scalar.js";
import { member, type SqliteTable } from "./sqlite-schema.js";
import { columnsOf } from "./sqlite-select.js";

/** The key in an item's name, `undefined` if it is none or not written as names are. */
export function readKey(text: string): string | number | undefined {
  try {
    const key: unknown = JSON.parse(text);
    return isKey(key) && canonicalJson(key) === text ? key : undefined;
  } catch {
    return undefined;
  }
}

function isKey(value: unknown): value is string | number {
  return isFilterable(value) && (typeof value === "string" || typeof value === "number");
}

/**
 * A row, read with the columns of {@link columnsOf}, as an item; `undefined` if its key names none.
 *
 * @param decoder - Of texts in the database's encoding; throws for what is none.
 */
export function itemOf(
  table: SqliteTable,
  decoder: TextDecoder,
  row: unknown,
): Resource | undefined {
  const values = columnsOf(table).map((_, at) => {
    return scalarOf(member(row, `t${at}`), member(row, `v${at}`), decoder);
  });
  const [key, title, ...rest] = values;
  if (!isKey(key)) return undefined;
  const { collection } = table;
  const name = `${collection}/${canonicalJson(key)}`;
  if (Buffer.byteLength(name) > MAX_RESOURCE_NAME_BYTES) return undefined;
  const fields = [...table.fields].flatMap(([field, column], at) => {
    const value = rest[at];
    if (value === undefined) return [];
    const truth = column.boolean && (value === 0 || value === 1);
    return [[field, truth ? value === 1 : value] as const];
  });
  const displayName = String(title ?? key);
  return { name, displayName, collection, kind: "item", fields: Object.fromEntries(fields) };
}

/** What a column holds, `undefined` if it is nothing that can be filtered on. */
function scalarOf(type: unknown, value: unknown, decoder: TextDecoder): Scalar | undefined {
  if (type === "null") return null;
  if (type === "integer") return Number.isSafeInteger(value) ? Number(value) : undefined;
  if (type === "real") return isFilterable(value) ? value : undefined;
  if (type !== "text" || !(value instanceof ArrayBuffer)) return undefined;
  try {
    const text = decoder.decode(value);
    return isFilterable(text) ? text : undefined;
  } catch {
    return undefined;
  }
}
