import fc from "fast-check";
import type Database from "libsql";
import { describe, expect, test } from "vitest";
import { matches } from "../../src/agent/resources/filter.js";
import type { Scalar } from "../../src/caveats/scalar.js";
import { sized } from "../support/size.js";
import { databaseWith, filters, found, number, report, sqliteSource, text } from "./support.js";

/** A value in SQL, and the field that it becomes if the column does not convert it. */
interface Value {
  readonly sql: string;
  readonly field: Scalar | undefined;
}

function sqlOf(value: string | number | null): string {
  if (value === null) return "NULL";
  // libsql would send a string only up to its first NUL.
  if (typeof value === "string") return `CAST(x'${Buffer.from(value).toString("hex")}' AS TEXT)`;
  return Object.is(value, -0) ? "-0.0" : String(value);
}

const value: fc.Arbitrary<Value> = fc.oneof(
  fc.oneof(text, number, fc.constant(null)).map((field) => ({ sql: sqlOf(field), field })),
  fc.constantFrom<Value>(
    { sql: "1.0", field: 1 },
    { sql: "x'61'", field: undefined },
    { sql: "9007199254740993", field: undefined },
    { sql: "9e999", field: undefined },
    { sql: "CAST(x'ff' AS TEXT)", field: undefined },
  ),
);

/** Columns of every affinity and every collation, with and without an index. */
const COLUMNS = {
  plain: "",
  indexed: "",
  integer: "INTEGER",
  real: "REAL",
  numeric: "NUMERIC",
  text: "TEXT",
  nocase: "TEXT COLLATE NOCASE",
  trimmed: "TEXT COLLATE RTRIM",
  truth: "BOOLEAN",
  blob: "BLOB",
};
const NAMES = Object.keys(COLUMNS);
const INDEXED = NAMES.filter((name) => name !== "plain");
const THINGS = {
  table: "thing",
  name: "key",
  displayName: "key",
  fields: Object.fromEntries(NAMES.map((name) => [name, name])),
};

function fill(database: Database.Database, rows: readonly (readonly string[])[]): void {
  const lines = rows.map((row, at) => `(${[at, ...row].join(", ")})`);
  const insert = rows.length === 0 ? "" : `INSERT INTO thing VALUES ${lines.join(", ")};`;
  database.exec(`BEGIN; DELETE FROM thing; ${insert} COMMIT`);
}

const columns = Object.entries(COLUMNS).map(([name, type]) => `${name} ${type}`);
const TABLE = `
  CREATE TABLE thing (key INTEGER PRIMARY KEY, ${columns.join(", ")});
  ${INDEXED.map((name) => `CREATE INDEX by_${name} ON thing (${name});`).join("\n")}
`;

describe("a query finds exactly the rows that its filter matches, for random values", () => {
  test("in a table with columns of every type and collation", async () => {
    const { file, database } = databaseWith(TABLE);
    const source = await sqliteSource(file, { t: THINGS });
    const rows = fc.array(fc.tuple(...NAMES.map(() => value)), { minLength: 1, maxLength: 8 });
    let hits = 0;
    await fc.assert(
      fc.asyncProperty(
        rows,
        fc.array(filters(NAMES), { minLength: 8, maxLength: 8 }),
        async (all, some) => {
          fill(
            database,
            all.map((row) => row.map(({ sql }) => sql)),
          );
          const everything = found(await source.find({ collection: "t" }));
          expect(everything).toHaveLength(all.length);
          for (const filter of some) {
            const items = found(await source.find({ collection: "t", filter }));
            expect(items).toEqual(everything.filter((item) => matches(item, filter)));
            if (Object.keys(filter).length > 0) hits += items.length;
          }
          for (const item of everything) expect(await source.get(item.name)).toEqual(item);
        },
      ),
      { numRuns: sized(120, 30, 300) },
    );
    // If no filter matched a row, the test would prove nothing.
    expect(hits).toBeGreaterThan(sized(20, 5, 50));
  });

  test("in a table without column types, where fields are read as written", async () => {
    const { file, database } = databaseWith(
      "CREATE TABLE thing (key INTEGER PRIMARY KEY, plain, indexed)",
    );
    database.exec("CREATE INDEX by_indexed ON thing (indexed)");
    const fields = { plain: "plain", indexed: "indexed" };
    const source = await sqliteSource(file, { t: { ...THINGS, fields } });
    const rows = fc.array(fc.tuple(value, value), { minLength: 1, maxLength: 8 });
    await fc.assert(
      fc.asyncProperty(rows, filters(["plain", "indexed"]), async (all, filter) => {
        fill(
          database,
          all.map((row) => row.map(({ sql }) => sql)),
        );
        const expected = all.flatMap(([plain, indexed], at) => {
          const item = report(
            {
              ...(plain.field === undefined ? {} : { plain: plain.field }),
              ...(indexed.field === undefined ? {} : { indexed: indexed.field }),
            },
            `t/${at}`,
          );
          return matches(item, filter) ? [[item.name, item.fields]] : [];
        });
        const items = found(await source.find({ collection: "t", filter }));
        expect(JSON.stringify(items.map((item) => [item.name, item.fields]))).toBe(
          JSON.stringify(expected),
        );
      }),
      { numRuns: sized(200, 50, 500) },
    );
  });

  test("in a view that mixes columns of several types", async () => {
    const { file, database } = databaseWith(`${TABLE}
      CREATE VIEW mixed AS SELECT 2 * key AS key, text AS x, integer AS y FROM thing
        UNION ALL SELECT 2 * key + 1, integer, text FROM thing;`);
    const source = await sqliteSource(file, {
      t: { ...THINGS, table: "mixed", fields: { x: "x", y: "y" } },
    });
    const rows = fc.array(fc.tuple(...NAMES.map(() => value)), { minLength: 1, maxLength: 6 });
    await fc.assert(
      fc.asyncProperty(rows, filters(["x", "y"]), async (all, filter) => {
        fill(
          database,
          all.map((row) => row.map(({ sql }) => sql)),
        );
        const everything = found(await source.find({ collection: "t" }));
        expect(everything).toHaveLength(2 * all.length);
        const items = found(await source.find({ collection: "t", filter }));
        expect(items).toEqual(everything.filter((item) => matches(item, filter)));
      }),
      { numRuns: sized(200, 50, 500) },
    );
  });
});
