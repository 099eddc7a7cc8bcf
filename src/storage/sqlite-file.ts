import { setTimeout as sleep } from "node:timers/promises";
import { type Driver, Kysely, SqliteDialect, SqliteDriver } from "kysely";
import type { Connect, Connection } from "./libsql.js";
import { StorageError } from "./storage-error.js";

/** Milliseconds that a write waits for writes of other processes. */
const PATIENCE = 2000;
/** BEGIN IMMEDIATE, so that a transaction that starts with a read can still write. */
const IMMEDIATE = "BEGIN IMMEDIATE";
/** Milliseconds between two attempts. */
const PAUSE = 5;
/**
 * Runs `attempt`. While another process holds the lock, retries it for at most `patience` milliseconds. The time between
 * two attempts counts as at most a quarter of `patience`: if this process was paused for longer, the process that holds
 * the lock may have been paused too.
 */
export async function withPatience(patience: number, attempt: () => void): Promise<void> {
  for (let waited = 0; ; ) {
    const began = performance.now();
    try {
      attempt();
      return;
    } catch (error) {
      const locked = error instanceof StorageError && error.code === "store_locked";
      if (!locked || waited >= patience) throw error;
    }
    await sleep(PAUSE);
    waited += Math.min(performance.now() - began, patience / 4);
  }
}

/** A connection to a file, with its Kysely instance. */
export interface OpenFile<Tables> {
  readonly connection: Connection;
  readonly db: Kysely<Tables>;
  readonly close: () => Promise<void>;
}

/** The way in which transactions of a file begin. */
interface Beginning {
  /** The statement that begins a transaction; `BEGIN IMMEDIATE` unless given. */
  readonly begin?: string;
  /** Milliseconds to wait for the lock. */
  readonly patience?: number;
}

/** Opens a file. Its transactions wait for transactions of other processes. */
export function openFile<Tables>(
  connect: Connect,
  path: string,
  name: string,
  { begin = IMMEDIATE, patience = PATIENCE }: Beginning = {},
): OpenFile<Tables> {
  const connection = connect(path, name);
  // Kysely's own `destroy` does not close a connection that no query has used.
  const database = { prepare: connection.prepare, close: () => {} };
  let begun = false;
  let failure: unknown;
  // When the disk is full, SQLite rolls the transaction back by itself, and would then commit each further
  // statement on its own.
  const inTransaction = async <T>(run: () => Promise<T>): Promise<T> => {
    if (begun && !connection.inTransaction) {
      throw failure ?? new TypeError("this transaction is over");
    }
    try {
      return await run();
    } catch (error) {
      if (begun && !connection.inTransaction) failure = error;
      throw error;
    }
  };
  class PatientDriver extends SqliteDriver {
    override beginTransaction(): Promise<void> {
      return withPatience(patience, () => {
        try {
          connection.exec(begin);
          begun = true;
          failure = undefined;
        } catch (error) {
          // If `begin` has several statements, the first statement may have begun the transaction.
          if (connection.inTransaction) connection.exec("ROLLBACK");
          throw error;
        }
      });
    }

    override async commitTransaction(): Promise<void> {
      await inTransaction(() => connection.commit());
      begun = false;
    }

    override async rollbackTransaction(): Promise<void> {
      begun = false;
      if (connection.inTransaction) connection.exec("ROLLBACK");
    }
  }
  class Dialect extends SqliteDialect {
    override createDriver(): Driver {
      return new PatientDriver({
        database,
        async onCreateConnection(made) {
          const run = made.executeQuery.bind(made);
          // An unfinished stream would block the connection for all other calls.
          made.streamQuery = () => {
            throw new TypeError("nothing is streamed from a database");
          };
          made.executeQuery = (query) => inTransaction(async () => run<never>(query));
        },
      });
    }
  }
  const db = new Kysely<Tables>({ dialect: new Dialect({ database }) });
  return { connection, db, close: () => db.destroy().finally(connection.close) };
}
