import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import type { Json, JsonObject } from "../../../../src/bytes/json.js";
import type { SessionPlugin } from "../../../../src/protocols/a2e/plugin.js";
import { createMemoryPlugin } from "../../../../src/protocols/a2e/plugins/memory-plugin.js";
import { openStores } from "../../../../src/stores/database.js";
import type { MemoryLimits } from "../../../../src/stores/memory/memory-limits.js";
import { openMemory } from "../../../../src/stores/memory/memory-store.js";
import { temporaryFolder } from "../../../support/temporary-folder.js";
import { call, refusal } from "./calls.js";

async function plugin(limits?: Partial<MemoryLimits>): Promise<SessionPlugin> {
  const stores = await openStores(join(temporaryFolder(), "proviso.db"), "create");
  onTestFinished(() => stores.close());
  return createMemoryPlugin({ memory: openMemory(stores, { limits, clock: () => 0 }) });
}

test("the memory plugin sets, gets, lists in pages and deletes values", async () => {
  const memory = await plugin();
  const value = { likes: ["tea", null] };
  const updated = "1970-01-01T00:00:00.000Z";
  expect(await call(memory, "memory/set", { key: "user/taste", value })).toEqual({
    key: "user/taste",
    bytes: 32,
    updated,
    made: true,
  });
  expect(await call(memory, "memory/get", { key: "user/taste" })).toEqual({
    key: "user/taste",
    found: true,
    value,
    bytes: 32,
    updated,
  });
  expect(await call(memory, "memory/get", { key: "user/other" })).toEqual({
    key: "user/other",
    found: false,
  });
  await call(memory, "memory/set", { key: "user/name", value: null });
  await call(memory, "memory/set", { key: "work", value: 1 });
  const first = await call(memory, "memory/list", { prefix: "user/", limit: 1 });
  expect(first).toEqual({ entries: [{ key: "user/name", bytes: 13, updated }], next: "user/name" });
  const second = await call(memory, "memory/list", {
    prefix: "user/",
    after: "user/name",
    limit: 1,
  });
  expect(second).toEqual({ entries: [{ key: "user/taste", bytes: 32, updated }] });
  expect(await call(memory, "memory/delete", { key: "work" })).toEqual({
    key: "work",
    deleted: true,
  });
  expect(await call(memory, "memory/delete", { key: "work" })).toEqual({
    key: "work",
    deleted: false,
  });
});

test("memory/list divides long keys into pages that each fit into a line", async () => {
  const memory = await plugin({ keyBytes: 1024 });
  // As JSON, each quotation mark takes two bytes.
  const keys = Array.from({ length: 100 }, (_, at) => `${at + 100}${'"'.repeat(1000)}`);
  for (const key of keys) await call(memory, "memory/set", { key, value: 1 });
  const found: unknown[] = [];
  let pages = 0;
  for (let after: Json | undefined = ""; after !== undefined; pages++) {
    const page: JsonObject = await call(memory, "memory/list", { limit: 1000, after });
    expect(JSON.stringify(page).length).toBeLessThan(140_000);
    const { entries, next } = page;
    if (Array.isArray(entries)) found.push(...entries);
    after = next;
  }
  expect(pages).toBe(2);
  expect(found).toMatchObject(keys.map((key) => ({ key })));
});

test("a principal sees its own values in every session, and no values of other principals", async () => {
  const memory = await plugin();
  await call(memory, "memory/set", { key: "k", value: 1 });
  const bob = { principal: "bob", session: "s1" };
  expect(await call(memory, "memory/get", { key: "k" }, bob)).toMatchObject({ found: false });
  expect(await call(memory, "memory/list", {}, bob)).toEqual({ entries: [] });
  expect(await call(memory, "memory/delete", { key: "k" }, bob)).toMatchObject({ deleted: false });
  expect(await call(memory, "memory/get", { key: "k" }, { session: "s2" })).toMatchObject({
    value: 1,
  });
});

test("a key, a value or an entry above a limit and an invalid argument are refused with different codes", async () => {
  const memory = await plugin({ keyBytes: 4, valueBytes: 8, entries: 1 });
  const codes = [
    call(memory, "memory/set", { key: "12345", value: 1 }),
    call(memory, "memory/set", { key: "1", value: "12345678" }),
    call(memory, "memory/set", { key: "1", value: 1 }).then(() =>
      call(memory, "memory/set", { key: "2", value: 1 }),
    ),
    call(memory, "memory/set", { key: "1" }),
    call(memory, "memory/get", { key: 1 }),
    call(memory, "memory/list", { limit: 0 }),
  ];
  expect(await Promise.all(codes.map(async (one) => (await refusal(one)).code))).toEqual([
    "key_invalid",
    "value_too_large",
    "quota_exceeded",
    "arguments_invalid",
    "arguments_invalid",
    "arguments_invalid",
  ]);
});
