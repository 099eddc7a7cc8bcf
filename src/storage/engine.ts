import { type Kysely, QueryCreator, type QueryExecutor, type QueryExecutorProvider } from "kysely";
import type { DatabaseDialect } from "./columns.js";

/**
 * A kind of database: the differences between SQLite and PostgreSQL. A query that fails for a reason of the
 * database throws a StorageError.
 */
export interface Engine<Tables> {
  /** The file as the caller named it, or the address without its password. */
  readonly name: string;
  readonly dialect: DatabaseDialect;
  /** A connection for committed data; never used to write. */
  readonly reader: Kysely<Tables>;
  /** Begins each transaction so that a read in it never waits for a write. */
  readonly writer: Kysely<Tables>;
  /** @throws StorageError `store_replaced` or `store_missing` if the writes would be lost. */
  assertInPlace(): void;
  /** Checks that durable data can be written now. @throws StorageError if it cannot. */
  assertUsable(): Promise<void>;
  /** Returns the free bytes on the database's disk; `undefined` if unknown. */
  freeBytes(): Promise<number | undefined>;
  /** Reads without any cache of this process. */
  afresh<T>(read: (db: Queries<Tables>) => Promise<T>): Promise<T>;
  close(): Promise<void>;
}

/** Runs queries; does not begin or end transactions. */
export type Queries<Tables> = QueryCreator<Tables> & QueryExecutorProvider;

/**
 * Wraps a shared transaction for one of its callers. After `end`, every query is rejected, including one that
 * was issued earlier and has not begun.
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
