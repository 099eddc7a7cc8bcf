import { resolve } from "node:path";
import type { Transaction } from "kysely";
import type { DatabaseDialect } from "./columns.js";
import { isAddress } from "./database.js";
import { loadLibsql } from "./libsql.js";
import { kyselyOf, withoutPassword } from "./postgres.js";
import { identityOf } from "./sqlite.js";
import { openFile } from "./sqlite-file.js";

/** Tables of another program, with any names and columns. */
interface ForeignTables {
  readonly [table: string]: { readonly [column: string]: unknown };
}

/** Another program's database, opened only for reading. */
export interface ForeignDatabase {
  /** The file as the caller named it, or the address without its password. */
  readonly name: string;
  readonly dialect: DatabaseDialect;
  /**
   * Reads in a transaction that cannot write.
   * @throws StorageError if the database cannot be read.
   */
  read<T>(action: (db: Transaction<ForeignTables>) => Promise<T>): Promise<T>;
  close(): Promise<void>;
}

/** Milliseconds that a read waits for a writer. */
const PATIENCE = 500;
// If a later libsql statement finds the database locked, it keeps a lock until it is garbage-collected. So the
// lock is already taken when the transaction begins.
const BEGIN = "BEGIN; SELECT 1 FROM main.sqlite_schema LIMIT 1";

/**
 * Opens a database for reading: a file, which may be replaced at any time, or a PostgreSQL address.
 *
 * @throws TypeError if the address is malformed.
 * @throws StorageError if the database cannot be opened.
 */
export async function openForeign(place: string): Promise<ForeignDatabase> {
  return isAddress(place) ? postgres(place) : sqlite(place);
}

async function postgres(address: string): Promise<ForeignDatabase> {
  const db = await kyselyOf<ForeignTables>(address);
  return {
    name: withoutPassword(address),
    dialect: "postgres",
    read: (action) => db.transaction().setAccessMode("read only").execute(action),
    close: () => db.destroy(),
  };
}

async function sqlite(name: string): Promise<ForeignDatabase> {
  const connect = await loadLibsql(name);
  const path = resolve(name);
  const open = () => {
    const identity = identityOf(path, name);
    const file = openFile<ForeignTables>(connect, path, name, { begin: BEGIN, patience: PATIENCE });
    file.connection.exec("PRAGMA query_only = ON");
    return { identity, ...file };
  };
  let opened = open();
  return {
    name,
    dialect: "sqlite",
    async read(action) {
      if (identityOf(path, name) !== opened.identity) {
        const old = opened;
        opened = open();
        await old.close();
      }
      return opened.db.transaction().execute(action);
    },
    close: () => opened.close(),
  };
}
