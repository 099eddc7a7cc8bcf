import { Socket } from "node:net";
import { Kysely, PostgresDialect, sql } from "kysely";
import type { Pool } from "pg";
import { errorCode } from "../system/error-code.js";
import { bindable } from "./columns.js";
import type { Engine } from "./engine.js";
import { type IfMissing, migrate, type Schema } from "./migrations.js";
import { knownFailure, StorageError } from "./storage-error.js";

/** Milliseconds for a connection attempt, and for a statement to wait for a lock. */
const PATIENCE = 2000;
const MAX_CONNECTIONS = 8;
/** Longest time that a statement may take, in milliseconds. */
const LONGEST_STATEMENT = 8000;
/** Longest time for which a connection may be silent before it is closed, in milliseconds. */
const LONGEST_SILENCE = 10_000;
/** Milliseconds for which a failed connection attempt is reported as a problem. */
const REMEMBERED = 10_000;
/** Settings of every session, independent of the server's defaults; options in the address override them. */
const SESSION = "-c search_path=public -c synchronous_commit=on";
/** Statements that clear an earlier failure of the session, including `ROLLBACK TO SAVEPOINT`. */
const AFRESH = /^(begin|start transaction|rollback)/i;
/** The type id of `bigint`, which `pg` returns as a string unless a parser is set. */
const INT8 = 20;

/**
 * Opens a PostgreSQL database and brings the format of its tables up to date.
 *
 * @param address - `postgres://USER:PASSWORD@HOST:PORT/DATABASE`. The tables are in the schema `public` unless
 *   the address names another: `?options=-c search_path=NAME`.
 * @param ifMissing - The action if the database has none of the tables.
 * @throws TypeError if `address` is malformed.
 * @throws StorageError if the database cannot be opened.
 */
export async function openPostgres<Tables>(
  address: string,
  schema: Schema,
  ifMissing: IfMissing,
): Promise<Engine<Tables>> {
  const name = withoutPassword(address);
  let refused: { readonly error: unknown; readonly until: number } | undefined;
  const db = await kyselyOf<Tables>(address, (error) => {
    refused = error === undefined ? error : { error, until: performance.now() + REMEMBERED };
  });
  try {
    await bringUpToDate(db, schema, name, ifMissing);
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
    async assertUsable() {
      // An open connection answers this query, but the answer does not show whether a new connection could be
      // opened.
      if (refused !== undefined && performance.now() < refused.until) throw refused.error;
      const { rows } = await sql<{ readonly writes: string }>`
        SELECT current_setting('transaction_read_only') AS writes`.execute(db);
      if (rows[0]?.writes !== "off") throw new StorageError("store_read_only", name);
    },
    freeBytes: async () => undefined,
    afresh: (read) => read(db),
    close: () => db.destroy(),
  };
}

/**
 * Returns Kysely with a pool of connections. Queries fail with StorageErrors, or with a TypeError for a value
 * that SQLite could not store.
 *
 * @param onConnect - Called after each attempt to open a connection, with the error if it failed.
 * @throws TypeError if the address is malformed.
 * @throws StorageError if `pg` cannot be loaded.
 */
export async function kyselyOf<Tables>(
  address: string,
  onConnect: (error?: unknown) => void = () => {},
): Promise<Kysely<Tables>> {
  const name = withoutPassword(address);
  const pool = await poolOf(address, name);
  pool.on("connect", () => onConnect());
  const attempt = <T>(action: Promise<T>): Promise<T> =>
    action.catch((error: unknown) => {
      throw translated(error, name);
    });
  const dialect = new PostgresDialect({
    pool: {
      connect: () =>
        attempt(pool.connect()).catch((error: unknown) => {
          onConnect(error);
          throw error;
        }),
      end: () => pool.end(),
    },
    async onCreateConnection(connection) {
      const execute = connection.executeQuery.bind(connection);
      let failure: unknown;
      connection.executeQuery = async (query) => {
        const parameters = query.parameters.map(bindable);
        // After a failed query, COMMIT would roll back without reporting an error.
        if (query.sql === "commit" && failure !== undefined) throw failure;
        try {
          const result = await attempt(execute<never>({ ...query, parameters }));
          if (AFRESH.test(query.sql)) failure = undefined;
          return result;
        } catch (error) {
          failure ??= error;
          throw isAfterFailure(error) ? failure : error;
        }
      };
    },
  });
  return new Kysely<Tables>({ dialect });
}

/** Returns whether the server refuses a query because an earlier query of the transaction failed. */
function isAfterFailure(error: unknown): boolean {
  return error instanceof StorageError && errorCode(error.cause) === "25P02";
}

async function poolOf(address: string, name: string): Promise<Pool> {
  const { default: pg } = await import("pg").catch((cause: unknown) => {
    throw new StorageError("store_unavailable", name, { detail: "npm install pg", cause });
  });
  const types = new pg.TypeOverrides();
  types.setTypeParser(INT8, Number);
  // Append the options in the address to the settings of `SESSION`, which `pg` would otherwise replace.
  const url = new URL(address);
  const own = url.searchParams.getAll("options");
  url.searchParams.delete("options");
  const pool = new pg.Pool({
    connectionString: url.href,
    max: MAX_CONNECTIONS,
    connectionTimeoutMillis: PATIENCE,
    application_name: "proviso",
    lock_timeout: PATIENCE,
    statement_timeout: LONGEST_STATEMENT,
    options: [SESSION, ...own].join(" "),
    stream: unsilent,
    // An idle connection must not keep the process alive.
    allowExitOnIdle: true,
    types,
  });
  // A connection that breaks between two queries must not end the process; the next query reports the error.
  pool.on("connect", (client) => client.on("error", () => {}));
  // The next query replaces an idle connection that broke, or reports the error.
  pool.on("error", () => {});
  return pool;
}

/** Returns a socket that closes when the other side is silent, since a failover sends no notice. */
function unsilent(): Socket {
  const socket = new Socket();
  socket.setTimeout(LONGEST_SILENCE, () =>
    socket.destroy(new Error("Connection terminated: silent")),
  );
  return socket;
}

interface Stamp {
  readonly application: number;
  readonly format: number;
}

/** @throws StorageError `store_encoding`, `store_missing`, `store_outdated`, `store_corrupt` or `store_version`. */
async function bringUpToDate<Tables>(
  db: Kysely<Tables>,
  schema: Schema,
  name: string,
  ifMissing: IfMissing,
): Promise<void> {
  const { applicationId, outdated, migrations } = schema;
  await db.transaction().execute(async (transaction) => {
    const { rows: settings } = await sql<{ readonly encoding: string }>`
      SELECT current_setting('server_encoding') AS encoding`.execute(transaction);
    const encoding = settings[0]?.encoding;
    if (encoding !== "UTF8") {
      throw new StorageError("store_encoding", name, { detail: `its encoding is ${encoding}` });
    }
    // Lock, so that two processes that start together do not both create the tables.
    await sql`SELECT pg_advisory_xact_lock(${applicationId})`.execute(transaction);
    const { rows: known } = await sql<{ there: boolean }>`
      SELECT to_regclass('proviso_format') IS NOT NULL AS there`.execute(transaction);
    if (known[0]?.there !== true) {
      if (ifMissing === "refuse") {
        throw new StorageError("store_missing", name, { detail: "it has no tables of proviso" });
      }
      // This statement is skipped if the tables exist, so that a read-only database can be opened.
      await sql`CREATE TABLE proviso_format
        (one integer PRIMARY KEY CHECK (one = 1), application bigint NOT NULL, format integer NOT NULL)`.execute(
        transaction,
      );
    }
    const { rows } = await sql<Stamp>`SELECT application, format FROM proviso_format`.execute(
      transaction,
    );
    const [stamp] = rows;
    if (outdated.some((known) => known === stamp?.application)) {
      throw new StorageError("store_outdated", name);
    }
    if (stamp !== undefined && stamp.application !== applicationId) {
      throw new StorageError("store_corrupt", name, { detail: "its tables are something else" });
    }
    const format = stamp?.format ?? 0;
    if (format > migrations.length) throw new StorageError("store_version", name);
    if (format === migrations.length) return;
    await migrate(schema, format, transaction, "postgres");
    await sql`INSERT INTO proviso_format VALUES (1, ${applicationId}, ${migrations.length})
      ON CONFLICT (one) DO UPDATE SET format = excluded.format`.execute(transaction);
  });
}

/**
 * Returns an address without its password.
 *
 * @throws TypeError if the address is malformed; the message does not show the address. An address is malformed
 *   if its password is not percent-encoded: after a `#` or `/`, the end of the password would be shown as
 *   another part.
 */
export function withoutPassword(address: string): string {
  const url = URL.canParse(address) ? new URL(address) : undefined;
  if (
    url === undefined ||
    !/^postgres(ql)?:\/\//.test(address) ||
    url.hash !== "" ||
    !/^\/?[^/@]*$/.test(url.pathname)
  ) {
    throw new TypeError(
      "a database's address is postgres://USER:PASSWORD@HOST:PORT/DATABASE, with / # ? @ in a password " +
        "as %2F %23 %3F %40",
    );
  }
  const user = url.username === "" ? "" : `${url.username}@`;
  return `${url.protocol}//${user}${url.host}${url.pathname}`;
}

function translated(error: unknown, name: string): unknown {
  if (!(error instanceof Error) || error instanceof StorageError) return error;
  const known = knownFailure(error, name);
  if (known !== undefined) return known;
  if ("severity" in error) {
    return new StorageError("store_unreadable", name, { detail: errorCode(error), cause: error });
  }
  // `pg` gives no code for a login without a password, or for a connection that ended or timed out.
  if (error.message.startsWith("SASL")) {
    return new StorageError("store_unreadable", name, { detail: "it asks for a password" });
  }
  if (/^(Connection terminated|timeout exceeded|Client has encountered)/.test(error.message)) {
    return new StorageError("store_unreachable", name, { cause: error });
  }
  return error;
}
