import { setTimeout as sleep } from "node:timers/promises";
import { type Driver, Kysely, SqliteDialect, SqliteDriver } from "kysely";
import type { Connect, Connection } from "./libsql.js";
import { StorageError } from "./storage-error.js";

/** Milliseconds that a write waits for those of other processes. */
const PATIENCE = 2000;
/** So that what reads first can write afterwards. */
const IMMEDIATE = "BEGIN IMMEDIATE";
/** Milliseconds between two attempts. */
const PAUSE = 5;

/** Tries again while another process holds the lock, for so many milliseconds. */
export async function withPatience(patience: number, attempt: () => void): Promise<void> {
  const until = performance.now() + patience;
  for (;;) {
    try {
      attempt();
      return;
    } catch (error) {
      const locked = error instanceof StorageError && error.code === "store_locked";
      if (!locked || performance.now() >= until) throw error;
    }
    await sleep(PAUSE);
  }
}

/** One connection to a file, and Kysely over it. */
export interface OpenFile<Tables> {
  readonly connection: Connection;
  readonly db: Kysely<Tables>;
  readonly close: () => Promise<void>;
}

/** How the transactions of a file begin. */
interface Beginning {
  /** The statement: one that is to write and had read first could not write beside another. */
  readonly begin?: string;
  /** Milliseconds for which it waits. */
  readonly patience?: number;
}

/** Opens a file whose transactions begin when those of other processes let them. */
export function openFile<Tables>(
  connect: Connect,
  path: string,
  name: string,
  { begin = IMMEDIATE, patience = PATIENCE }: Beginning = {},
): OpenFile<Tables> {
  const connection = connect(path, name);
  // Kysely's own `destroy` closes nothing that no query has used.
  const database = { prepare: connection.prepare, close: () => {} };
  let begun = false;
  let failure: unknown;
  // SQLite ends a transaction of its own accord when the disk is full, and would then commit each further statement.
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
          // The first of several statements may have begun it.
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
          // One that is left unfinished would keep the connection from all others.
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
