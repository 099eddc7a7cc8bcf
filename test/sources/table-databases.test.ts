import { sql } from "kysely";
import { expect, onTestFinished, test } from "vitest";
import { openTables } from "../../src/sources/table.js";
import { openDatabase } from "../../src/storage/database.js";
import { onBothDatabases } from "../support/databases.js";
import { denialOf, namesFound, resourceError } from "./support.js";

// Every kind of database has the same tables and gives the same answers.

const REPORTS = {
  table: "report",
  name: "id",
  displayName: "title",
  fields: { year: "year", score: "score", department: "dept", final: "final" },
};

onBothDatabases((place) => {
  async function source(): ReturnType<typeof openTables> {
    const database = await place();
    const made = await openDatabase(
      database,
      {
        applicationId: 1,
        outdated: [],
        migrations: [
          async ({ run }) => {
            await run(sql`CREATE TABLE report (id integer PRIMARY KEY, title text, year bigint,
            score double precision, dept text, final boolean)`);
            await run(sql`INSERT INTO report VALUES (1, 'First', 2024, 0.5, 'finance', false),
            (2, 'Zweite "Übersicht"', 2025, 2, 'finance', true), (10, NULL, 9007199254740993, NULL, NULL, NULL)`);
            await run(sql`CREATE VIEW twice AS SELECT 1 AS id, title FROM report`);
          },
        ],
      },
      "new",
    );
    await made.close();
    const twice = { table: "twice", name: "id", displayName: "title", fields: {} };
    const opened = await openTables({ database, collections: { reports: REPORTS, twice } });
    onTestFinished(() => opened.close());
    return opened;
  }

  test("the rows of a table are items with fields, in the order of their keys", async () => {
    const tables = await source();
    const about = { collection: "reports", kind: "item" };
    const resources = [
      {
        ...about,
        name: "reports/1",
        displayName: "First",
        fields: { year: 2024, score: 0.5, department: "finance", final: false },
      },
      {
        ...about,
        name: "reports/2",
        displayName: 'Zweite "Übersicht"',
        fields: { year: 2025, score: 2, department: "finance", final: true },
      },
      {
        // A double cannot represent this integer, so the field is left out.
        ...about,
        name: "reports/10",
        displayName: "10",
        fields: { score: null, department: null, final: null },
      },
    ];
    expect(await tables.find({ collection: "reports" })).toEqual({ ok: true, resources });
    for (const resource of resources) expect(await tables.get(resource.name)).toEqual(resource);
    expect(await tables.get("twice/1")).toBeUndefined();
  });

  test.each<[object, readonly number[]]>([
    [{ year: 2025 }, [2]],
    [{ year: { min: 2024, max: 2024.5 } }, [1]],
    [{ year: "2025" }, []],
    [{ year: 2024.5 }, []],
    [{ score: { max: 0.5 } }, [1]],
    [{ score: { in: [2, "x", true, null] } }, [2, 10]],
    [{ department: { in: [null, "hr"] } }, [10]],
    [{ department: 7 }, []],
    [{ department: { max: "finance" } }, [1, 2]],
    [{ final: true }, [2]],
    [{ final: 1 }, []],
    [{ final: { in: [false, null] } }, [1, 10]],
  ])("the filter %j finds exactly the matching rows", async (filter, ids) => {
    const found = await (await source()).find({ collection: "reports", filter: { ...filter } });
    expect(namesFound(found)).toEqual(ids.map((id) => `reports/${id}`));
  });

  test("an unknown collection or field is denied with the known names, and an unknown item name is not found", async () => {
    const tables = await source();
    const filter = { years: 1 };
    expect(denialOf(await tables.find({ collection: "reports", filter })).known).toContain("year");
    expect(denialOf(await tables.find({ collection: "report" })).known).toEqual([
      "reports",
      "twice",
    ]);
    for (const name of ["reports/3", 'reports/"1"', "reports/1.0", "reports", "x/1"]) {
      expect(await tables.get(name)).toBeUndefined();
    }
    const database = await place();
    await (
      await openDatabase(
        database,
        { applicationId: 1, outdated: [], migrations: [async () => {}] },
        "new",
      )
    ).close();
    const open = (): Promise<unknown> => openTables({ database, collections: { r: REPORTS } });
    expect((await resourceError(open)).code).toBe("source_mismatch");
  });
});
