import { describe, expect, test } from "vitest";
import { openTables } from "../../src/sources/table.js";
import { databaseWith, resourceError, sqliteSource } from "./support.js";

const TABLES = `
  CREATE TABLE report (id INTEGER PRIMARY KEY, slug TEXT, title TEXT, year INTEGER,
    next INTEGER AS (year + 1), UNIQUE (title));
  CREATE UNIQUE INDEX partial ON report (slug) WHERE slug IS NOT NULL;
  CREATE UNIQUE INDEX both ON report (slug, year);
  CREATE TABLE pair (a, b, PRIMARY KEY (a, b)) WITHOUT ROWID;
  CREATE VIEW recent AS SELECT slug, title FROM report WHERE year > 2020;
`;
const REPORTS = { table: "report", name: "id", displayName: "title", fields: { year: "year" } };

describe("openTables refuses a malformed configuration, and names the property", () => {
  test.each<[string, object, string]>([
    ["no database", { database: "" }, "database must be a path or an address"],
    ["a database path with a NUL", { database: "a\0b" }, "database must be a path or an address"],
    ["a limit of zero rows", { maxRows: 0 }, "maxRows must be a whole number of at least 1, not 0"],
    ["no collections", { collections: {} }, "collections must be an object with at least one"],
    ["collections as an array", { collections: [REPORTS] }, "collections must be an object"],
    ["a collection's name with a slash", { collections: { "a/b": REPORTS } }, '"collections.a/b"'],
    ["an empty collection name", { collections: { "": REPORTS } }, '"collections."'],
    [
      "a collection's name that is too long",
      { collections: { ["x".repeat(129)]: REPORTS } },
      "1 to 128",
    ],
    [
      "a collection that is null",
      { collections: { r: null } },
      "collections.r must be an object, not null",
    ],
    [
      "an unknown property",
      { collections: { r: { ...REPORTS, title: "title" } } },
      "collections.r.title: unknown property",
    ],
    [
      "a collection without a table",
      { collections: { r: { name: "id", displayName: "title", fields: {} } } },
      "collections.r.table must be the name of a table, not undefined",
    ],
    [
      "a name that is a number",
      { collections: { r: { ...REPORTS, name: 1 } } },
      "collections.r.name must be the name of a column, not 1",
    ],
    [
      "a field without a column",
      { collections: { r: { ...REPORTS, fields: { year: "" } } } },
      'collections.r.fields.year must be the name of a column, not ""',
    ],
    [
      "a column name with a NUL",
      { collections: { r: { ...REPORTS, fields: { year: "a\0" } } } },
      "collections.r.fields.year must be the name of a column",
    ],
    [
      "a field name that is too long",
      { collections: { r: { ...REPORTS, fields: { ["x".repeat(257)]: "year" } } } },
      "collections.r.fields: a field's name must be 1 to 256 characters",
    ],
    [
      "fields as an array",
      { collections: { r: { ...REPORTS, fields: ["year"] } } },
      'collections.r.fields must be an object, not ["year"]',
    ],
  ])("%s", async (_, change, message) => {
    const { file } = databaseWith(TABLES);
    const options = JSON.parse(
      JSON.stringify({ database: file, collections: { r: REPORTS }, ...change }),
    );
    const attempt = openTables(options);
    await expect(attempt).rejects.toThrow(TypeError);
    await expect(attempt).rejects.toThrow(message);
  });
});

describe("openTables with an SQLite database", () => {
  test.each<[string, object, string]>([
    [
      "an unknown table",
      { table: "reports" },
      'collections.r.table: there is no table "reports"; known: "pair", "recent", "report"; did you mean "report"?',
    ],
    ["a table name in another case", { table: "REPORT" }, 'there is no table "REPORT"'],
    ["one of SQLite's own tables", { table: "sqlite_schema" }, 'there is no table "sqlite_schema"'],
    [
      "an unknown key column",
      { name: "ids" },
      'collections.r.name: there is no column "ids"; known: "id", "next", "slug", "title", "year"; did you mean "id"?',
    ],
    [
      "an unknown title column",
      { displayName: "name" },
      'collections.r.displayName: there is no column "name"',
    ],
    [
      "an unknown field column",
      { fields: { date: "dates" } },
      'collections.r.fields.date: there is no column "dates"',
    ],
    ["the rowid as a key", { name: "rowid" }, 'collections.r.name: there is no column "rowid"'],
  ])("refuses %s as source_mismatch", async (_, change, message) => {
    const { file } = databaseWith(TABLES);
    const error = await resourceError(() =>
      openTables({ database: file, collections: { r: { ...REPORTS, ...change } } }),
    );
    expect([error.code, error.subject]).toEqual(["source_mismatch", file]);
    expect(error.message).toContain(message);
  });

  test.each<[string, object]>([
    ["the primary key as the name", {}],
    ["a unique column as the name", { name: "title" }],
    ["a view", { table: "recent", name: "slug", fields: { slug: "slug" } }],
    ["a generated column as a field", { fields: { next: "next" } }],
    ["one column for everything", { displayName: "id", fields: { id: "id", too: "id" } }],
    ["a table without fields", { fields: {} }],
  ])("accepts %s", async (_, change) => {
    const { file } = databaseWith(TABLES);
    const source = await sqliteSource(file, { r: { ...REPORTS, ...change } });
    expect(await source.find({ collection: "r" })).toEqual({ ok: true, resources: [] });
  });

  test("accepts a table for full-text search", async () => {
    const { file } = databaseWith(`
      CREATE VIRTUAL TABLE page USING fts5 (slug, title);
      INSERT INTO page VALUES ('a', 'A');
    `);
    const source = await sqliteSource(file, {
      r: { table: "page", name: "slug", displayName: "title", fields: { slug: "slug" } },
    });
    expect((await source.get('r/"a"'))?.displayName).toBe("A");
  });
});
