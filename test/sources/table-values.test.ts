import { describe, expect, test } from "vitest";
import { databaseWith, found, namesFound, REPORTS, REPORTS_SQL, sqliteSource } from "./support.js";

describe("a value in an SQLite column", () => {
  const ODD = {
    o: { table: "odd", name: "key", displayName: "v", fields: { v: "v" } },
  };
  const odd = async (...values: string[]): Promise<unknown[]> => {
    const rows = values.map((value, at) => `(${at}, ${value})`).join(", ");
    const { file } = databaseWith(
      `CREATE TABLE odd (key INTEGER PRIMARY KEY, v); INSERT INTO odd VALUES ${rows}`,
    );
    const source = await sqliteSource(file, ODD);
    return found(await source.find({ collection: "o" })).map(({ fields, displayName }) => [
      fields["v"],
      displayName,
    ]);
  };

  test("is left out if it is a BLOB, an inexact integer, an infinity, or a long or broken string", async () => {
    const values = [
      "x'61'",
      "9007199254740992",
      "-9223372036854775808",
      "9e999",
      "CAST(x'ff61' AS TEXT)",
      "CAST(x'eda080' AS TEXT)",
      `'${"x".repeat(1025)}'`,
      `'${"\u{1f600}".repeat(513)}'`,
    ];
    expect(await odd(...values)).toEqual(values.map((_, at) => [undefined, String(at)]));
  });

  test("is read unchanged if it is NULL, an exact number, or a string within the limit", async () => {
    const long = "\u{1f600}".repeat(512);
    const nul = "CAST(x'610062' AS TEXT)";
    expect(
      await odd("9007199254740991", "9007199254740992.0", "NULL", "''", nul, `'${long}'`),
    ).toEqual([
      [2 ** 53 - 1, "9007199254740991"],
      [2 ** 53, "9007199254740992"],
      [null, "2"],
      ["", ""],
      ["a\0b", "a\0b"],
      [long, long],
    ]);
  });

  test.each(["UTF-16le", "UTF-16be"])("is read from a database encoded in %s", async (encoding) => {
    const { file } = databaseWith(`PRAGMA encoding = '${encoding}'; ${REPORTS_SQL}
      INSERT INTO report VALUES (11, '\u{1f600}\u00e9', 1, 'z\u00fcrich', 0);`);
    const source = await sqliteSource(file, { reports: REPORTS });
    const filter = { department: "z\u00fcrich" };
    const [item] = found(await source.find({ collection: "reports", filter }));
    expect(item?.displayName).toBe("\u{1f600}\u00e9");
  });
});

describe("an item name that is made from a key", () => {
  const KEYS = { k: { table: "thing", name: "key", displayName: "key", fields: {} } };

  test("differs for keys of different types, and finds its own row", async () => {
    const { file } = databaseWith(`
      CREATE TABLE thing (key UNIQUE);
      INSERT INTO thing VALUES (1), ('1'), (1.5), ('a'), ('A'), ('"'), ('a/b'), (''), (-3), ('\u00e9'),
        (CAST(x'610062' AS TEXT));
    `);
    const source = await sqliteSource(file, KEYS);
    const names = namesFound(await source.find({ collection: "k" }));
    expect([...names].sort()).toEqual([
      'k/""',
      'k/"1"',
      'k/"A"',
      'k/"\\""',
      'k/"a"',
      'k/"a/b"',
      'k/"a\\u0000b"',
      'k/"\u00e9"',
      "k/-3",
      "k/1",
      "k/1.5",
    ]);
    for (const name of names) expect((await source.get(name))?.name).toBe(name);
  });

  test("is absent for a key that is ambiguous, inexact or too long", async () => {
    const { file } = databaseWith(`
      CREATE TABLE thing (key UNIQUE);
      INSERT INTO thing VALUES (NULL), (NULL), (x'61'), (9007199254740993), ('${"x".repeat(509)}'),
        (CAST(x'ff' AS TEXT)), (9e999), ('kept'), ('${"y".repeat(508)}');
    `);
    const source = await sqliteSource(file, KEYS);
    const names = namesFound(await source.find({ collection: "k" }));
    expect(names).toEqual(['k/"kept"', `k/"${"y".repeat(508)}"`]);
    for (const key of ["null", '"a"', "9007199254740993", "1e999"]) {
      expect(await source.get(`k/${key}`)).toBeUndefined();
    }
  });

  test("is matched exactly even if the column ignores case or converts numbers to text", async () => {
    const { file } = databaseWith(`
      CREATE TABLE thing (key TEXT COLLATE NOCASE PRIMARY KEY);
      INSERT INTO thing VALUES ('a'), (1);
    `);
    const source = await sqliteSource(file, KEYS);
    expect((await source.get('k/"a"'))?.name).toBe('k/"a"');
    expect(await source.get('k/"A"')).toBeUndefined();
    expect((await source.get('k/"1"'))?.name).toBe('k/"1"');
    expect(await source.get("k/1")).toBeUndefined();
  });

  test.each([
    "",
    "/",
    "k",
    "k/ 1",
    "k/1 ",
    "k/01",
    "k/1.0",
    "k/+1",
    "k/1e0",
    "k/-0",
    "k/[1]",
    "k/{}",
    "k/null",
    "k/true",
    "k/'a'",
    'k/"\\u0061"',
    "k//1",
    "/1",
    "K/1",
    "../k/1",
    "k/1/",
    'k/"a',
    "k/NaN",
    "__proto__/1",
    "constructor/1",
    "k/\0",
    "k/1\0",
    'k/"\\ud800"',
    `k/${"1".repeat(400)}`,
  ])("is never %j", async (name) => {
    const { file } = databaseWith(
      "CREATE TABLE thing (key UNIQUE); INSERT INTO thing VALUES (1), (0), ('a')",
    );
    const source = await sqliteSource(file, KEYS);
    expect(await source.get(name)).toBeUndefined();
  });

  test("finds nothing while a view has the key twice", async () => {
    const { file, database } = databaseWith(`
      CREATE TABLE thing (key, title);
      CREATE VIEW seen AS SELECT * FROM thing WHERE title <> 'hidden';
      INSERT INTO thing VALUES (1, 'a'), (1, 'b'), (2, 'c'), (3, 'hidden');
    `);
    const source = await sqliteSource(file, {
      k: { table: "seen", name: "key", displayName: "title", fields: { title: "title" } },
    });
    expect(await source.get("k/1")).toBeUndefined();
    expect((await source.get("k/2"))?.displayName).toBe("c");
    expect(await source.get("k/3")).toBeUndefined();
    database.exec("DELETE FROM thing WHERE title = 'b'");
    expect((await source.get("k/1"))?.displayName).toBe("a");
  });
});
