import { chmodSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import Database from "libsql";
import { describe, expect, test } from "vitest";
import { createStores, openRevocations, openStores } from "../../src/stores/index.js";
import { addAll, capability, namesIn, posix, storageError } from "../issuer/support.js";
import { FULL, sized } from "../support/size.js";
import { temporaryFolder } from "../support/temporary-folder.js";

// Tests faults that only a database file can have.

/** The ASCII characters "prv1". */
const APPLICATION = 0x70727631;

function newPath(): string {
  return join(temporaryFolder(), "proviso.db");
}

/** Makes a database with one revocation. */
async function withOne(path: string): Promise<void> {
  const database = await createStores(path);
  await (await openRevocations(database)).add(capability("cap_1"));
  await database.close();
}

/** Returns the revoked ids in a database. */
async function revoked(path: string): Promise<string[]> {
  const database = await openStores(path);
  try {
    return (await (await openRevocations(database)).list()).map(({ id }) => id);
  } finally {
    await database.close();
  }
}

describe("createStores and openStores with a file", () => {
  test("createStores makes a file in WAL mode that only its owner can read", async () => {
    const path = newPath();
    const database = await createStores(path);
    await (await openRevocations(database)).add(capability("cap_1"));
    const other = new Database(path);
    expect(other.pragma("journal_mode", { simple: true })).toMatchObject({ journal_mode: "wal" });
    other.close();
    const directory = join(path, "..");
    const names = readdirSync(directory).sort();
    expect(names).toEqual(["proviso.db", "proviso.db-shm", "proviso.db-wal"]);
    const modes = names.map((name) => statSync(join(directory, name)).mode & 0o777);
    if (posix) expect(modes).toEqual([0o600, 0o600, 0o600]);
    await database.close();
  });

  test("createStores refuses a path at which a file, or the log of an older database, exists", async () => {
    const path = newPath();
    await withOne(path);
    expect((await storageError(() => createStores(path))).code).toBe("store_exists");
    expect(await revoked(path)).toEqual(["cap_1"]);
    const other = join(path, "..", "other.db");
    writeFileSync(`${other}-wal`, "left");
    const error = await storageError(() => createStores(other));
    expect(error.code).toBe("store_exists");
    expect(error.message).toContain("other.db-wal is left of an older database");
    expect(namesIn(join(path, ".."))).toEqual(["proviso.db"]);
  });

  test("only one of four concurrent createStores calls makes the file", async () => {
    const path = newPath();
    const made = await Promise.allSettled([1, 2, 3, 4].map(() => createStores(path)));
    expect(made.map(({ status }) => status).sort()).toEqual([
      "fulfilled",
      "rejected",
      "rejected",
      "rejected",
    ]);
    for (const one of made) if (one.status === "fulfilled") await one.value.close();
  });

  test("openStores does not create a file", async () => {
    const directory = temporaryFolder();
    for (const path of [join(directory, "no.db"), join(directory, "no", "no.db")]) {
      const error = await storageError(() => openStores(path));
      expect([error.code, error.path]).toEqual(["store_missing", path]);
    }
    expect(readdirSync(directory)).toEqual([]);
    const error = await storageError(() => createStores(join(directory, "no", "no.db")));
    expect(error.code).toBe("store_unwritable");
    expect(error.message).toContain("its folder does not exist");
  });

  test.each(["odd ?#%20 'name'.db", "ünï.db", "libsql:x.db", ":memory:", "file:x.db"])(
    "both take the file name %j literally",
    async (name) => {
      const path = join(temporaryFolder(), name);
      await withOne(path);
      expect(await revoked(path)).toEqual(["cap_1"]);
      expect(statSync(path).isFile()).toBe(true);
    },
  );

  test("openStores refuses an address with another scheme, and the error shows no password", async () => {
    for (const place of ["postgre://user:secret@host/db", "mysql://user:secret@host/db"]) {
      const error = await openStores(place, "create").catch((thrown: unknown) => thrown);
      expect(error).toBeInstanceOf(TypeError);
      expect(String(error)).not.toContain("secret");
    }
  });
});

describe("a foreign or damaged file", () => {
  const sqlite = (path: string, statements: string): void => {
    const database = new Database(path);
    database.exec(statements);
    database.close();
    chmodSync(path, 0o600);
  };
  const marked = (id: number): string => `PRAGMA application_id = ${id}; PRAGMA user_version = 1`;
  const cases: [string, (path: string) => void, string, RegExp][] = [
    [
      "an empty file",
      (path) => writeFileSync(path, "", { mode: 0o600 }),
      "store_corrupt",
      /empty file/,
    ],
    [
      "text",
      (path) => writeFileSync(path, "hello ".repeat(2000), { mode: 0o600 }),
      "store_corrupt",
      /NOTADB/,
    ],
    [
      "another program's SQLite file",
      (path) => sqlite(path, "CREATE TABLE revocation (id TEXT)"),
      "store_corrupt",
      /the file is something else/,
    ],
    ...[0x70727673, 0x7072766c, 0x70727674, 0x70727664, 0x70727665].map(
      (id): [string, (path: string) => void, string, RegExp] => [
        `a store of the unreleased format ${id.toString(16)}`,
        (path) => sqlite(path, marked(id)),
        "store_outdated",
        /unreleased version of proviso/,
      ],
    ),
    [
      "a database of a newer version",
      (path) => sqlite(path, `${marked(APPLICATION)}; PRAGMA user_version = 1000`),
      "store_version",
      /newer version/,
    ],
  ];
  test.each(cases)("is refused and left unchanged: %s", async (_about, make, code, detail) => {
    const path = newPath();
    make(path);
    const before = readFileSync(path);
    const error = await storageError(() => revoked(path));
    expect(error.code).toBe(code);
    expect(error.message).toMatch(detail);
    expect((await storageError(() => createStores(path))).code).toBe("store_exists");
    expect(readFileSync(path).equals(before)).toBe(true);
  });

  test("is refused if it has only the application id of a store", async () => {
    const path = newPath();
    sqlite(path, marked(APPLICATION));
    const error = await storageError(() => revoked(path));
    expect(error.code).toBe("store_corrupt");
    expect(error.message).toMatch(/it is damaged/);
    expect((await storageError(() => createStores(path))).code).toBe("store_exists");
  });

  test("is refused if it is a directory", async () => {
    expect((await storageError(() => openStores(temporaryFolder()))).code).toBe("store_unreadable");
  });

  test("never hides a revocation, wherever it is cut short or has a damaged page", async () => {
    const path = newPath();
    const database = await createStores(path);
    const ids = Array.from({ length: 500 }, (_, i) => `cap_${i}`);
    await addAll(await openRevocations(database), ids.map(capability));
    await database.close();
    const whole = readFileSync(path);
    const attempt = async (name: string, bytes: Uint8Array): Promise<string> => {
      const copy = join(path, "..", name);
      writeFileSync(copy, bytes, { mode: 0o600 });
      try {
        // If the damage is elsewhere in the file, every revocation must still be found.
        expect((await revoked(copy)).sort()).toEqual([...ids].sort());
        return "whole";
      } catch (error) {
        return String(Reflect.get(Object(error), "code"));
      }
    };
    for (const share of FULL ? [0, 0.001, 0.01, 0.1, 0.5, 0.9, 0.99] : [0, 0.01, 0.99]) {
      const cut = whole.subarray(0, Math.floor(whole.length * share));
      expect(await attempt(`cut-${share}.db`, cut), String(share)).toBe("store_corrupt");
    }
    const damaged: string[] = [];
    for (let page = 1; page < whole.length / 4096; page += sized(5, 13)) {
      const bytes = Uint8Array.from(whole).fill(0xa5, page * 4096, page * 4096 + 200);
      damaged.push(await attempt(`page-${page}.db`, bytes));
    }
    expect(new Set(damaged)).toEqual(new Set(["store_corrupt", "whole"]));
  });
});
