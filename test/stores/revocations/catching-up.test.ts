import { afterEach, describe, expect, onTestFinished, test, vi } from "vitest";
import { createIssuer, createKeyring } from "../../../src/issuer/index.js";
import { tablesOf } from "../../../src/stores/database.js";
import {
  createStores,
  openRevocations,
  type RevocationStore,
  type RevocationStoreOptions,
  type StoreDatabase,
} from "../../../src/stores/index.js";
import { act } from "../../issuer/support.js";
import { throughStores } from "../../support/databases.js";

// Another process revokes while this process is blocked: `act` runs to its end before anything else runs in
// this process.

throughStores((place) => {
  let where: string;
  async function opened(
    options: RevocationStoreOptions = {},
  ): Promise<{ readonly database: StoreDatabase; readonly store: RevocationStore }> {
    where = await place();
    const database = await createStores(where);
    onTestFinished(() => database.close());
    return { database, store: await openRevocations(database, { refreshEvery: 20, ...options }) };
  }
  const revokeElsewhere = (id: string): void => {
    expect(act(["add-to-store", where, id])).toMatchObject({ result: expect.any(Number) });
    // The other process may end before this process's last read counts as too old: block for longer than that.
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 150);
  };
  const finds = (store: RevocationStore, id: string): boolean =>
    store.find({ links: [], capability: id, keys: [], issued: 0 }).length > 0;
  afterEach(() => {
    vi.useRealTimers();
    vi.restoreAllMocks();
  });

  describe("after this process was paused", () => {
    test("catchUp finds what was revoked meanwhile", async () => {
      const { store } = await opened({ staleAfter: 60 });
      for (const id of ["cap_1", "cap_2"]) {
        revokeElsewhere(id);
        expect(finds(store, id)).toBe(false);
        await store.catchUp();
        expect(finds(store, id)).toBe(true);
      }
    });

    test("each of 100 concurrent catchUp calls finds what was revoked meanwhile", async () => {
      const { store } = await opened({ refreshEvery: 40, staleAfter: 60 });
      revokeElsewhere("cap_1");
      const found = async (): Promise<boolean> => {
        await store.catchUp();
        return finds(store, "cap_1");
      };
      const all = await Promise.all(Array.from({ length: 100 }, found));
      expect(all).toEqual(Array.from({ length: 100 }, () => true));
    });

    test("catchUp does not rely on a read that began before the pause", async () => {
      const { database, store } = await opened({ staleAfter: 60 });
      const read = vi.spyOn(tablesOf(database), "read");
      read.mockImplementationOnce(() => new Promise(() => {}));
      await expect.poll(() => read).toHaveBeenCalled();
      revokeElsewhere("cap_1");
      await store.catchUp();
      expect(finds(store, "cap_1")).toBe(true);
    });

    test("authorize refuses with revocation_stale if the list is too old, until catchUp has read the list", async () => {
      const { store } = await opened({ staleAfter: 60 });
      const issuer = createIssuer({ name: "a", keys: createKeyring(), revocations: store });
      const { token } = issuer.mint({ grant: "g", operations: ["x"] });
      const code = (): string => {
        const decision = issuer.authorize(token, { grant: "g", operation: "x" });
        return decision.allowed ? "allowed" : decision.denials[0].code;
      };
      revokeElsewhere("cap_1");
      vi.useFakeTimers({ toFake: ["Date"], now: Date.now() + 61_000 });
      expect(code()).toBe("revocation_stale");
      await issuer.catchUp();
      expect(code()).toBe("allowed");
    });

    test("a list is not current after the machine's clock jumped ahead, until catchUp reads again", async () => {
      const { store } = await opened({ refreshEvery: 10_000, staleAfter: 30 });
      expect(store.isCurrent()).toBe(true);
      vi.useFakeTimers({ toFake: ["Date"], now: Date.now() + 31_000 });
      expect(store.isCurrent()).toBe(false);
      await store.catchUp();
      expect(store.isCurrent()).toBe(true);
    });
  });

  test("catchUp does not fail if its read fails, and the list becomes stale", async () => {
    const { database, store } = await opened({ staleAfter: 0.3 });
    await store.add({ kind: "capability", id: "cap_1", at: "2026-01-01T00:00:00Z" });
    vi.spyOn(tablesOf(database), "read").mockRejectedValue(new Error("no connection"));
    await expect.poll(() => store.problem).toBeDefined();
    await store.catchUp();
    expect(finds(store, "cap_1")).toBe(true);
    await expect.poll(() => store.isCurrent()).toBe(false);
    await store.catchUp();
    expect(store.isCurrent()).toBe(false);
    vi.restoreAllMocks();
    const isCurrent = async (): Promise<boolean> => {
      await store.catchUp();
      return store.isCurrent();
    };
    await expect.poll(isCurrent).toBe(true);
    await database.close();
    await store.catchUp();
  });
});
