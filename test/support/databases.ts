import { randomBytes } from "node:crypto";
import { join } from "node:path";
import { describe, onTestFinished } from "vitest";
import { ADDRESS, administer, DATABASES, MISSING } from "./postgres.js";
import { FULL } from "./size.js";
import { temporaryFolder } from "./temporary-folder.js";

/** Whether there is no PostgreSQL server in this run. */
export const postgresIsMissing: boolean = process.env[ADDRESS] === undefined;

/** Runs the same tests against an SQLite file and a PostgreSQL database, each of a test's own. */
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
 * As {@link onBothDatabases}, but a quick run tries SQLite alone: for what stands on stores and on the SQL floor, which
 * are themselves tested on both.
 */
export const throughStores: typeof onBothDatabases = FULL ? onBothDatabases : onSqlite;

/** Databases of this process that no test uses. */
const free: string[] = [];

/** The address of a database on the server of this run, which holds nothing, and is one test's alone. */
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

/** Ends whatever a test left open, and removes all that it made: a third of what a new database takes. */
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
