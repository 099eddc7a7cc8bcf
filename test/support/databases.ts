import { randomBytes } from "node:crypto";
import { join } from "node:path";
import pg from "pg";
import { describe, onTestFinished } from "vitest";
import { ADDRESS, MISSING } from "./postgres.js";
import { temporaryFolder } from "./temporary-folder.js";

/** Whether there is no PostgreSQL server in this run. */
export const postgresIsMissing: boolean = process.env[ADDRESS] === undefined;

/** Runs the same tests against an SQLite file and a PostgreSQL database, each of a test's own. */
export function onBothDatabases(
  tests: (place: () => Promise<string>, dialect: "sqlite" | "postgres") => void,
): void {
  describe("on SQLite", () => tests(async () => join(temporaryFolder(), "proviso.db"), "sqlite"));
  const missing = postgresIsMissing;
  const reason = missing ? ` (skipped: ${process.env[MISSING]})` : "";
  describe.skipIf(missing)(`on PostgreSQL${reason}`, () => tests(postgresPlace, "postgres"));
}

/** The address of a new database on the server of this run, which goes when the test is done. */
export async function postgresPlace(): Promise<string> {
  const address = process.env[ADDRESS] ?? "";
  const name = `test_${randomBytes(6).toString("hex")}`;
  await administer(address, `CREATE DATABASE ${name}`);
  onTestFinished(() => administer(address, `DROP DATABASE ${name} WITH (FORCE)`));
  const url = new URL(address);
  url.pathname = `/${name}`;
  return url.href;
}

async function administer(address: string, statement: string): Promise<void> {
  const client = new pg.Client({ connectionString: address });
  await client.connect();
  try {
    await client.query(statement);
  } finally {
    await client.end();
  }
}
