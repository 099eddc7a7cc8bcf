import { resolve } from "node:path";
import { shown } from "../caveats/scalar.js";
import { type Connect, loadDriver } from "../storage/sqlite-driver.js";
import { ResourceError } from "./resource-error.js";
import { checkCollections, type SqliteCollection } from "./sqlite-schema.js";
import { SqliteResources } from "./sqlite-source.js";

const MOST_ROWS = 100_000;

/** Which database, and what in it. */
export interface SqliteResourcesOptions {
  /** The path of an SQLite database that is there. */
  readonly file: string;
  /** By collection: a name of at most 128 characters without a slash. */
  readonly collections: { readonly [collection: string]: SqliteCollection };
  /**
   * Rows that one query may look at, after what an index can leave out; 100,000 unless given. More
   * are an error, so that no query takes all of the memory.
   */
  readonly maxRows?: number;
}

/**
 * Opens an SQLite database as a source of resources: each row of a table or view is an item. The
 * database may be changed by others at any time, and be replaced by another file; nothing is ever
 * written to it. Needs the package libsql.
 *
 * A field is a text of at most 1024 characters, a number, or null; in a column that is declared
 * `BOOLEAN`, 0 and 1 are `false` and `true`. Other values are as if they were not there: BLOBs,
 * integers beyond 2^53, which would be rounded, and texts that are not sound UTF-8. Rows are left
 * out whose key is such a value, null, or longer than a resource's name may be.
 *
 * Queries are exact, whatever the column's type and collation: SQL leaves out what an index can, and
 * {@link matches} decides. They run synchronously; give the columns that are filtered on an index.
 *
 * @throws TypeError on wrong options, naming the field.
 * @throws ResourceError `source_missing`, `source_unreadable`, also for a file that is no database,
 *   `source_mismatch` if a table or column is not there, with those that are, or
 *   `source_unavailable` if libsql is not installed.
 *
 * @example
 * ```ts
 * import { mkdtempSync } from "node:fs";
 * import { tmpdir } from "node:os";
 * import { join } from "node:path";
 * import Database from "libsql";
 * import { openSqliteResources } from "proviso/sources";
 *
 * const file = join(mkdtempSync(join(tmpdir(), "proviso-")), "reports.db");
 * const database = new Database(file);
 * database.exec("CREATE TABLE report (id INTEGER PRIMARY KEY, title TEXT, year INTEGER)");
 * database.exec("INSERT INTO report VALUES (1, 'First', 2024), (2, 'Second', 2025)");
 *
 * const source = await openSqliteResources({
 *   file,
 *   collections: {
 *     reports: { table: "report", name: "id", displayName: "title", fields: { year: "year" } },
 *   },
 * });
 * const found = await source.find({ collection: "reports", filter: { year: { min: 2025 } } });
 * found.ok ? found.resources.map((report) => report.name) : found.denial.message;
 * // => ["reports/2"]
 * (await source.get("reports/2"))?.displayName; // => "Second"
 * source.close();
 * ```
 */
export async function openSqliteResources(
  options: SqliteResourcesOptions,
): Promise<SqliteResources> {
  const { file, collections, maxRows = MOST_ROWS } = options;
  if (typeof file !== "string" || file === "" || file.includes("\0")) {
    throw new TypeError(`file must be the path of a database, not ${shown(file)}`);
  }
  if (!Number.isSafeInteger(maxRows) || maxRows < 1) {
    throw new TypeError(`maxRows must be a whole number of at least 1, not ${shown(maxRows)}`);
  }
  checkCollections(collections);
  const connect = await driver(file);
  return new SqliteResources(connect, { file, path: resolve(file), collections, maxRows });
}

async function driver(file: string): Promise<Connect> {
  try {
    return await loadDriver(file);
  } catch (cause) {
    throw new ResourceError("source_unavailable", file, "npm install libsql", cause);
  }
}
