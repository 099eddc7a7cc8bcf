import { type DatabaseConnection, type Driver, Kysely, PostgresDialect, sql } from "kysely";
import type { Pool, PoolConfig } from "pg";
import { errorCode } from "../bytes/error-code.js";
import { bindable, COLUMNS } from "./columns.js";
import type { Engine } from "./engine.js";
import { migrate, type Schema } from "./migrations.js";
import { StorageError, type StorageErrorCode } from "./storage-error.js";

/** Milliseconds after which an attempt to connect, or a statement that waits for a lock, gives up. */
const PATIENCE = 2000;
const MAX_CONNECTIONS = 8;
/** The type of `bigint`, which `pg` gives as a text unless told how to read it. */
const INT8 = 20;

/**
 * Opens a PostgreSQL database, makes the tables if it has none, and brings their format up to date.
 *
 * @param address - `postgres://USER:PASSWORD@HOST:PORT/DATABASE`.
 * @throws TypeError if this is not such an address.
 * @throws StorageError
 */
export async function openPostgres<Tables>(
  address: string,
  schema: Schema,
): Promise<Engine<Tables>> {
  const name = withoutPassword(address);
  const db = await kyselyOf<Tables>(address);
  try {
    await bringUpToDate(db, schema, name);
  } catch (error) {
    await db.destroy();
    throw error;
  }
  return {
    name,
    dialect: "postgres",
    reader: db,
    writer: db,
    assertInPlace() {},
    // The server waits for its disk, and this process does other work meanwhile.
    relax() {},
    freeBytes: async () => undefined,
    async lock(transaction, lock) {
      await sql`SELECT pg_advisory_xact_lock(hashtextextended(${lock}, 0))`.execute(transaction);
    },
    afresh: (read) => read(db),
    close: () => db.destroy(),
  };
}

/** Kysely over a pool of connections, whose errors are StorageErrors. @throws TypeError, StorageError */
export async function kyselyOf<Tables>(address: string): Promise<Kysely<Tables>> {
  const name = withoutPassword(address);
  const pool = await poolOf(address, name);
  class Dialect extends PostgresDialect {
    override createDriver(): Driver {
      return checked(super.createDriver(), name);
    }
  }
  return new Kysely<Tables>({ dialect: new Dialect({ pool }) });
}

async function poolOf(address: string, name: string): Promise<Pool> {
  const options: PoolConfig = {
    connectionString: address,
    max: MAX_CONNECTIONS,
    connectionTimeoutMillis: PATIENCE,
    application_name: "proviso",
    lock_timeout: PATIENCE,
    // A poll that waits must not keep a process from ending.
    allowExitOnIdle: true,
  };
  const { default: pg } = await import("pg").catch((cause: unknown) => {
    throw new StorageError("store_unavailable", name, { detail: "npm install pg", cause });
  });
  const { types } = pg;
  const pool = new pg.Pool({
    ...options,
    types: {
      getTypeParser: ((oid: number, format?: "text" | "binary") =>
        oid === INT8 ? Number : types.getTypeParser(oid, format)) as typeof types.getTypeParser,
    },
  });
  // Nor does one that breaks between two queries end the process: the next one tells.
  pool.on("connect", (client) => client.on("error", () => {}));
  // An idle connection that breaks is replaced by the next query, which tells what is wrong.
  pool.on("error", () => {});
  return pool;
}

/** A driver that throws StorageErrors, and binds nothing that SQLite could not keep. */
function checked(driver: Driver, name: string): Driver {
  const attempt = <T>(action: Promise<T>): Promise<T> =>
    action.catch((error: unknown) => {
      throw translated(error, name);
    });
  // Kysely gives back the connection that it acquired; the driver knows only its own.
  const owns = new WeakMap<DatabaseConnection, DatabaseConnection>();
  return {
    init: () => driver.init(),
    async acquireConnection() {
      const own = await attempt(driver.acquireConnection());
      const connection: DatabaseConnection = {
        executeQuery: (query) =>
          attempt(own.executeQuery({ ...query, parameters: query.parameters.map(bindable) })),
        streamQuery: (query, size) => own.streamQuery(query, size),
      };
      owns.set(connection, own);
      return connection;
    },
    beginTransaction: (connection, settings) => driver.beginTransaction(connection, settings),
    commitTransaction: (connection) => driver.commitTransaction(connection),
    rollbackTransaction: (connection) => driver.rollbackTransaction(connection),
    releaseConnection: (connection) => driver.releaseConnection(owns.get(connection) ?? connection),
    destroy: () => driver.destroy(),
  };
}

interface Stamp {
  readonly application: number;
  readonly format: number;
}

/** @throws StorageError `store_corrupt` or `store_version`. */
async function bringUpToDate<Tables>(
  db: Kysely<Tables>,
  schema: Schema,
  name: string,
): Promise<void> {
  const { applicationId, migrations } = schema;
  await db.transaction().execute(async (transaction) => {
    // One process at a time: two that start at once must not both make the tables.
    await sql`SELECT pg_advisory_xact_lock(${applicationId})`.execute(transaction);
    await sql`CREATE TABLE IF NOT EXISTS proviso_format
      (one integer PRIMARY KEY CHECK (one = 1), application bigint NOT NULL, format integer NOT NULL)`.execute(
      transaction,
    );
    const { rows } = await sql<Stamp>`SELECT application, format FROM proviso_format`.execute(
      transaction,
    );
    const [stamp] = rows;
    if (stamp !== undefined && stamp.application !== applicationId) {
      throw new StorageError("store_corrupt", name, { detail: "its tables are something else" });
    }
    const format = stamp?.format ?? 0;
    if (format > migrations.length) throw new StorageError("store_version", name);
    if (format === migrations.length) return;
    await migrate(schema, format, {
      schema: transaction.schema,
      dialect: "postgres",
      columns: COLUMNS.postgres,
      run: async (statement) => {
        await statement.execute(transaction);
      },
    });
    await sql`INSERT INTO proviso_format VALUES (1, ${applicationId}, ${migrations.length})
      ON CONFLICT (one) DO UPDATE SET format = excluded.format`.execute(transaction);
  });
}

/** An address as it may be shown. @throws TypeError */
export function withoutPassword(address: string): string {
  const url = URL.parse?.(address) ?? (URL.canParse(address) ? new URL(address) : null);
  if (url === null)
    throw new TypeError("a database's address is postgres://USER@HOST:PORT/DATABASE");
  url.password = "";
  url.search = "";
  return url.href;
}

/** The first that the error's code starts with counts; the codes are PostgreSQL's and the system's. */
const CODES: readonly (readonly [start: string, code: StorageErrorCode])[] = [
  ["08", "store_unreachable"],
  ["57P", "store_unreachable"],
  ["53300", "store_unreachable"],
  ["53100", "store_full"],
  ["28", "store_unreadable"],
  ["3D000", "store_missing"],
  ["25006", "store_unwritable"],
  ["42501", "store_unwritable"],
  ["42", "store_corrupt"],
  ["55P03", "store_locked"],
  ["40", "store_locked"],
  ["ECONN", "store_unreachable"],
  ["ENOTFOUND", "store_unreachable"],
  ["EAI_AGAIN", "store_unreachable"],
  ["EPIPE", "store_unreachable"],
  ["ETIMEDOUT", "store_unreachable"],
  ["EHOSTUNREACH", "store_unreachable"],
  ["ENETUNREACH", "store_unreachable"],
];

function translated(error: unknown, name: string): unknown {
  if (!(error instanceof Error) || error instanceof StorageError) return error;
  const reason = errorCode(error);
  const ofServer = "severity" in error;
  const known = CODES.find(([start]) => reason.startsWith(start))?.[1];
  if (known !== undefined && (ofServer || reason.startsWith("E"))) {
    return new StorageError(known, name, { detail: reason, cause: error });
  }
  if (ofServer) return new StorageError("store_unreadable", name, { detail: reason, cause: error });
  // `pg` gives no code for a connection that ended or did not come about in time.
  if (/^(Connection terminated|timeout exceeded when trying to connect)/.test(error.message)) {
    return new StorageError("store_unreachable", name, { cause: error });
  }
  return error;
}
