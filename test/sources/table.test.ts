import { describe, expect, test } from "vitest";
import { openTables } from "../../src/sources/table.js";
import {
  databaseWith,
  denialOf,
  found,
  namesFound,
  REPORTS,
  REPORTS_SQL,
  resourceError,
  sqliteSource,
} from "./support.js";

describe("the rows of a table", () => {
  test("are items with the configured fields, in the order of their keys", async () => {
    const { file } = databaseWith(REPORTS_SQL);
    const source = await sqliteSource(file, { reports: REPORTS, again: REPORTS });
    expect(await source.collections()).toEqual(["again", "reports"]);
    const resources = found(await source.find({ collection: "reports" }));
    const about = { collection: "reports", kind: "item" };
    expect(resources).toEqual([
      {
        ...about,
        name: "reports/1",
        displayName: "First",
        fields: { year: 2024, department: "finance", final: false },
      },
      {
        ...about,
        name: "reports/2",
        displayName: "Second",
        fields: { year: 2025, department: "finance", final: true },
      },
      {
        ...about,
        name: "reports/10",
        displayName: "10",
        fields: { year: 2025, department: null, final: 2 },
      },
    ]);
    for (const resource of resources) expect(await source.get(resource.name)).toEqual(resource);
  });

  test("are found by a filter", async () => {
    const { file } = databaseWith(REPORTS_SQL);
    const source = await sqliteSource(file, { reports: REPORTS });
    const names = async (filter: object): Promise<string[]> =>
      namesFound(await source.find({ collection: "reports", filter: { ...filter } }));
    expect(await names({ year: 2025, department: "finance" })).toEqual(["reports/2"]);
    expect(await names({ year: { min: 2025 } })).toEqual(["reports/2", "reports/10"]);
    expect(await names({ department: { in: [null, "hr"] } })).toEqual(["reports/10"]);
    expect(await names({ final: { in: [true, 2] } })).toEqual(["reports/2", "reports/10"]);
    expect(await names({ final: 1 })).toEqual([]);
    expect(await names({ year: "2025" })).toEqual([]);
    expect(await names({ department: { max: "finance" } })).toEqual(["reports/1", "reports/2"]);
  });

  test("have a collection that is itself a resource, named with a final slash", async () => {
    const { file } = databaseWith(REPORTS_SQL);
    const source = await sqliteSource(file, { reports: REPORTS });
    expect(await source.nameOfCollection("reports")).toBe("reports/");
    expect(await source.nameOfCollection("report")).toBeUndefined();
    expect(await source.get("reports/")).toEqual({
      name: "reports/",
      displayName: "reports",
      collection: "reports",
      kind: "collection",
      fields: {},
    });
  });

  test("are read at the moment of the query", async () => {
    const { file, database } = databaseWith(REPORTS_SQL);
    const source = await sqliteSource(file, { reports: REPORTS });
    database.exec("UPDATE report SET dept = 'hr' WHERE id = 1; DELETE FROM report WHERE id = 2");
    database.exec("INSERT INTO report VALUES (3, 'Third', 1, 'hr', NULL)");
    expect((await source.get("reports/1"))?.fields["department"]).toBe("hr");
    expect(await source.get("reports/2")).toBeUndefined();
    expect(
      namesFound(await source.find({ collection: "reports", filter: { department: "hr" } })),
    ).toEqual(["reports/1", "reports/3"]);
  });

  test("cannot be changed by SQL in a configured name or in a filter", async () => {
    const { file } = databaseWith(REPORTS_SQL);
    const name = `title" FROM report; DELETE FROM report; --`;
    const error = await resourceError(() =>
      openTables({ database: file, collections: { r: { ...REPORTS, displayName: name } } }),
    );
    expect(error.code).toBe("source_mismatch");
    const source = await sqliteSource(file, { reports: REPORTS });
    const hostile = "x'; DELETE FROM report; --";
    const result = await source.find({ collection: "reports", filter: { department: hostile } });
    expect(found(result)).toEqual([]);
    expect(namesFound(await source.find({ collection: "reports" }))).toHaveLength(3);
  });

  test("may come from tables and columns with any names", async () => {
    const { file } = databaseWith(`
      CREATE TABLE "select ""*"" from" ("key""; --" TEXT PRIMARY KEY, "r.x" TEXT, "ä ö" INTEGER);
      INSERT INTO "select ""*"" from" VALUES ('a', 'A', 1);
    `);
    const fields = JSON.parse('{ "__proto__": "ä ö", "constructor": "r.x" }');
    const source = await sqliteSource(file, {
      "__proto__ of 'all'": {
        table: 'select "*" from',
        name: 'key"; --',
        displayName: "r.x",
        fields,
      },
    });
    const filter = JSON.parse('{ "__proto__": { "min": 1 } }');
    const [item] = found(await source.find({ collection: "__proto__ of 'all'", filter }));
    expect(item?.name).toBe(`__proto__ of 'all'/"a"`);
    expect(Object.entries(item?.fields ?? {})).toEqual(
      Object.entries(fields).map(([name]) => [name, name === "constructor" ? "A" : 1]),
    );
  });
});

describe("the denial of a query", () => {
  test("lists the known names if the collection, a field or an operator is unknown", async () => {
    const { file } = databaseWith(REPORTS_SQL);
    const source = await sqliteSource(file, { reports: REPORTS, more: REPORTS });
    for (const collection of ["report", "reports/", "", "__proto__", "constructor"]) {
      expect(denialOf(await source.find({ collection }))).toMatchObject({
        code: "unknown_collection",
        path: "collection",
        known: ["more", "reports"],
      });
    }
    const problem = async (filter: string): Promise<object> =>
      denialOf(await source.find({ collection: "reports", filter: JSON.parse(filter) }));
    // The field is called `department`. `dept` is the name of the column, which filters cannot use.
    expect(await problem('{ "dept": 1 }')).toMatchObject({
      code: "unknown_field",
      path: "filter.dept",
      known: ["department", "final", "year"],
    });
    expect(await problem('{ "year": { "not_in": [1] } }')).toMatchObject({
      code: "unknown_operator",
      known: ["in", "max", "min"],
    });
    expect(await problem('{ "year": { "min": true } }')).toMatchObject({ code: "invalid_value" });
  });
});
