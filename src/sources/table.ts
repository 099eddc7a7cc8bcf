import { checkFilter, matches, unknownCollection } from "../agent/resources/filter.js";
import type {
  QueryResult,
  Resource,
  ResourceQuery,
  ResourceSource,
} from "../agent/resources/resource.js";
import { shown } from "../caveats/scalar.js";
import { assertMembers } from "../checks/members.js";
import { type ForeignDatabase, openForeign } from "../storage/foreign.js";
import { StorageError } from "../storage/storage-error.js";
import { collectionIn, collectionResource } from "./collection-names.js";
import { ResourceError, type ResourceErrorCode } from "./resource-error.js";
import {
  type Collection,
  checkCollections,
  type KnownTable,
  knownTables,
} from "./table-columns.js";
import { itemsOf, readKey } from "./table-rows.js";

const MAX_ROWS = 100_000;
/** Codes of this source's errors, by the database's code. Every other code becomes `source_unreadable`. */
const CODES: ReadonlyMap<string, ResourceErrorCode> = new Map([
  ["store_missing", "source_missing"],
  ["store_unavailable", "source_unavailable"],
]);

/** Options for opening tables of a database. */
export interface TablesOptions {
  /**
   * The path of an SQLite file, or `postgres://USER:PASSWORD@HOST:PORT/DATABASE`. On PostgreSQL, the tables are
   * those of the schema `public`, unless the URL ends in `?options=-c search_path=NAME`.
   */
  readonly database: string;
  /** The collections by name. A name has at most 128 characters and no slash. */
  readonly collections: { readonly [collection: string]: Collection };
  /**
   * Maximum number of rows that one query may read from the database; 100,000 by default. A query that needs
   * more rows fails, so that it cannot use up the memory.
   */
  readonly maxRows?: number;
}

/** The rows of a database, as resources. The connection to the database stays open. */
export interface TableSource extends Required<ResourceSource> {
  /** Closes the database. */
  close(): Promise<void>;
}

/**
 * Opens a database as a source of resources. Each row of a table or view is an item. The name of an item is the
 * collection and the key as JSON, such as `reports/7` or `reports/"q3"`. The name of a collection ends in a slash.
 * Other processes may change the database at any time, or replace its file. This process never writes to it.
 *
 * A field is a string of at most 1024 characters, a number, a boolean or null. On SQLite, 0 and 1 in a column declared
 * `BOOLEAN` are booleans. On PostgreSQL, values of other types are strings.
 *
 * Three kinds of values are treated as absent: BLOBs, integers beyond 2^53 (which would be rounded), and strings that
 * are longer than 1024 characters or not valid Unicode. A row is left out if its key is null or one of these values. If
 * several rows have the same key, `get` finds none of them.
 *
 * The database excludes most rows, and {@link matches} then decides about each remaining row. The results are therefore
 * exact, whatever the type and collation of a column. Create an index on each column that filters use.
 *
 * @throws TypeError that names the wrong option.
 * @throws ResourceError `source_missing` or `source_unreadable`; `source_mismatch`, which names the existing tables or
 *   columns, if a table or column does not exist; or `source_unavailable` if libsql or pg is not installed.
 */
export async function openTables(options: TablesOptions): Promise<TableSource> {
  assertMembers(options, ["database", "collections", "maxRows"], "options");
  const { database: place, collections, maxRows = MAX_ROWS } = options;
  if (typeof place !== "string" || place === "" || place.includes("\0")) {
    throw new TypeError(`database must be a path or an address, not ${shown(place)}`);
  }
  if (!Number.isSafeInteger(maxRows) || maxRows < 1) {
    throw new TypeError(`maxRows must be a whole number of at least 1, not ${shown(maxRows)}`);
  }
  checkCollections(collections);
  const database = await attempt(place, () => openForeign(place));
  try {
    const tables = await attempt(database.name, () => knownTables(database, collections));
    return sourceOver(database, tables, maxRows);
  } catch (error) {
    await database.close();
    throw error;
  }
}

function sourceOver(
  database: ForeignDatabase,
  tables: ReadonlyMap<string, KnownTable>,
  maxRows: number,
): TableSource {
  const names = [...tables.keys()].sort();
  let closed = false;
  const read: typeof itemsOf = (...words) => {
    if (closed) throw new TypeError("these resources are closed");
    return attempt(database.name, () => itemsOf(...words));
  };
  const source: TableSource = {
    collections: async () => names,
    async find({ collection, filter = {} }: ResourceQuery): Promise<QueryResult> {
      const table = tables.get(collection);
      if (table === undefined) return { ok: false, denial: unknownCollection(collection, names) };
      const denial = checkFilter(filter, source.declaredFields(collection) ?? []);
      if (denial !== undefined) return { ok: false, denial };
      const { rows, items } = await read(database, table, { filter, limit: maxRows + 1 });
      if (rows > maxRows) {
        const detail = `a query on ${collection} would have to look at more than ${maxRows} rows`;
        throw new ResourceError("source_too_large", database.name, detail);
      }
      return { ok: true, resources: items.filter((item) => matches(item, filter)) };
    },
    async get(name): Promise<Resource | undefined> {
      const collection = collectionIn(name);
      const table = collection === undefined ? undefined : tables.get(collection);
      if (collection === undefined || table === undefined) return undefined;
      if (name.length === collection.length + 1) {
        return collectionResource(collection);
      }
      const key = readKey(name.slice(collection.length + 1));
      if (key === undefined) return undefined;
      const { items } = await read(database, table, { key, limit: maxRows });
      const [item, another] = items.filter((candidate) => candidate.name === name);
      return another === undefined ? item : undefined;
    },
    declaredFields(collection) {
      const fields = tables.get(collection)?.fields;
      return fields === undefined ? undefined : [...fields.keys()].sort();
    },
    collectionOf: collectionIn,
    nameOfCollection: async (collection) => (tables.has(collection) ? `${collection}/` : undefined),
    async close() {
      if (closed) return;
      closed = true;
      await database.close();
    },
  };
  return source;
}

/** Runs `action`, and converts its errors to errors of this source. */
async function attempt<T>(name: string, action: () => Promise<T>): Promise<T> {
  try {
    return await action();
  } catch (error) {
    if (!(error instanceof StorageError)) throw error;
    const code = CODES.get(error.code) ?? "source_unreadable";
    const reason = error.cause instanceof Error ? error.cause.message : error.message;
    throw new ResourceError(code, name, reason, error);
  }
}
