import { spawnSync } from "node:child_process";
import { renameSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { describe, expect, onTestFinished, test, vi } from "vitest";
import { createIssuer, createKeyring } from "../../../src/issuer/index.js";
import {
  createStores,
  openRevocations,
  openStores,
  type RevocationStore,
  type RevocationStoreOptions,
  type StoreDatabase,
} from "../../../src/stores/index.js";
import { addAll, capability, storageError } from "../../issuer/support.js";
import { temporaryFolder } from "../../support/temporary-folder.js";

async function newStore(options: RevocationStoreOptions = {}): Promise<{
  directory: string;
  path: string;
  database: StoreDatabase;
  store: RevocationStore;
}> {
  const directory = temporaryFolder();
  const path = join(directory, "proviso.db");
  const database = await createStores(path);
  const store = await openRevocations(database, { refreshEvery: 5, ...options });
  return { directory, path, database, store };
}

/** Changes a file in a separate process, since closing the file in this process would release SQLite's locks. */
function shell(command: string, ...words: string[]): void {
  const { status } = spawnSync("sh", ["-ec", command, "sh", ...words]);
  if (status !== 0) throw new Error(`failed: ${command}`);
}

function denials(store: RevocationStore): string[] {
  const issuer = createIssuer({ name: "a", keys: createKeyring(), revocations: store });
  const { token } = issuer.mint({ grant: "documents:read", operations: ["read"] });
  const decision = issuer.authorize(token, { grant: "documents:read", operation: "read" });
  return decision.allowed ? [] : decision.denials.map(({ code }) => code);
}

function finds(store: RevocationStore, id: string): boolean {
  return store.find({ links: [], capability: id, keys: ["key_x"], issued: 0 }).length > 0;
}

const failed = (store: RevocationStore, code: string): Promise<void> =>
  expect.poll(() => store.problem?.code, { interval: 2 }).toBe(code);

describe("an open revocation store", () => {
  test("answers from memory without its file until the list is too old, and works again when the file is back", async () => {
    const { directory, path, database, store } = await newStore({ staleAfter: 60 });
    await store.add(capability("cap_1"));
    renameSync(path, join(directory, "away.db"));
    await failed(store, "store_missing");
    expect([denials(store), finds(store, "cap_1")]).toEqual([[], true]);
    expect((await storageError(() => store.add(capability("cap_2")))).code).toBe("store_missing");
    vi.useFakeTimers({ toFake: ["Date"], now: Date.now() + 61_000 });
    onTestFinished(() => void vi.useRealTimers());
    expect(denials(store)).toEqual(["revocation_stale"]);
    expect(store.age).toBeGreaterThan(60);
    expect(finds(store, "cap_1")).toBe(true);
    renameSync(join(directory, "away.db"), path);
    await expect.poll(() => [denials(store), store.problem]).toEqual([[], undefined]);
    await store.add(capability("cap_2"));
    expect(store.version).toBe(2);
    await database.close();
  });

  test("does not read another file in the place of its file", async () => {
    const { directory, path, database, store } = await newStore({ staleAfter: 0.1 });
    await store.add(capability("cap_1"));
    await (await createStores(join(directory, "other.db"))).close();
    renameSync(join(directory, "other.db"), path);
    await failed(store, "store_replaced");
    expect(finds(store, "cap_1")).toBe(true);
    expect((await storageError(() => store.add(capability("cap_2")))).code).toBe("store_replaced");
    await expect.poll(() => denials(store)).toEqual(["revocation_stale"]);
    await database.close();
  });

  test("answers from memory with an empty file until the list is too old", async () => {
    const { path, database, store } = await newStore({ staleAfter: 0.1 });
    await store.add(capability("cap_1"));
    shell('cp "$1" "$1.copy"; : > "$1"', path);
    await failed(store, "store_corrupt");
    expect((await storageError(() => openStores(path))).code).toBe("store_corrupt");
    expect(finds(store, "cap_1")).toBe(true);
    await expect.poll(() => denials(store)).toEqual(["revocation_stale"]);
    shell('cat "$1.copy" > "$1"', path);
    await expect.poll(() => denials(store)).toEqual([]);
    await database.close();
  });

  test("if its file is damaged, acknowledges only revocations that are stored", async () => {
    const { path, database, store } = await newStore();
    await addAll(
      store,
      Array.from({ length: 500 }, (_, at) => capability(`cap_${at}`)),
    );
    shell('dd if=/dev/zero of="$1" bs=4096 seek=1 count=200 conv=notrunc 2> /dev/null', path);
    shell(': > "$1-wal"', path);
    const acknowledged: string[] = [];
    for (let at = 0; at < 20; at++) {
      const id = `cap_after_${at}`;
      await store.add(capability(id)).then(
        () => acknowledged.push(id),
        () => {},
      );
    }
    await database.close();
    const after = await openStores(path).catch(() => undefined);
    const there = after === undefined ? undefined : await openRevocations(after).catch(() => {});
    expect(acknowledged.filter((id) => there === undefined || !finds(there, id))).toEqual([]);
    await after?.close();
  });

  test("measures the age of its list by elapsed time, not by its clock option", async () => {
    let now = Date.now();
    const { directory, path, database, store } = await newStore({
      staleAfter: 0.1,
      clock: () => now,
    });
    renameSync(path, join(directory, "away.db"));
    await sleep(150);
    now -= 3_600_000;
    expect(store.isCurrent()).toBe(false);
    await database.close();
  });
});
