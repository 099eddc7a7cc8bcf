import {
  copyFileSync,
  existsSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { sql } from "kysely";
import { expect, test } from "vitest";
import { tablesOf } from "../../../src/stores/database.js";
import {
  openRevocations,
  openStores,
  type RevocationStore,
  type StoreDatabase,
} from "../../../src/stores/index.js";
import { AT, capability, posix } from "../../issuer/support.js";
import { onBothDatabases } from "../../support/databases.js";
import { sized } from "../../support/size.js";
import { temporaryFolder } from "../../support/temporary-folder.js";

/** From so many on, a list is saved; more than are read at once, so that there is progress to see. */
const MANY = sized(100_000, 25_000);
/** So many of them end at `UNTIL`. */
const FEW = 500;
const UNTIL = Date.parse("2030-01-01T00:00:00Z");
const LATER = "2040-01-01T00:00:00Z";

interface Opened {
  readonly database: StoreDatabase;
  readonly store: RevocationStore;
  /** What `onLoading` was called with. */
  readonly parts: readonly number[];
}

function linkId(at: number): string {
  return `rv_${String(at).padStart(21, "0")}A`;
}

async function opened(where: string, savedAt: string): Promise<Opened> {
  const database = await openStores(where, "create");
  const parts: number[] = [];
  const options = {
    savedAt,
    savedFrom: MANY,
    refreshEvery: 5,
    onLoading: (part: number) => void parts.push(part),
  };
  return { database, store: await openRevocations(database, options), parts };
}

/** A database of links, beside one of each other kind; it has been closed. */
async function filled(where: string, more = false): Promise<void> {
  const { database } = await opened(where, join(temporaryFolder(), "none"));
  const row = (number: string, padded: string): string =>
    `INSERT INTO revocation (kind, id, until, at, changed)
      SELECT 'link', '"rv_' || ${padded} || 'A"', CASE WHEN ${number} <= ${FEW} THEN ${UNTIL / 1000} END, 0, ${number}`;
  const insert =
    database.dialect === "sqlite"
      ? `WITH RECURSIVE n(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM n WHERE n < ${MANY})
         ${row("n", "printf('%021d', n)")} FROM n`
      : `${row("n", "lpad(n::text, 21, '0')")} FROM generate_series(1, ${MANY}) AS n`;
  await tablesOf(database).write(async (db) => {
    await sql.raw(insert).execute(db);
    await sql.raw(`UPDATE revocation_state SET version = version + ${MANY}`).execute(db);
  });
  await database.close();
  if (!more) return;
  const again = await opened(where, join(temporaryFolder(), "none"));
  await again.store.add({ kind: "principal", id: "al\0ice\ud800", before: AT, at: AT });
  await again.store.add({ ...capability("cap_1"), until: LATER });
  await again.store.add({ kind: "key", id: "key_1", at: AT });
  await again.database.close();
}

function found(store: RevocationStore, ...links: readonly string[]): string[] {
  const asked = {
    links,
    capability: "cap_1",
    keys: ["key_1"],
    principal: "al\0ice\ud800",
    issued: 0,
  };
  return store.find(asked).map(({ id }) => id);
}

async function run(database: StoreDatabase, statement: string): Promise<void> {
  await tablesOf(database).write((db) => sql.raw(statement).execute(db));
}

onBothDatabases((place, dialect) => {
  test("a long list is saved, and read from there and from what has changed since", async () => {
    const [where, folder] = [await place(), temporaryFolder()];
    const path = join(folder, "list");
    await filled(where, true);
    const first = await opened(where, path);
    expect(first.store.size).toBe(MANY + 3);
    expect([first.parts.length > 1, first.parts.at(-1)]).toEqual([true, 1]);
    if (posix) expect(statSync(path).mode & 0o777).toBe(0o600);
    expect(readdirSync(folder)).toEqual(["list"]);
    // The file has this row, and the database has it no more.
    await run(first.database, `DELETE FROM revocation WHERE id = '"${linkId(7)}"'`);
    await first.database.close();

    const second = await opened(where, path);
    const others = ["cap_1", "key_1", "al\0ice\ud800"];
    expect(found(second.store, linkId(7), linkId(MANY), linkId(0))).toEqual([
      linkId(7),
      linkId(MANY),
      ...others,
    ]);
    expect([second.store.size, second.store.version]).toEqual([MANY + 3, MANY + 3]);
    expect(second.parts.filter((part, at) => part < (second.parts[at - 1] ?? 0))).toEqual([]);
    const [added, anew] = [`rv_${"C".repeat(21)}A`, linkId(9)];
    await second.store.add({ kind: "link", id: added, at: AT });
    expect(await second.store.prune(UNTIL)).toBe(FEW - 1);
    await second.store.add({ kind: "link", id: anew, until: "2029-01-01T00:00:00Z", at: AT });
    await second.database.close();

    const third = await opened(where, path);
    expect(found(third.store, linkId(7), linkId(MANY), added, anew)).toEqual([
      linkId(MANY),
      added,
      anew,
      ...others,
    ]);
    expect([third.store.size, third.store.version]).toEqual([MANY - FEW + 5, MANY + 6]);
    await third.database.close();
  }, 30_000);

  test("a file that the database does not know is as good as none", async () => {
    const [where, other] = [await place(), await place()];
    const path = join(temporaryFolder(), "list");
    await filled(where);
    await (await opened(where, path)).database.close();
    const whole = readFileSync(path);
    const changed = Buffer.from(whole);
    changed.writeUInt8(changed.readUInt8(whole.length - 4) ^ 1, whole.length - 4);
    for (const bytes of [changed, whole.subarray(0, whole.length / 2)]) {
      writeFileSync(path, bytes);
      const { database, store } = await opened(where, path);
      expect([store.size, found(store, linkId(3))]).toEqual([MANY, [linkId(3)]]);
      await database.close();
      // It is written anew.
      expect(readFileSync(path).length).toBe(whole.length);
    }
    const elsewhere = await opened(other, path);
    expect([elsewhere.store.size, found(elsewhere.store, linkId(3))]).toEqual([0, []]);
    await elsewhere.database.close();
  }, 60_000);

  test("a state that the database has not come to is not believed", async () => {
    const where = await place();
    const path = join(temporaryFolder(), "list");
    await filled(where);
    await (await opened(where, path)).database.close();
    const { database } = await opened(where, path);
    await run(database, `UPDATE revocation_state SET version = ${MANY - 1}`);
    await run(database, `DELETE FROM revocation WHERE changed = ${MANY}`);
    const store = await openRevocations(database, { savedAt: path });
    expect([store.size, found(store, linkId(MANY))]).toEqual([MANY - 1, []]);
    await database.close();
  }, 30_000);

  test("where it cannot be saved, the list is opened without", async () => {
    const where = await place();
    const path = join(temporaryFolder(), "no", "list");
    await filled(where);
    const { database, store } = await opened(where, path);
    expect([store.size, existsSync(path)]).toEqual([MANY, false]);
    await database.close();
    const wrong = await openStores(where);
    await expect(openRevocations(wrong, { savedAt: "" })).rejects.toThrow(TypeError);
    await wrong.close();
  }, 30_000);

  if (dialect === "postgres") return;
  test("a database that is brought back from a backup has what it had, and no more", async () => {
    const [where, folder] = [await place(), temporaryFolder()];
    const [path, backup] = [join(folder, "list"), join(folder, "backup.db")];
    await filled(where);
    copyFileSync(where, backup);
    // Two timelines: here others are revoked than after the backup.
    const here = await opened(where, join(folder, "none"));
    await here.store.add({ kind: "link", id: linkId(MANY + 1), at: AT });
    await here.database.close();
    await (await opened(where, path)).database.close();
    for (const end of ["-wal", "-shm"]) rmSync(where + end, { force: true });
    copyFileSync(backup, where);
    const back = await opened(where, join(folder, "none"));
    for (const at of [2, 3, 4]) {
      await back.store.add({ kind: "link", id: linkId(MANY + at), at: AT });
    }
    await back.database.close();
    const { database, store } = await opened(where, path);
    const ids = [1, 2, 3, 4].map((at) => linkId(MANY + at));
    expect(found(store, ...ids)).toEqual(ids.slice(1));
    await database.close();
  }, 30_000);
});
