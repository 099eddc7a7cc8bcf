import { renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import Database from "libsql";
import { describe, expect, test } from "vitest";
import { openTables } from "../../src/sources/table.js";
import { cpuTime } from "../support/cpu-time.js";
import { temporaryFolder } from "../support/temporary-folder.js";
import {
  databaseWith,
  found,
  namesFound,
  REPORTS,
  REPORTS_SQL,
  resourceError,
  sqliteSource,
} from "./support.js";

describe("large tables", () => {
  const MANY = `
    CREATE TABLE report (id INTEGER PRIMARY KEY, title TEXT, year INTEGER, dept TEXT, final BOOLEAN);
    CREATE INDEX by_dept ON report (dept);
    CREATE INDEX by_year ON report (year);
    WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 100000)
      INSERT INTO report SELECT i, 'Report ' || i, i % 1000, 'd' || (i % 20000), i % 2 FROM n;
  `;
  test("are searched by index for equality, lists and ranges", async () => {
    const { file } = databaseWith(MANY);
    const source = await sqliteSource(file, { reports: REPORTS });
    const names = namesFound(
      await source.find({ collection: "reports", filter: { department: "d7" } }),
    );
    expect(names).toEqual([7, 20007, 40007, 60007, 80007].map((id) => `reports/${id}`));
    const time = async (filter: object): Promise<number> => {
      const spent = cpuTime();
      for (let i = 0; i < 20; i++)
        await source.find({ collection: "reports", filter: { ...filter } });
      return spent();
    };
    const spent = cpuTime();
    const all = found(await source.find({ collection: "reports" }));
    const whole = spent();
    expect(all).toHaveLength(100_000);
    // Twenty queries that use an index take less time than two readings of every row.
    for (const filter of [{ department: { in: ["d7", "d8"] } }, { year: { min: 5, max: 5.5 } }]) {
      expect(await time(filter)).toBeLessThan(whole * 2);
    }
    expect(await time({ department: "d7" })).toBeLessThan(whole);
  });

  test("are not searched if the query would look at more rows than maxRows", async () => {
    const { file } = databaseWith(REPORTS_SQL);
    const source = await sqliteSource(file, { reports: REPORTS }, 2);
    const error = await resourceError(() => source.find({ collection: "reports" }));
    expect(error.code).toBe("source_too_large");
    expect(error.message).toContain("a query on reports would have to look at more than 2 rows");
    const filter = { year: 2025 };
    expect(namesFound(await source.find({ collection: "reports", filter }))).toHaveLength(2);
  });
});

describe("the database file of tables", () => {
  test("may be replaced while the source is open", async () => {
    const { file, database } = databaseWith(REPORTS_SQL);
    const source = await sqliteSource(file, { reports: REPORTS });
    database.close();
    const other = databaseWith(`${REPORTS_SQL} UPDATE report SET title = 'Other'`);
    other.database.exec("DELETE FROM report WHERE id = 2");
    other.database.close();
    renameSync(other.file, file);
    expect((await source.get("reports/1"))?.displayName).toBe("Other");
    expect(namesFound(await source.find({ collection: "reports" }))).toHaveLength(2);
    const wrong = databaseWith("CREATE TABLE report (id INTEGER PRIMARY KEY, year)");
    wrong.database.close();
    renameSync(wrong.file, file);
    expect((await resourceError(() => source.get("reports/1"))).code).toBe("source_unreadable");
    rmSync(file);
    expect((await resourceError(() => source.get("reports/1"))).code).toBe("source_missing");
  });

  test("gives the error source_unreadable if a column was dropped", async () => {
    const { file, database } = databaseWith(REPORTS_SQL);
    const source = await sqliteSource(file, { reports: REPORTS });
    database.exec("ALTER TABLE report DROP COLUMN dept");
    const filter = { department: "dept" };
    const error = await resourceError(() => source.find({ collection: "reports", filter }));
    expect(error.code).toBe("source_unreadable");
    expect(error.message).toContain("no such column");
    expect((await resourceError(() => source.get("reports/1"))).code).toBe("source_unreadable");
  });

  test("gives an error after a short wait while it is locked, and is read once the writer is done", async () => {
    const { file, database } = databaseWith(REPORTS_SQL);
    const source = await sqliteSource(file, { reports: REPORTS });
    database.exec("BEGIN EXCLUSIVE; UPDATE report SET title = 'Newer'");
    const before = performance.now();
    const error = await resourceError(() => source.get("reports/1"));
    expect(error.code).toBe("source_unreadable");
    expect(error.message).toContain("locked");
    const query = { collection: "reports" };
    expect((await resourceError(() => source.find(query))).message).toContain("locked");
    expect(performance.now() - before).toBeLessThan(15_000);
    database.exec("COMMIT");
    expect((await source.get("reports/1"))?.displayName).toBe("Newer");
    // Once the source has answered, it holds no lock.
    database.exec("BEGIN EXCLUSIVE; DELETE FROM report; COMMIT");
    expect(namesFound(await source.find(query))).toEqual([]);
  });

  test("may use a write-ahead log, so that readers do not wait for a writer", async () => {
    const { file, database } = databaseWith(`PRAGMA journal_mode = WAL; ${REPORTS_SQL}`);
    const source = await sqliteSource(file, { reports: REPORTS });
    database.exec("BEGIN IMMEDIATE; UPDATE report SET title = 'Newer'");
    expect((await source.get("reports/1"))?.displayName).toBe("First");
    database.exec("COMMIT");
    expect((await source.get("reports/1"))?.displayName).toBe("Newer");
  });

  test("belongs to a source that may be closed twice, and cannot be queried after close()", async () => {
    const { file } = databaseWith(REPORTS_SQL);
    const source = await openTables({ database: file, collections: { reports: REPORTS } });
    await source.close();
    await source.close();
    await expect(source.get("reports/1")).rejects.toThrow(TypeError);
    await expect(source.find({ collection: "reports" })).rejects.toThrow(
      "these resources are closed",
    );
  });

  test("must exist, be an SQLite database, and have the configured table", async () => {
    const directory = temporaryFolder();
    const open = (file: string): Promise<unknown> =>
      openTables({ database: file, collections: { reports: REPORTS } });
    const missing = await resourceError(() => open(join(directory, "no.db")));
    expect([missing.code, missing.subject]).toEqual(["source_missing", join(directory, "no.db")]);
    writeFileSync(join(directory, "text.db"), "this is a text, and not a database\n".repeat(40));
    expect((await resourceError(() => open(join(directory, "text.db")))).code).toBe(
      "source_unreadable",
    );
    expect((await resourceError(() => open(directory))).code).toBe("source_unreadable");
    new Database(join(directory, "empty.db")).exec("CREATE TABLE x (y)");
    expect((await resourceError(() => open(join(directory, "empty.db")))).code).toBe(
      "source_mismatch",
    );
  });
});
