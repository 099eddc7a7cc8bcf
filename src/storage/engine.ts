import type { Kysely } from "kysely";
import type { DatabaseDialect } from "./columns.js";
import type { Queries } from "./queries.js";

/**
 * One kind of database: what differs between SQLite and PostgreSQL. Where a query fails for a reason of
 * the database, its error is a StorageError.
 */
export interface Engine<Tables> {
  /** The file as it was named, or the address without its password. */
  readonly name: string;
  readonly dialect: DatabaseDialect;
  /** Reads what is committed; never written with. */
  readonly reader: Kysely<Tables>;
  /** Begins each transaction so that a read in it never has to wait for a write. */
  readonly writer: Kysely<Tables>;
  /** @throws StorageError `store_replaced` or `store_missing` if what is written would be lost. */
  assertInPlace(): void;
  /** Asks whether what is to be kept can be written now. @throws StorageError if it cannot. */
  assertUsable(): Promise<void>;
  /** Bytes free where the database writes; `undefined` where this cannot be known. */
  freeBytes(): Promise<number | undefined>;
  /** Reads with nothing cached in this process. */
  afresh<T>(read: (db: Queries<Tables>) => Promise<T>): Promise<T>;
  close(): Promise<void>;
}
