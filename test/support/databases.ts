import { randomBytes } from "node:crypto";
import { join } from "node:path";
import { describe, onTestFinished } from "vitest";
import { ADDRESS, administer, DATABASES, MISSING } from "./postgres.js";
import { FULL } from "./size.js";
import { temporaryFolder } from "./temporary-folder.js";

/** `true` if this run has no PostgreSQL server. */
export const postgresIsMissing: boolean = process.env[ADDRESS] === undefined;

/** Runs the same tests with an SQLite file and with a PostgreSQL database, each new for the test. */
export function onBothDatabases(
  tests: (place: () => Promise<string>, dialect: "sqlite" | "postgres") => void,
): void {
  onSqlite(tests);
  const missing = postgresIsMissing;
  const reason = missing ? ` (skipped: ${process.env[MISSING]})` : "";
  describe.skipIf(missing)(`on PostgreSQL${reason}`, () => tests(postgresPlace, "postgres"));
}

function onSqlite(tests: Parameters<typeof onBothDatabases>[0]): void {
  describe("on SQLite", () => tests(async () => join(temporaryFolder(), "proviso.db"), "sqlite"));
}

/**
 * Runs tests as {@link onBothDatabases} does, but with SQLite only in a quick run. It is for tests of code above the
 * stores and the SQL layer; the tests of the stores and of the SQL layer use both databases.
 */
export const throughStores: typeof onBothDatabases = FULL ? onBothDatabases : onSqlite;

/** Unused databases of this process. */
const free: string[] = [];

/** Returns the address of an empty database on this run's server, for one test only. */
export async function postgresPlace(): Promise<string> {
  const place = free.pop() ?? (await newPlace());
  onTestFinished(async () => {
    await administer(place, EMPTY);
    free.push(place);
  });
  return place;
}

async function newPlace(): Promise<string> {
  const url = new URL(process.env[ADDRESS] ?? "");
  const name = `${DATABASES}${randomBytes(6).toString("hex")}`;
  await administer(url.href, `CREATE DATABASE ${name}`);
  url.pathname = `/${name}`;
  return url.href;
}

/**
 * Closes connections that a test left open, and removes everything that the test made. This is three times as fast as
 * making a new database.
 */
const EMPTY = `
  SELECT pg_terminate_backend(pid) FROM pg_stat_activity
    WHERE datname = current_database() AND pid <> pg_backend_pid();
  DO $$ DECLARE name text; BEGIN
    FOR name IN SELECT nspname FROM pg_namespace WHERE nspname !~ '^(pg_|information_schema$)' LOOP
      EXECUTE format('DROP SCHEMA %I CASCADE', name);
    END LOOP;
  END $$;
  CREATE SCHEMA public;
`;
