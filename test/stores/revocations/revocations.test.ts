import { describe, expect, onTestFinished, test, vi } from "vitest";
import { createIssuer, createKeyring, type RevocationQuery } from "../../../src/issuer/index.js";
import { tablesOf } from "../../../src/stores/database.js";
import {
  createStores,
  openRevocations,
  openStores,
  type RevocationStore,
  type RevocationStoreOptions,
  type StoreDatabase,
} from "../../../src/stores/index.js";
import { AT, addAll, capability, storageError } from "../../issuer/support.js";
import { onBothDatabases } from "../../support/databases.js";
import { FULL } from "../../support/size.js";

const QUICKLY: RevocationStoreOptions = { refreshEvery: 5 };

interface Opened {
  readonly database: StoreDatabase;
  readonly store: RevocationStore;
}

function query(change: Partial<RevocationQuery> = {}): RevocationQuery {
  return { links: [], capability: "cap_x", keys: ["key_x"], issued: Date.parse(AT), ...change };
}

function finds(store: RevocationStore, id: string): boolean {
  return store.find(query({ capability: id })).length > 0;
}

async function ids(store: RevocationStore): Promise<string[]> {
  return (await store.list()).map(({ id }) => id);
}

/** Waits until a store has read a version of the list. */
function sees(store: RevocationStore, version: number): Promise<void> {
  return expect.poll(() => store.version, { interval: 2 }).toBe(version);
}

onBothDatabases((place) => {
  async function opened(where: string, options = QUICKLY): Promise<Opened> {
    const database = await openStores(where, "create");
    return { database, store: await openRevocations(database, options) };
  }

  /** Opens two independent stores of one database, as in two processes. */
  async function two(): Promise<[Opened, Opened, string]> {
    const where = await place();
    return [await opened(where), await opened(where), where];
  }

  describe("adding, finding and pruning revocations", () => {
    test("an issuer refuses a revoked token, also after the store is opened again", async () => {
      const where = await place();
      const { database, store } = await opened(where);
      expect([store.version, store.size, await store.list()]).toEqual([0, 0, []]);
      const keys = createKeyring();
      const issuer = createIssuer({ name: "a", keys, revocations: store });
      const { token } = issuer.mint({ grant: "documents:read", operations: ["read"] });
      const asked = { grant: "documents:read", operation: "read" };
      const revocation = issuer.revocationOf(token, "task done");
      expect(issuer.authorize(token, asked).allowed).toBe(true);
      if (!revocation.ok) throw new Error("the token is the issuer's own");
      expect(await store.add(revocation.entry)).toBe("added");
      expect(issuer.authorize(token, asked).allowed).toBe(false);
      await database.close();
      const again = await opened(where);
      const later = createIssuer({ name: "a", keys, revocations: again.store });
      const decision = later.authorize(token, asked);
      expect(decision.allowed ? [] : decision.denials.map(({ code }) => code)).toEqual(["revoked"]);
      expect(await again.store.list()).toEqual([revocation.entry]);
      expect(again.store.size).toBe(1);
      await again.database.close();
    });

    test("two entries for one principal, made by two processes, are merged to the later moment and the later expiry", async () => {
      const [here, there, where] = await two();
      const alice = { kind: "principal", id: "alice", at: AT } as const;
      const [early, late] = ["2026-02-01T00:00:00Z", "2026-03-01T00:00:00Z"];
      await here.store.add({ ...alice, before: late, until: early, reason: "first" });
      expect(
        await there.store.add({ ...alice, before: early, until: late, reason: "second" }),
      ).toBe("added");
      const merged = { ...alice, before: late, until: late, reason: "first" };
      await sees(here.store, 2);
      expect([await here.store.list(), await there.store.list()]).toEqual([[merged], [merged]]);
      expect(await here.store.add({ ...merged, reason: "third" })).toBe("known");
      await there.store.add({ ...alice, before: early });
      await expect
        .poll(() => here.store.list())
        .toEqual([{ ...alice, before: late, reason: "first" }]);
      await Promise.all([here.database.close(), there.database.close()]);
      const again = await opened(where);
      expect(await again.store.list()).toEqual([{ ...alice, before: late, reason: "first" }]);
      await again.database.close();
    });

    test("find returns kind and id of an entry, and entriesOf reads its time and reason from the database", async () => {
      const [here, there] = await two();
      const link = {
        kind: "link",
        id: `rv_${"A".repeat(22)}`,
        at: AT,
        reason: "task done",
      } as const;
      const other = { ...capability(`cap_${"B".repeat(16)}`), until: "2026-01-01T00:00:10Z" };
      await here.store.add(link);
      await here.store.add(other);
      await sees(there.store, 2);
      const asked = query({ links: [`rv_${"C".repeat(21)}A`, link.id], capability: other.id });
      for (const { store } of [here, there]) {
        expect(store.find(asked)).toEqual([
          { kind: "link", id: link.id },
          { kind: "capability", id: other.id },
        ]);
        expect(await store.entriesOf(asked)).toEqual([link, other]);
        expect(await store.entriesOf(query())).toEqual([]);
      }
      await here.store.prune(Date.parse(other.until));
      expect(await here.store.entriesOf(asked)).toEqual([link]);
      // The pruned entry is in the memory of the other store until its next read, but no longer in the
      // database.
      expect((await there.store.entriesOf(asked)).map(({ id }) => id)).toEqual([link.id]);
      await here.database.close();
      await there.database.close();
      await expect(there.store.entriesOf(asked)).rejects.toThrow(TypeError);
    });

    test("strings are read back unchanged, also with NUL and lone surrogates", async () => {
      const where = await place();
      const { database, store } = await opened(where);
      const names = ["al\0ice", "\ud800", "é\u0301😀", "'; DROP TABLE revocation; --", '"', " "];
      await addAll(
        store,
        names.map((id) => ({ kind: "principal", id, before: AT, at: AT, reason: `${id}\0why` })),
      );
      await database.close();
      const again = await opened(where);
      expect((await again.store.list()).map(({ id, reason }) => [id, reason])).toEqual(
        names.map((id) => [id, `${id}\0why`]),
      );
      const found = again.store.find(query({ principal: "al\0ice", issued: 0 }));
      expect(found.map(({ id }) => id)).toEqual(["al\0ice"]);
      expect(again.store.find(query({ principal: "al", issued: 0 }))).toEqual([]);
      await again.database.close();
    });

    test("times are read back unchanged, from year 0 to 9999", async () => {
      const { database, store } = await opened(await place());
      const entries = ["0000-01-01T00:00:00Z", "1969-12-31T23:59:59Z", "9999-12-31T23:59:59Z"].map(
        (time, at) => ({ ...capability(`cap_${at}`), at: time, until: time }),
      );
      await addAll(store, entries);
      expect(await store.list()).toEqual(entries);
      await database.close();
    });

    test("an array of entries is added whole or not at all", async () => {
      const { database, store } = await opened(await place());
      const wrong = { kind: "link", id: "rv_short", at: AT } as const;
      await expect(addAll(store, [capability("cap_1"), wrong])).rejects.toThrow(TypeError);
      expect([store.version, await store.list()]).toEqual([0, []]);
      await addAll(store, []);
      expect(store.version).toBe(0);
      await addAll(store, [capability("cap_1"), capability("cap_2")]);
      expect(store.version).toBe(2);
      await database.close();
    });

    test("prune removes expired entries in every process", async () => {
      const [here, there, where] = await two();
      await here.store.add({ ...capability("cap_over"), until: "2026-01-01T00:00:10Z" });
      await here.store.add({ ...capability("cap_later"), until: "2026-01-01T00:00:11Z" });
      await here.store.add(capability("cap_ever"));
      await sees(there.store, 3);
      expect(await here.store.prune(Date.parse("2026-01-01T00:00:10.999Z"))).toBe(1);
      const left = ["cap_later", "cap_ever"];
      expect(await ids(here.store)).toEqual(left);
      await sees(there.store, 4);
      expect(await ids(there.store)).toEqual(left);
      expect(await there.store.prune(0)).toBe(0);
      expect([here.store.version, there.store.version]).toEqual([4, 4]);
      await expect(here.store.prune(Number.NaN)).rejects.toThrow(TypeError);
      // A new revocation of the same capability applies in every process.
      await there.store.add({ ...capability("cap_over"), until: "2026-01-01T00:00:10Z" });
      await sees(here.store, 5);
      expect(finds(here.store, "cap_over")).toBe(true);
      await Promise.all([here.database.close(), there.database.close()]);
      const again = await opened(where);
      expect(await ids(again.store)).toEqual([...left, "cap_over"]);
      await again.database.close();
    });

    if (FULL) {
      test("a list that is longer than one read is read completely", async () => {
        const where = await place();
        const { database, store } = await opened(where);
        const rows = Array.from({ length: 10_003 }, (_, at) => ({
          kind: "capability",
          id: `"cap_${at}"`,
          at: 0,
          before: null,
          until: null,
          reason: null,
          party: null,
          changed: at + 1,
        }));
        for (let at = 0; at < rows.length; at += 1000) {
          await tablesOf(database).write((db) =>
            db
              .insertInto("revocation")
              .values(rows.slice(at, at + 1000))
              .execute(),
          );
        }
        await run(database, "UPDATE revocation_state SET version = 10003");
        await sees(store, 10_003);
        expect(store.size).toBe(10_003);
        const other = await opened(where);
        expect([other.store.size, other.store.version]).toEqual([10_003, 10_003]);
        await Promise.all([database.close(), other.database.close()]);
      });
    }

    if (FULL) {
      test("a list that took longer to read than staleAfter is current when opened", async () => {
        const where = await place();
        const { database, store } = await opened(where);
        await store.add(capability("cap_1"));
        await database.close();
        onTestFinished(() => void vi.useRealTimers());
        const onLoading = (): void =>
          void vi.useFakeTimers({ toFake: ["Date"], now: Date.now() + 61_000 });
        const slow = await opened(where, { ...QUICKLY, staleAfter: 60, onLoading });
        expect([slow.store.size, slow.store.isCurrent()]).toEqual([1, true]);
        await slow.database.close();
      });
    }

    if (FULL) {
      test("a reader misses no entry of several concurrent writers", async () => {
        const where = await place();
        const writers = await Promise.all([1, 2, 3, 4].map(() => opened(where)));
        const reader = await opened(where);
        const missed: string[] = [];
        await Promise.all(
          writers.map(async ({ store }, writer) => {
            for (let round = 0; round < 25; round++) {
              const id = `cap_${writer}_${round}`;
              await store.add(capability(id));
              if (!finds(store, id)) missed.push(id);
            }
          }),
        );
        await sees(reader.store, 100);
        expect([missed, reader.store.size]).toEqual([[], 100]);
        await Promise.all([...writers, reader].map(({ database }) => database.close()));
      });
    }

    test("a closed store refuses new entries, and its find does not throw", async () => {
      const { database, store } = await opened(await place(), { refreshEvery: 5, staleAfter: 0.1 });
      await store.add(capability("cap_1"));
      await database.close();
      await expect(store.add(capability("cap_2"))).rejects.toThrow(TypeError);
      await expect(store.exclusively(() => 1)).rejects.toThrow(TypeError);
      expect(finds(store, "cap_1")).toBe(true);
      await expect.poll(() => store.isCurrent()).toBe(false);
    });

    test("openRevocations throws a TypeError for wrong options", async () => {
      const database = await createStores(await place());
      const wrong: RevocationStoreOptions[] = [
        { refreshEvery: 0 },
        { refreshEvery: -1 },
        { refreshEvery: Number.NaN },
        { refreshEvery: 5000 },
        { staleAfter: 0 },
        { staleAfter: Number.POSITIVE_INFINITY },
      ];
      for (const options of wrong) {
        await expect(openRevocations(database, options)).rejects.toThrow(TypeError);
      }
      await database.close();
    });
  });

  describe("a quota of revocations", () => {
    const mallory = { party: "mallory\0", most: 2 };

    test("limits one party's entries, and no other party's", async () => {
      const [here, there] = await two();
      const add = (at: number, quota = mallory): Promise<string> =>
        here.store.add(capability(`cap_${at}`), quota);
      expect([await add(1), await add(2), await add(3)]).toEqual(["added", "added", "over_quota"]);
      // A known entry is not counted again, and every other party has its own quota.
      expect(await add(2)).toBe("known");
      expect(await there.store.add(capability("cap_4"), mallory)).toBe("over_quota");
      expect(await add(3, { party: "alice", most: 2 })).toBe("added");
      expect(await there.store.add(capability("cap_5"))).toBe("added");
      await expect.poll(() => here.store.size).toBe(4);
      // A refused addition does not change the version of the list.
      await sees(here.store, 4);
      await Promise.all([here.database.close(), there.database.close()]);
    });

    test("does not count expired entries", async () => {
      let now = Date.parse(AT);
      const { database, store } = await opened(await place(), { ...QUICKLY, clock: () => now });
      const until = "2026-01-01T00:01:00Z";
      const add = (at: number): Promise<string> =>
        store.add({ ...capability(`cap_${at}`), until }, mallory);
      expect([await add(1), await add(2), await add(3)]).toEqual(["added", "added", "over_quota"]);
      now = Date.parse(until);
      expect(await add(3)).toBe("added");
      await database.close();
    });

    test("holds for concurrent additions", async () => {
      const { database, store } = await opened(await place());
      const additions = await Promise.all(
        Array.from({ length: 20 }, (_, at) => store.add(capability(`cap_${at}`), mallory)),
      );
      expect(additions.filter((addition) => addition === "added")).toHaveLength(2);
      expect(store.size).toBe(2);
      await database.close();
    });
  });

  describe("store.exclusively", () => {
    test("commits what its action added, and returns the action's result", async () => {
      const [here, there] = await two();
      const result = await here.store.exclusively(async (add) => {
        await add(capability("cap_1"));
        await add(capability("cap_2"));
        expect([there.store.version, here.store.version]).toEqual([0, 0]);
        return "done";
      });
      expect([result, here.store.version]).toEqual(["done", 2]);
      await sees(there.store, 2);
      expect(await there.store.list()).toEqual(await here.store.list());
      await Promise.all([here.database.close(), there.database.close()]);
    });

    test("adds no entry if its action throws", async () => {
      const where = await place();
      const { database, store } = await opened(where);
      await store.add(capability("cap_1"));
      const boom = new Error("boom");
      const failing = store.exclusively(async (add) => {
        await add(capability("cap_2"));
        throw boom;
      });
      await expect(failing).rejects.toBe(boom);
      expect([store.version, finds(store, "cap_2")]).toEqual([1, false]);
      await store.add(capability("cap_3"));
      await database.close();
      const again = await opened(where);
      expect([await ids(again.store), again.store.version]).toEqual([["cap_1", "cap_3"], 2]);
      await again.database.close();
    });

    test("undoes the entries of its own failed action, not those of a concurrent call", async () => {
      const { database, store } = await opened(await place());
      for (const round of ["a", "b"]) {
        const all = ["", "1", "2", "3"].map((id) => capability(id && `cap_${round}${id}`));
        const [failed] = await Promise.allSettled([
          store.exclusively((add) => Promise.all(all.map(add))),
          store.add(capability(`cap_${round}`)),
        ]);
        expect(failed.status).toBe("rejected");
      }
      await store.add(capability("cap_c"));
      expect([await ids(store), store.version]).toEqual([["cap_a", "cap_b", "cap_c"], 3]);
      await database.close();
    });

    test("fails at its time limit if its action waits for another write", async () => {
      const database = await openStores(await place(), "create", { writeTimeout: 300 });
      const store = await openRevocations(database, QUICKLY);
      const failure = await storageError(() =>
        store.exclusively(async (add) => {
          await add(capability("cap_1"));
          await store.add(capability("cap_2"));
        }),
      );
      expect(failure.code).toBe("store_timeout");
      expect(failure.message).toContain("for no other write");
      // The list accepts further entries, and has none of the entries of the failed action.
      await expect.poll(() => store.add(capability("cap_3"))).toMatch(/^(added|known)$/);
      expect(await ids(store)).not.toContain("cap_1");
      await database.close();
    });

    test("makes other writers wait and then fail with store_locked, while readers continue", async () => {
      const [here, there] = await two();
      await there.store.add(capability("cap_1"));
      const failure = await here.store.exclusively(async () => {
        const began = performance.now();
        const { code } = await storageError(() => there.store.add(capability("cap_2")));
        expect(finds(there.store, "cap_1")).toBe(true);
        return { code, waited: performance.now() - began };
      });
      expect(failure.code).toBe("store_locked");
      expect(failure.waited).toBeGreaterThan(1800);
      await there.store.add(capability("cap_2"));
      await expect.poll(() => finds(here.store, "cap_2")).toBe(true);
      await Promise.all([here.database.close(), there.database.close()]);
    });
  });

  describe("invalid rows in the database", () => {
    test("make openRevocations fail with store_corrupt, in whichever column they are", async () => {
      const database = await createStores(await place());
      const revocation = "UPDATE revocation SET";
      for (const statement of [
        `${revocation} at = 9e15`,
        `${revocation} kind = 'other'`,
        `${revocation} id = 'not JSON'`,
        `${revocation} id = '7'`,
        `${revocation} reason = '[]'`,
        `${revocation} before = 1`,
        "UPDATE revocation_state SET version = -1",
        "UPDATE revocation_state SET pruned = -1",
        "DELETE FROM revocation_state",
        "DROP TABLE revocation_state",
        "DROP TABLE revocation",
      ]) {
        await run(database, "DELETE FROM revocation");
        const store = await openRevocations(database, QUICKLY).catch(() => undefined);
        await store?.add(capability("cap_1"));
        await run(database, statement);
        const { code } = await storageError(() => openRevocations(database));
        expect(code, statement).toBe("store_corrupt");
        if (statement.startsWith("UPDATE revocation_state")) {
          await run(database, "UPDATE revocation_state SET version = 100, pruned = 0");
        }
      }
      await database.close();
    });

    test("such as a version that was set back, make the list stale until they are corrected", async () => {
      const { database, store } = await opened(await place(), { refreshEvery: 5, staleAfter: 0.3 });
      await store.add(capability("cap_1"));
      await run(database, "UPDATE revocation_state SET version = 0");
      await expect.poll(() => store.problem?.code).toBe("store_corrupt");
      expect(finds(store, "cap_1")).toBe(true);
      expect((await storageError(() => store.add(capability("cap_2")))).code).toBe("store_corrupt");
      await expect.poll(() => store.isCurrent()).toBe(false);
      await run(database, "UPDATE revocation_state SET version = 1");
      await expect.poll(() => store.isCurrent()).toBe(true);
      expect(store.problem).toBeUndefined();
      await database.close();
    });
  });
});

/** Runs a statement that no store would run. */
async function run(database: StoreDatabase, statement: string): Promise<void> {
  const { sql } = await import("kysely");
  await tablesOf(database).write((db) => sql.raw(statement).execute(db));
}
