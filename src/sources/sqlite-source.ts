import { statSync } from "node:fs";
import { TextDecoder } from "node:util";
import { checkFilter, matches } from "../agent/resources/filter.js";
import { unknownCollection } from "../agent/resources/query-denial.js";
import type {
  QueryResult,
  Resource,
  ResourceQuery,
  ResourceSource,
} from "../agent/resources/resource.js";
import { errorCode } from "../bytes/error-code.js";
import type { Connect, Connection, Statement } from "../storage/sqlite-driver.js";
import { ResourceError } from "./resource-error.js";
import { itemOf, readKey } from "./sqlite-row.js";
import { member, type SqliteCollection, type SqliteTable, tableOf } from "./sqlite-schema.js";
import { selectByKey, selectRows } from "./sqlite-select.js";

/** Milliseconds that a query waits for a writer; the whole process waits with it. */
const PATIENCE = 500;
/** Rows whose keys SQLite may take for the one that is looked up. */
const MOST_ALIKE = 100;

/** What {@link SqliteResources} are made from, all of it checked. */
export interface SqliteSourceOptions {
  /** As the operator named it. */
  readonly file: string;
  /** Absolute. */
  readonly path: string;
  readonly collections: { readonly [collection: string]: SqliteCollection };
  readonly maxRows: number;
}

interface Opened {
  /** What tells the file from one put in its place. */
  readonly identity: string;
  readonly connection: Connection;
  readonly decoder: TextDecoder;
  readonly tables: ReadonlyMap<string, { readonly table: SqliteTable; readonly byKey: Statement }>;
}

/**
 * The rows of an SQLite database as resources, opened by {@link openSqliteResources}. An item's name
 * is its collection and its key as JSON, such as `reports/7` or `reports/"q3"`; a collection's ends in
 * a slash, `reports/`.
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
 * new Database(file).exec("CREATE TABLE report (slug TEXT PRIMARY KEY, title TEXT)");
 * const reports = { table: "report", name: "slug", displayName: "title", fields: {} };
 * const source = await openSqliteResources({ file, collections: { reports } });
 *
 * new Database(file).exec("INSERT INTO report VALUES ('q3', 'Third quarter')");
 * (await source.get('reports/"q3"'))?.displayName; // => "Third quarter"
 * await source.get("reports/7"); // => undefined
 * source.close();
 * ```
 */
export class SqliteResources implements ResourceSource {
  readonly #connect: Connect;
  readonly #options: SqliteSourceOptions;
  #opened: Opened;
  #closed = false;

  /** @internal */
  constructor(connect: Connect, options: SqliteSourceOptions) {
    this.#connect = connect;
    this.#options = options;
    this.#opened = this.#open();
  }

  /** The names of the collections, ascending. */
  async collections(): Promise<readonly string[]> {
    return this.#names();
  }

  /**
   * Items of one collection, in the order of their keys as the database has it. Every field of the
   * configuration can be filtered on.
   *
   * @throws ResourceError `source_too_large` if more rows than `maxRows` would have to be looked at,
   *   `source_missing`, `source_unreadable`, or `source_mismatch`.
   */
  async find({ collection, filter = {} }: ResourceQuery): Promise<QueryResult> {
    const { decoder, connection, tables } = this.#current();
    const table = tables.get(collection)?.table;
    if (table === undefined) {
      return { ok: false, denial: unknownCollection(collection, this.#names()) };
    }
    const denial = checkFilter(filter, this.declaredFields(collection) ?? []);
    if (denial !== undefined) return { ok: false, denial };
    const { maxRows, file } = this.#options;
    const { sql, values } = selectRows(table, filter, maxRows + 1);
    const rows = this.#read(connection, () => connection.prepare(sql).all(...values));
    if (rows.length > maxRows) {
      const detail = `a query on ${collection} would have to look at more than ${maxRows} rows`;
      throw new ResourceError("source_too_large", file, detail);
    }
    const items = rows.flatMap((row) => itemOf(table, decoder, row) ?? []);
    return { ok: true, resources: items.filter((item) => matches(item, filter)) };
  }

  /**
   * The item or collection of that name; `undefined` if there is none, or if it is not the only one.
   *
   * @throws ResourceError `source_missing`, `source_unreadable`, or `source_mismatch`.
   */
  async get(name: string): Promise<Resource | undefined> {
    const { tables, decoder, connection } = this.#current();
    const slash = name.indexOf("/");
    const collection = name.slice(0, Math.max(slash, 0));
    const known = tables.get(collection);
    if (known === undefined) return undefined;
    if (slash === name.length - 1) {
      return { name, displayName: collection, collection, kind: "collection", fields: {} };
    }
    const key = readKey(name.slice(slash + 1));
    if (key === undefined) return undefined;
    const rows = this.#read(connection, () => known.byKey.all(key, MOST_ALIKE));
    const items = rows.flatMap((row) => itemOf(known.table, decoder, row) ?? []);
    const [item, another] = items.filter((candidate) => candidate.name === name);
    return another === undefined ? item : undefined;
  }

  declaredFields(collection: string): readonly string[] | undefined {
    const table = this.#current().tables.get(collection)?.table;
    return table === undefined ? undefined : [...table.fields.keys()].sort();
  }

  collectionOf(name: string): string | undefined {
    const slash = name.indexOf("/");
    return slash < 1 ? undefined : name.slice(0, slash);
  }

  async nameOfCollection(collection: string): Promise<string | undefined> {
    return this.#current().tables.has(collection) ? `${collection}/` : undefined;
  }

  /** Lets go of the database. */
  close(): void {
    if (!this.#closed) this.#opened.connection.close();
    this.#closed = true;
  }

  #names(): string[] {
    return [...this.#opened.tables.keys()].sort();
  }

  #current(): Opened {
    if (this.#closed) throw new TypeError("these resources are closed");
    if (this.#identity() !== this.#opened.identity) {
      const old = this.#opened;
      this.#opened = this.#open();
      old.connection.close();
    }
    return this.#opened;
  }

  #open(): Opened {
    const { file, path, collections } = this.#options;
    const identity = this.#identity();
    const connection = this.#try(() => this.#connect(path));
    try {
      this.#try(() => {
        connection.exec(`PRAGMA query_only = ON; PRAGMA busy_timeout = ${PATIENCE}`);
      });
      return this.#read(connection, () => {
        const encoding = member(connection.prepare("PRAGMA encoding").all()[0], "encoding");
        const decoder = new TextDecoder(String(encoding), { fatal: true, ignoreBOM: true });
        const tables = Object.entries(collections).map(([collection, config]) => {
          const table = tableOf(connection, decoder, file, collection, config);
          const byKey = connection.prepare(selectByKey(table));
          // What SQLite can not do, such as an order that it does not know, shows now.
          connection.prepare(selectRows(table, {}, 1).sql);
          return [collection, { table, byKey }] as const;
        });
        return { identity, connection, decoder, tables: new Map(tables) };
      });
    } catch (error) {
      connection.close();
      throw error;
    }
  }

  #identity(): string {
    const { file, path } = this.#options;
    try {
      const { dev, ino } = statSync(path, { bigint: true });
      return `${dev}:${ino}`;
    } catch (error) {
      const reason = errorCode(error);
      const code = reason === "ENOENT" ? "source_missing" : "source_unreadable";
      throw new ResourceError(code, file, reason, error);
    }
  }

  /**
   * Reads within a transaction. A statement of libsql that finds the database locked goes on holding
   * it until it is collected, so the lock is taken by `exec`, which does not.
   */
  #read<T>(connection: Connection, action: () => T): T {
    return this.#try(() => {
      try {
        connection.exec("BEGIN; SELECT 1 FROM main.sqlite_schema LIMIT 1");
        return action();
      } finally {
        if (connection.inTransaction) connection.exec("ROLLBACK");
      }
    });
  }

  #try<T>(action: () => T): T {
    try {
      return action();
    } catch (error) {
      if (error instanceof ResourceError) throw error;
      const reason = error instanceof Error ? error.message : errorCode(error);
      throw new ResourceError("source_unreadable", this.#options.file, reason, error);
    }
  }
}
