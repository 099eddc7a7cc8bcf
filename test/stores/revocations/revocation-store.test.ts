import { spawnSync } from "node:child_process";
import { readdirSync, readFileSync, renameSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import Database from "libsql";
import { describe, expect, test } from "vitest";
import { createIssuer, createKeyring, type RevocationQuery } from "../../../src/issuer/index.js";
import {
  createRevocationStore,
  openRevocationStore,
  type RevocationStore,
  type RevocationStoreOptions,
} from "../../../src/stores/index.js";
import { AT, capability, namesIn, posix, storageError } from "../../issuer/support.js";
import { temporaryFolder } from "../../support/temporary-folder.js";

const AT_ONCE: RevocationStoreOptions = { refreshEvery: 0 };

function query(change: Partial<RevocationQuery> = {}): RevocationQuery {
  return { links: [], capability: "cap_x", key: "key_x", issued: Date.parse(AT), ...change };
}

function finds(store: RevocationStore, id: string): boolean {
  return store.find(query({ capability: id })).length > 0;
}

async function newStore(options: RevocationStoreOptions = AT_ONCE): Promise<{
  directory: string;
  path: string;
  store: RevocationStore;
}> {
  const directory = temporaryFolder();
  const path = join(directory, "store.db");
  return { directory, path, store: await createRevocationStore(path, options) };
}

/** Changes a file in a process of its own: closing it here would lift SQLite's locks. */
function shell(command: string, ...words: string[]): void {
  const { status } = spawnSync("sh", ["-ec", command, "sh", ...words]);
  if (status !== 0) throw new Error(`failed: ${command}`);
}

const sleep = (milliseconds: number): Promise<void> =>
  new Promise((resolve) => setTimeout(resolve, milliseconds));

describe("making and opening", () => {
  test("a new store is empty, durable by its settings, and its owner's alone", async () => {
    const { directory, path, store } = await newStore();
    expect([store.version, store.list(), store.path]).toEqual([0, [], path]);
    store.add(capability("cap_1"));
    const database = new Database(path);
    expect(database.pragma("journal_mode", { simple: true })).toMatchObject({
      journal_mode: "wal",
    });
    expect(namesIn(directory)).toEqual(["store.db"]);
    const names = readdirSync(directory).sort();
    expect(names).toEqual(["store.db", "store.db-shm", "store.db-wal"]);
    const modes = names.map((name) => statSync(join(directory, name)).mode & 0o777);
    if (posix) expect(modes).toEqual([0o600, 0o600, 0o600]);
    database.close();
    store.close();
  });

  test("nothing is overwritten, nor joined with what an older store left", async () => {
    const { directory, path, store } = await newStore();
    store.add(capability("cap_1"));
    expect((await storageError(() => createRevocationStore(path))).code).toBe("store_exists");
    expect(finds(store, "cap_1")).toBe(true);
    store.close();
    const other = join(directory, "other.db");
    writeFileSync(`${other}-wal`, "left");
    const error = await storageError(() => createRevocationStore(other));
    expect(error.code).toBe("store_exists");
    expect(error.message).toContain("other.db-wal is left of an older store");
    expect(namesIn(directory)).toEqual(["store.db"]);
  });

  test("of many at once, one makes the file", async () => {
    const path = join(temporaryFolder(), "store.db");
    const made = await Promise.allSettled([1, 2, 3, 4].map(() => createRevocationStore(path)));
    expect(made.map(({ status }) => status).sort()).toEqual([
      "fulfilled",
      ...["rejected", "rejected", "rejected"],
    ]);
    for (const one of made) if (one.status === "fulfilled") one.value.close();
  });

  test("opening does not make a file", async () => {
    const directory = temporaryFolder();
    for (const path of [join(directory, "no.db"), join(directory, "no", "no.db")]) {
      const error = await storageError(() => openRevocationStore(path));
      expect([error.code, error.path]).toEqual(["store_missing", path]);
    }
    expect(readdirSync(directory)).toEqual([]);
    const missing = join(directory, "no", "no.db");
    const error = await storageError(() => createRevocationStore(missing));
    expect(error.code).toBe("store_unwritable");
    expect(error.message).toContain("its directory does not exist");
  });

  test.each(["odd ?#%20 'name'.db", "ünï.db", "libsql:x.db", ":memory:", "file:x.db"])(
    "the name %j is a name",
    async (name) => {
      const path = join(temporaryFolder(), name);
      const store = await createRevocationStore(path);
      store.add(capability("cap_1"));
      store.close();
      const again = await openRevocationStore(path);
      expect(again.version).toBe(1);
      again.close();
      expect(statSync(path).isFile()).toBe(true);
    },
  );

  test.each<RevocationStoreOptions>([
    { refreshEvery: -1 },
    { refreshEvery: Number.NaN },
    { refreshEvery: 5000 },
    { staleAfter: 0 },
    { staleAfter: Number.POSITIVE_INFINITY },
  ])("wrong options %j", async (options) => {
    const path = join(temporaryFolder(), "store.db");
    await expect(createRevocationStore(path, options)).rejects.toThrow(TypeError);
    await expect(openRevocationStore(path, options)).rejects.toThrow(TypeError);
  });
});

describe("files that are no stores", () => {
  const cases: [string, (path: string) => void, RegExp][] = [
    ["an empty file", (path) => writeFileSync(path, ""), /empty file/],
    ["text", (path) => writeFileSync(path, "hello ".repeat(2000)), /NOTADB/],
    [
      "another program's SQLite file",
      (path) => {
        const database = new Database(path);
        database.exec("CREATE TABLE revocation (id TEXT)");
        database.close();
      },
      /the file is something else/,
    ],
    [
      "an SQLite file that only says to be one",
      (path) => {
        const database = new Database(path);
        database.exec(`PRAGMA application_id = ${0x70727673}; PRAGMA user_version = 1`);
        database.close();
      },
      /it is damaged/,
    ],
  ];
  test.each(cases)("%s is refused and left as it is", async (_about, make, detail) => {
    const path = join(temporaryFolder(), "store.db");
    make(path);
    const before = readFileSync(path);
    const error = await storageError(() => openRevocationStore(path));
    expect(error.code).toBe("store_corrupt");
    expect(error.message).toMatch(detail);
    expect(readFileSync(path).equals(before)).toBe(true);
    expect((await storageError(() => createRevocationStore(path))).code).toBe("store_exists");
  });

  test("a directory", async () => {
    const error = await storageError(() => openRevocationStore(temporaryFolder()));
    expect(error.code).toBe("store_unreadable");
  });

  test("a store of a newer version", async () => {
    const { path, store } = await newStore();
    store.close();
    const database = new Database(path);
    database.exec("PRAGMA user_version = 2");
    database.close();
    const error = await storageError(() => openRevocationStore(path));
    expect([error.code, error.hint]).toEqual(["store_version", "npm install proviso@latest"]);
  });

  test("a store cut short anywhere, or with a damaged page", async () => {
    const { directory, path, store } = await newStore();
    store.addAll(Array.from({ length: 500 }, (_, i) => capability(`cap_${i}`)));
    store.close();
    const whole = readFileSync(path);
    const attempt = async (name: string, bytes: Uint8Array): Promise<string> => {
      writeFileSync(join(directory, name), bytes);
      return (await storageError(() => openRevocationStore(join(directory, name)))).code;
    };
    for (const share of [0, 0.001, 0.01, 0.1, 0.5, 0.9, 0.99]) {
      const cut = whole.subarray(0, Math.floor(whole.length * share));
      expect(await attempt(`cut-${share}.db`, cut)).toBe("store_corrupt");
    }
    for (let page = 1; page < whole.length / 4096; page += 5) {
      const damaged = Uint8Array.from(whole).fill(0xa5, page * 4096, page * 4096 + 200);
      expect(await attempt(`page-${page}.db`, damaged)).toBe("store_corrupt");
    }
  });

  test.each([
    "UPDATE revocation SET at = 'yesterday'",
    "UPDATE revocation SET kind = 'other'",
    "UPDATE revocation SET id = 'not JSON'",
    "UPDATE revocation SET id = '7'",
    "UPDATE revocation SET reason = '[]'",
    "UPDATE state SET version = -1",
    "DELETE FROM state",
    "DROP TABLE state",
  ])("a store in which someone ran %j", async (sql) => {
    const { path, store } = await newStore();
    store.add(capability("cap_1"));
    store.close();
    const database = new Database(path);
    database.exec(sql);
    database.close();
    const { code } = await storageError(() => openRevocationStore(path));
    expect(code).toBe("store_corrupt");
  });
});

describe("adding, finding and pruning", () => {
  test("an issuer refuses what was added, before and after the store is opened again", async () => {
    const { path, store } = await newStore();
    const keys = createKeyring();
    const issuer = createIssuer({ name: "a", keys, revocations: store });
    const { token } = issuer.mint({ grant: "documents:read", operations: ["read"] });
    const revocation = issuer.revocationOf(token, "task done");
    expect(issuer.authorize(token, { grant: "documents:read", operation: "read" }).allowed).toBe(
      true,
    );
    if (!revocation.ok) throw new Error("the token is the issuer's own");
    store.add(revocation.entry);
    expect(issuer.authorize(token, { grant: "documents:read", operation: "read" }).allowed).toBe(
      false,
    );
    store.close();
    const revocations = await openRevocationStore(path);
    const later = createIssuer({ name: "a", keys, revocations });
    const decision = later.authorize(token, { grant: "documents:read", operation: "read" });
    expect(decision.allowed ? [] : decision.denials.map(({ code }) => code)).toEqual(["revoked"]);
    expect(revocations.list()).toEqual([revocation.entry]);
    revocations.close();
  });

  test("of two entries for one thing, the wider and longer counts, whoever made them", async () => {
    const { path, store } = await newStore();
    const other = await openRevocationStore(path, AT_ONCE);
    const alice = { kind: "principal", id: "alice", at: AT } as const;
    const [early, late] = ["2026-02-01T00:00:00Z", "2026-03-01T00:00:00Z"];
    store.add({ ...alice, before: late, until: early, reason: "first" });
    other.add({ ...alice, before: early, until: late, reason: "second" });
    const merged = { ...alice, before: late, until: late, reason: "first" };
    expect(store.list()).toEqual([merged]);
    expect(other.list()).toEqual([merged]);
    other.add({ ...alice, before: early });
    expect(store.list()).toEqual([{ ...alice, before: late, reason: "first" }]);
    store.close();
    other.close();
    const again = await openRevocationStore(path);
    expect(again.list()).toEqual([{ ...alice, before: late, reason: "first" }]);
    expect(again.version).toBe(3);
    again.close();
  });

  test("texts come back as they were, NUL and lone surrogates too", async () => {
    const { path, store } = await newStore();
    const ids = ["al\0ice", "\ud800", "é\u0301😀", "'; DROP TABLE revocation; --", '"', " "];
    store.addAll(
      ids.map((id) => ({ kind: "principal", id, before: AT, at: AT, reason: `${id}\0why` })),
    );
    store.close();
    const again = await openRevocationStore(path);
    expect(again.list().map(({ id, reason }) => [id, reason])).toEqual(
      ids.map((id) => [id, `${id}\0why`]),
    );
    const found = again.find(query({ principal: "al\0ice", issued: 0 }));
    expect(found.map(({ id }) => id)).toEqual(["al\0ice"]);
    expect(again.find(query({ principal: "al", issued: 0 }))).toEqual([]);
    again.close();
  });

  test("a list of entries is added whole or not at all", async () => {
    const { store } = await newStore();
    const wrong = { kind: "link", id: "rv_short", at: AT } as const;
    expect(() => store.addAll([capability("cap_1"), wrong])).toThrow(TypeError);
    expect([store.version, store.list()]).toEqual([0, []]);
    store.addAll([]);
    expect(store.version).toBe(0);
    store.addAll([capability("cap_1"), capability("cap_2")]);
    expect(store.version).toBe(2);
    store.close();
  });

  test("pruning removes what is over, here and elsewhere", async () => {
    const { path, store } = await newStore();
    const other = await openRevocationStore(path, AT_ONCE);
    store.add({ ...capability("cap_over"), until: "2026-01-01T00:00:10Z" });
    store.add({ ...capability("cap_later"), until: "2026-01-01T00:00:11Z" });
    store.add(capability("cap_ever"));
    expect(other.list()).toHaveLength(3);
    expect(store.prune(Date.parse("2026-01-01T00:00:10.999Z"))).toBe(1);
    const left = ["cap_later", "cap_ever"];
    expect(store.list().map(({ id }) => id)).toEqual(left);
    expect(other.list().map(({ id }) => id)).toEqual(left);
    expect([store.version, other.version]).toEqual([4, 4]);
    expect(other.prune(0)).toBe(0);
    expect(other.version).toBe(4);
    expect(() => store.prune(Number.NaN)).toThrow(TypeError);
    store.close();
    other.close();
  });

  test("what another connection adds counts within refreshEvery", async () => {
    const { path, store } = await newStore();
    const eager = await openRevocationStore(path, { refreshEvery: 0 });
    const lazy = await openRevocationStore(path, { refreshEvery: 150 });
    store.add(capability("cap_1"));
    expect([finds(eager, "cap_1"), finds(lazy, "cap_1")]).toEqual([true, false]);
    await sleep(160);
    expect(finds(lazy, "cap_1")).toBe(true);
    for (const one of [store, eager, lazy]) one.close();
  });

  test("a closed store takes nothing more, and its lookups do not throw", async () => {
    const { store } = await newStore({ ...AT_ONCE, staleAfter: 0.05 });
    store.add(capability("cap_1"));
    store[Symbol.dispose]();
    store.close();
    expect(() => store.add(capability("cap_2"))).toThrow(TypeError);
    expect(() => store.exclusively(() => 1)).toThrow(TypeError);
    expect(finds(store, "cap_1")).toBe(true);
    await sleep(60);
    expect(store.isCurrent()).toBe(false);
  });
});

describe("exclusively", () => {
  test("commits what was added, and gives back the result", async () => {
    const { path, store } = await newStore();
    const other = await openRevocationStore(path, AT_ONCE);
    const result = store.exclusively(() => {
      store.add(capability("cap_1"));
      store.exclusively(() => store.add(capability("cap_2")));
      expect([other.version, store.version]).toEqual([0, 0]);
      return "done";
    });
    expect(result).toBe("done");
    expect([other.version, store.version]).toEqual([2, 2]);
    expect(other.list()).toEqual(store.list());
    store.close();
    other.close();
  });

  test("undoes everything if the action throws", async () => {
    const { path, store } = await newStore();
    store.add(capability("cap_1"));
    const boom = new Error("boom");
    const failing = (): void => {
      store.exclusively(() => {
        store.add(capability("cap_2"));
        store.prune(Date.now());
        throw boom;
      });
    };
    expect(failing).toThrow(boom);
    expect([store.version, finds(store, "cap_2")]).toEqual([1, false]);
    store.add(capability("cap_3"));
    store.close();
    const again = await openRevocationStore(path);
    expect(again.list().map(({ id }) => id)).toEqual(["cap_1", "cap_3"]);
    expect(again.version).toBe(2);
    again.close();
  });

  test("refuses an asynchronous action, and closing within", async () => {
    const { store } = await newStore();
    const wait = async (): Promise<void> => store.add(capability("cap_1"));
    expect(() => store.exclusively(wait)).toThrow(/must be synchronous/);
    expect(() => store.exclusively(() => store.close())).toThrow(TypeError);
    expect([store.version, store.list()]).toEqual([0, []]);
    store.close();
  });

  test("makes others wait, then say that the store is locked; they go on reading", async () => {
    const { path, store } = await newStore();
    const other = await openRevocationStore(path, AT_ONCE);
    other.add(capability("cap_1"));
    const { code, waited } = store.exclusively(() => {
      const start = performance.now();
      try {
        other.add(capability("cap_2"));
        return { code: "added", waited: 0 };
      } catch (error) {
        const waited = performance.now() - start;
        expect(finds(other, "cap_1")).toBe(true);
        return { code: Reflect.get(Object(error), "code"), waited };
      }
    });
    expect(code).toBe("store_locked");
    expect(waited).toBeGreaterThan(1800);
    expect(waited).toBeLessThan(6000);
    other.add(capability("cap_2"));
    expect(finds(store, "cap_2")).toBe(true);
    store.close();
    other.close();
  });
});

describe("a file that goes away", () => {
  function denials(store: RevocationStore): string[] {
    const issuer = createIssuer({ name: "a", keys: createKeyring(), revocations: store });
    const { token } = issuer.mint({ grant: "documents:read", operations: ["read"] });
    const decision = issuer.authorize(token, { grant: "documents:read", operation: "read" });
    return decision.allowed ? [] : decision.denials.map(({ code }) => code);
  }

  test("lookups go on, age, refuse, and recover when it is back", async () => {
    const { directory, path, store } = await newStore({ ...AT_ONCE, staleAfter: 0.6 });
    store.add(capability("cap_1"));
    renameSync(path, join(directory, "away.db"));
    expect([denials(store), finds(store, "cap_1")]).toEqual([[], true]);
    expect(store.problem?.code).toBe("store_missing");
    expect((await storageError(() => store.add(capability("cap_2")))).code).toBe("store_missing");
    await sleep(610);
    expect([denials(store), finds(store, "cap_1")]).toEqual([["revocation_stale"], true]);
    renameSync(join(directory, "away.db"), path);
    expect([denials(store), store.problem]).toEqual([[], undefined]);
    store.add(capability("cap_2"));
    expect(store.version).toBe(2);
    store.close();
  });

  test("another file in its place is not taken for it", async () => {
    const { directory, path, store } = await newStore({ ...AT_ONCE, staleAfter: 0.1 });
    store.add(capability("cap_1"));
    const other = await createRevocationStore(join(directory, "other.db"));
    other.close();
    renameSync(join(directory, "other.db"), path);
    expect(finds(store, "cap_1")).toBe(true);
    expect(store.problem?.code).toBe("store_replaced");
    expect((await storageError(() => store.add(capability("cap_2")))).code).toBe("store_replaced");
    await sleep(110);
    expect(denials(store)).toEqual(["revocation_stale"]);
    store.close();
  });

  test("emptied or wound back in place, it is not relied on", async () => {
    const { path, store } = await newStore({ ...AT_ONCE, staleAfter: 0.1 });
    store.add(capability("cap_1"));
    const back = new Database(path);
    back.exec("UPDATE state SET version = 0");
    expect([finds(store, "cap_1"), store.problem?.code]).toEqual([true, "store_corrupt"]);
    expect((await storageError(() => store.add(capability("cap_2")))).code).toBe("store_corrupt");
    await sleep(110);
    expect(denials(store)).toEqual(["revocation_stale"]);
    back.exec("UPDATE state SET version = 1");
    expect(denials(store)).toEqual([]);
    back.close();
    store.close();
    shell('cp "$1" "$1.copy"; : > "$1"', path);
    expect((await storageError(() => openRevocationStore(path))).code).toBe("store_corrupt");
  });

  test("emptied while it is open, lookups go on until the list is stale", async () => {
    const { path, store } = await newStore({ ...AT_ONCE, staleAfter: 0.1 });
    store.add(capability("cap_1"));
    shell('cp "$1" "$1.copy"; : > "$1"', path);
    expect([finds(store, "cap_1"), store.problem?.code]).toEqual([true, "store_corrupt"]);
    await sleep(110);
    expect(denials(store)).toEqual(["revocation_stale"]);
    shell('cat "$1.copy" > "$1"', path);
    expect(denials(store)).toEqual([]);
    store.close();
  });

  test("the list ages by time that passes, not by the time of day", async () => {
    let now = Date.now();
    const { directory, path, store } = await newStore({
      ...AT_ONCE,
      staleAfter: 0.1,
      clock: () => now,
    });
    renameSync(path, join(directory, "away.db"));
    await sleep(110);
    now -= 3_600_000;
    expect(store.isCurrent()).toBe(false);
    store.close();
  });
});
