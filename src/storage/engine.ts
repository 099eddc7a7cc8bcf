import { type Kysely, QueryCreator, type QueryExecutor, type QueryExecutorProvider } from "kysely";
import type { DatabaseDialect } from "./columns.js";

/**
 * The operations in which SQLite and PostgreSQL differ. A query that fails because of the database throws a
 * StorageError.
 */
export interface Engine<Tables> {
  /** The file as the caller named it, or the address without its password. */
  readonly name: string;
  readonly dialect: DatabaseDialect;
  /** A connection that reads committed data and never writes. */
  readonly reader: Kysely<Tables>;
  /** A connection whose transactions can write, and whose reads never wait for another write. */
  readonly writer: Kysely<Tables>;
  /** @throws StorageError `store_replaced` or `store_missing` if writes would be lost. */
  assertInPlace(): void;
  /** @throws StorageError if data cannot be written durably at present. */
  assertUsable(): Promise<void>;
  /** Returns the free bytes on the database's disk; `undefined` if unknown. */
  freeBytes(): Promise<number | undefined>;
  /** Runs a read without any cache of this process. */
  afresh<T>(read: (db: Queries<Tables>) => Promise<T>): Promise<T>;
  close(): Promise<void>;
}

/** Runs queries; does not begin or end transactions. */
export type Queries<Tables> = QueryCreator<Tables> & QueryExecutorProvider;

/**
 * Wraps a shared transaction for one of its callers. After `end`, every query is rejected, including a query
 * that was issued earlier and has not begun.
 */
export class CallerQueries<Tables> extends QueryCreator<Tables> implements QueryExecutorProvider {
  readonly #executor: QueryExecutor;
  readonly #end: () => void;

  constructor(shared: QueryExecutorProvider) {
    let isOver = false;
    const transaction = shared.getExecutor();
    const executor = transaction.withConnectionProvider({
      provideConnection: (consumer) =>
        transaction.provideConnection(async (connection) => {
          if (isOver) throw new TypeError("this transaction is over");
          return consumer(connection);
        }),
    });
    super({ executor });
    this.#executor = executor;
    this.#end = () => {
      isOver = true;
    };
  }

  getExecutor(): QueryExecutor {
    return this.#executor;
  }

  end(): void {
    this.#end();
  }
}
