import { expect, onTestFinished, test } from "vitest";
import type { Json } from "../../../src/bytes/json.js";
import { openStores, type StoreDatabase, tablesOf } from "../../../src/stores/database.js";
import { MemoryError } from "../../../src/stores/memory/memory-limits.js";
import { type MemoryStore, openMemory } from "../../../src/stores/memory/memory-store.js";
import { throughStores } from "../../support/databases.js";

/** Keys that a careless collation, normalization or query would treat as equal. */
const ALIKE = [
  "caf\u00e9",
  "cafe\u0301",
  "Caf\u00e9",
  "a",
  "A",
  "a ",
  "a%",
  "a_",
  "\u{1f600}",
  "\uffee",
];
const VALUES: readonly Json[] = [
  null,
  0,
  -1.5,
  "",
  "a\0b\ud800",
  [],
  [1, [2, { a: null }]],
  { __proto__x: 1, "": [true] },
];

throughStores((place) => {
  async function database(at?: string): Promise<StoreDatabase> {
    const stores = await openStores(at ?? (await place()), "create");
    onTestFinished(() => stores.close());
    return stores;
  }

  const keysOf = async (memory: MemoryStore, prefix?: string): Promise<string[]> => {
    const { entries } = await memory.list("alice", { prefix, limit: 1000 });
    return entries.map(({ key }) => key);
  };

  test("get returns the value that was set last, also after the memory is opened again", async () => {
    const where = await place();
    const memory = openMemory(await database(where), { clock: () => 1000 });
    for (const [at, value] of VALUES.entries()) {
      expect(await memory.set("alice", `k${at}`, "before")).toMatchObject({ made: true });
      const text = Buffer.byteLength(JSON.stringify(value));
      expect(await memory.set("alice", `k${at}`, value)).toEqual({
        key: `k${at}`,
        bytes: 2 + text,
        updated: 1000,
        made: false,
      });
    }
    const next = openMemory(await database(where));
    for (const [at, value] of VALUES.entries()) {
      expect(await next.get("alice", `k${at}`)).toMatchObject({ value });
    }
    expect(await next.delete("alice", "k0")).toBe(true);
    expect(await memory.delete("alice", "k0")).toBe(false);
    expect(await memory.get("alice", "k0")).toBeUndefined();
  });

  test("principals cannot see, count or remove each other's entries", async () => {
    const memory = openMemory(await database(), { limits: { entries: 2 } });
    const principals = ["alice", "Alice", "alice ", "alice\0", '"alice"', "%"];
    for (const principal of principals) await memory.set(principal, "k", principal);
    expect(await memory.delete("bob", "k")).toBe(false);
    for (const principal of principals) {
      expect(await memory.get(principal, "k")).toMatchObject({ value: principal });
      expect((await memory.list(principal, { limit: 5 })).entries).toHaveLength(1);
      await memory.set(principal, "second", 2);
    }
  });

  test("memory keys are compared and sorted by their bytes, and listed by prefix and page", async () => {
    const memory = openMemory(await database());
    for (const key of ALIKE) await memory.set("alice", key, key);
    for (const key of ALIKE) expect(await memory.get("alice", key)).toMatchObject({ value: key });
    const sorted = [...ALIKE].sort((a, b) => Buffer.compare(Buffer.from(a), Buffer.from(b)));
    expect(await keysOf(memory)).toEqual(sorted);
    expect(await keysOf(memory, "a")).toEqual(["a", "a ", "a%", "a_"]);
    expect(await keysOf(memory, "a%")).toEqual(["a%"]);
    expect(await keysOf(memory, "%")).toEqual([]);
    const paged: string[] = [];
    for (let after: string | undefined, more = true; more; ) {
      const page = await memory.list("alice", { after, limit: 3 });
      paged.push(...page.entries.map(({ key }) => key));
      after = paged.at(-1);
      more = page.more;
    }
    expect(paged).toEqual(sorted);
  });

  test("an invalid key, a value over the size limit and an entry over the quota are refused, each with its own code, and change nothing", async () => {
    const limits = { keyBytes: 8, valueBytes: 16, entries: 3, bytes: 40 };
    const memory = openMemory(await database(), { limits });
    const refused = async (call: Promise<unknown>): Promise<string> => {
      const error = await call.then(
        () => undefined,
        (thrown: unknown) => thrown,
      );
      return error instanceof MemoryError ? error.code : String(error);
    };
    for (const key of [
      "",
      "123456789",
      "\u00e9\u00e9\u00e9\u00e9\u00e9",
      "a\0",
      "a\n",
      "\ud800",
      "\u{10ffff}",
    ]) {
      expect(await refused(memory.set("alice", key, 1))).toBe("key_invalid");
      expect(await refused(memory.get("alice", key))).toBe("key_invalid");
      expect(await refused(memory.delete("alice", key))).toBe("key_invalid");
    }
    expect(await refused(memory.list("alice", { prefix: "\0", limit: 1 }))).toBe("key_invalid");
    expect(await refused(memory.set("alice", "a", "x".repeat(15)))).toBe("value_too_large");
    await memory.set("alice", "a", "x".repeat(14));
    await memory.set("alice", "b", "x".repeat(14));
    expect(await refused(memory.set("alice", "c", "xxxx"))).toBe("quota_exceeded");
    await memory.set("alice", "c", 1);
    expect(await refused(memory.set("alice", "d", 1))).toBe("quota_exceeded");
    expect(await refused(memory.set("alice", "c", "x".repeat(14)))).toBe("quota_exceeded");
    expect(await memory.get("alice", "c")).toMatchObject({ value: 1 });
    expect(await memory.get("alice", "d")).toBeUndefined();
    await memory.delete("alice", "a");
    await memory.set("alice", "d", 1);
  });

  test("after limits are lowered, an existing value can be made smaller or deleted, but not larger", async () => {
    const where = await place();
    const wide = openMemory(await database(where));
    for (const key of ["a", "b", "c"]) await wide.set("alice", key, "x".repeat(10));
    const narrow = openMemory(await database(where), { limits: { entries: 1, bytes: 10 } });
    await narrow.set("alice", "a", "x");
    await expect(narrow.set("alice", "a", "xx")).rejects.toMatchObject({ code: "quota_exceeded" });
    expect(await narrow.delete("alice", "b")).toBe(true);
  });

  test("concurrent writers on several connections do not exceed a quota", async () => {
    const where = await place();
    const limits = { entries: 10 };
    const memories = [
      openMemory(await database(where), { limits }),
      openMemory(await database(where), { limits }),
    ];
    const sets = memories.flatMap((memory, which) =>
      Array.from({ length: 10 }, (_, at) => memory.set("alice", `${which}.${at}`, at)),
    );
    const settled = await Promise.allSettled(sets);
    expect(settled.filter(({ status }) => status === "fulfilled")).toHaveLength(10);
    expect((await memories[0]?.list("alice", { limit: 100 }))?.entries).toHaveLength(10);
  });

  test("reading a row that the memory store cannot have written fails with store_corrupt", async () => {
    const stores = await database();
    const row = { principal: '"alice"', key: "k", value: "not JSON", bytes: 1, updated: 1 };
    await tablesOf(stores).write((db) => db.insertInto("memory_entry").values(row).execute());
    const memory = openMemory(stores);
    await expect(memory.get("alice", "k")).rejects.toMatchObject({ code: "store_corrupt" });
  });

  test("openMemory throws for wrong options, and list for a wrong limit", async () => {
    const stores = await database();
    const wrong: [object, string][] = [
      [{ limit: {} }, 'options.limit: unknown property; did you mean "limits"?'],
      [{ limits: { entrys: 1 } }, 'limits.entrys: unknown property; did you mean "entries"?'],
      [{ limits: { entries: 0 } }, "limits.entries: must be a whole number, 1 or more"],
      [{ limits: { keyBytes: 2000 } }, "limits.keyBytes: must be 1024 at most"],
    ];
    for (const [options, message] of wrong) {
      expect(() => openMemory(stores, options)).toThrow(message);
    }
    await expect(openMemory(stores).list("alice", { limit: 0 })).rejects.toThrow("limit: must be");
  });
});
