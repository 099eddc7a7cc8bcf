import { setTimeout as sleep } from "node:timers/promises";
import { expect, onTestFinished, test } from "vitest";
import type { Page, PartyRecords, PartyStore, Records } from "../../../src/agent/parties/store.js";
import { openStores, tablesOf } from "../../../src/stores/database.js";
import { openLedger } from "../../../src/stores/ledger/ledger-store.js";
import { openParties } from "../../../src/stores/parties/party-store.js";
import { onBothDatabases } from "../../support/databases.js";
import { FULL } from "../../support/size.js";
import {
  agent,
  answered,
  approval,
  databaseAt,
  delegation,
  grant,
  host,
  NOW,
  subject,
} from "./support.js";

const AT = new Date(NOW).toISOString();
const DAY = 24 * 60 * 60 * 1000;

const put = <K extends keyof PartyRecords>(
  store: PartyStore,
  kind: K,
  ...records: readonly PartyRecords[K][]
): Promise<void> =>
  store.change(async (draft) => {
    for (const record of records) await draft.put(kind, record);
  });

onBothDatabases((place) => {
  const parties = async (at?: string): Promise<PartyStore> =>
    openParties(await databaseAt(at ?? (await place())));

  test("get returns the record that was put last, also after the store is opened again", async () => {
    const where = await place();
    const store = await parties(where);
    const kept = {
      hosts: host("h", { enrolment: { hash: "x", expires: NOW }, principal: "a\0lice \ud800" }),
      agents: agent("a", { denial: "no", activated: NOW, expires: NOW + 1, lastUsed: NOW }),
      grants: grant("g", { approval: "p", purpose: "rent", grantedBy: "alice" }),
      approvals: approval("p", {
        subject: subject("r", { purpose: "rent", audience: ["bank"], host: { id: "h" } }),
        decisions: [
          {
            approver: "alice",
            at: NOW,
            answer: "approve",
            granted: [0],
            reason: "fine",
            hops: { "0": { constraints: { payee: "rent" } } },
          },
        ],
        collected: { "0": "cap_1" },
      }),
      delegations: delegation("d", { issued: NOW, revoked: NOW }),
      requests: answered("q"),
    };
    await store.change(async (draft) => {
      await draft.put("hosts", kept.hosts);
      await draft.put("agents", kept.agents);
      await draft.put("grants", kept.grants);
      await draft.put("approvals", kept.approvals);
      await draft.put("delegations", kept.delegations);
      await draft.put("requests", kept.requests);
    });
    const next = await parties(where);
    await next.read(async (view) => {
      expect(await view.hosts.get("h")).toEqual(kept.hosts);
      expect(await view.agents.get("a")).toEqual(kept.agents);
      expect(await view.grants.get("g")).toEqual(kept.grants);
      expect(await view.approvals.get("p")).toEqual(kept.approvals);
      expect(await view.delegations.get("d")).toEqual(kept.delegations);
      expect(await view.requests.get("q")).toEqual(kept.requests);
      expect(await view.hosts.get("a\0")).toBeUndefined();
      expect(await view.hosts.find({ principal: "a\0lice \ud800" })).toEqual([kept.hosts]);
    });
    await next.change(async (draft) => {
      const found = await draft.hosts.get("h");
      await draft.put("hosts", { ...(found ?? kept.hosts), name: "Desktop" });
      expect(await draft.hosts.get("h")).toMatchObject({ name: "Desktop" });
      await draft.put("hosts", { ...(found ?? kept.hosts), name: "Phone" });
    });
    expect(await store.read((view) => view.hosts.get("h"))).toMatchObject({ name: "Phone" });
  });

  test("remove throws unless the change has read the record before", async () => {
    const store = await parties();
    await put(store, "agents", agent("a"), agent("b"));
    const remove = (id: string): Promise<boolean> =>
      store.change(async (draft) => {
        const found = await draft.agents.get(id);
        if (found === undefined) return false;
        await draft.remove("agents", found);
        expect(await draft.agents.get(id)).toBeUndefined();
        return true;
      });
    expect(await remove("a")).toBe(true);
    expect(await remove("a")).toBe(false);
    await store.read(async (view) => expect(await view.agents.find({})).toEqual([agent("b")]));
    await expect(store.change((draft) => draft.remove("agents", agent("b")))).rejects.toThrow(
      "must be read before it is removed",
    );
    // A record can be created again in the change that removed it.
    await store.change(async (draft) => {
      await draft.remove("agents", (await draft.agents.get("b")) ?? agent("b"));
      await draft.put("agents", agent("b", { name: "Again" }));
    });
    await store.read(async (view) => {
      expect(await view.agents.find({})).toEqual([agent("b", { name: "Again" })]);
    });
  });

  if (FULL) {
    test("each prune call looks at a limited number of records, and the next call continues after them", async () => {
      const store = openParties(await databaseAt(await place()), { retention: 2 });
      const old = { created: NOW - 9 * DAY, updated: NOW - 2 * DAY } as const;
      const alive = (at: number) => agent(`alive ${at}`, old);
      for (let at = 0; at < 10_000; at += 1000) {
        await put(store, "agents", ...Array.from({ length: 1000 }, (_, one) => alive(at + one)));
      }
      const last = { ...old, created: NOW - 8 * DAY, status: "revoked" } as const;
      await put(store, "agents", agent("over", last));
      expect(await store.prune(NOW)).toBe(0);
      expect(await store.prune(NOW)).toBe(1);
      // Pruning starts with the first record again.
      await put(store, "agents", agent("over too", { ...old, status: "revoked", created: 1 }));
      expect(await store.prune(NOW)).toBe(1);
    });
  }

  test("a change that waits for another change fails with store_timeout at its time limit", async () => {
    const database = await openStores(await place(), "create", { writeTimeout: 300 });
    onTestFinished(() => database.close());
    const store = openParties(database);
    const outer = store.change(async (draft) => {
      await draft.put("agents", agent("outer"));
      await put(store, "agents", agent("inner"));
    });
    await expect(outer).rejects.toMatchObject({
      code: "store_timeout",
      message: expect.stringContaining("for no other write"),
    });
    await put(store, "agents", agent("next"));
    const kept = await store.read((view) => view.agents.find({}));
    expect(kept.map(({ id }) => id).sort()).toEqual(["inner", "next"]);
  });

  test("find returns the records that match each property of the query, oldest first, by page", async () => {
    const store = await parties();
    const ids = ["c", "a", "B", "b", "d"];
    for (const [at, id] of ids.entries()) {
      const created = NOW + Math.floor(at / 2);
      await put(store, "agents", agent(id, { created, host: at < 4 ? "h" : "other" }));
      await put(store, "grants", grant(id, { created, agent: at < 3 ? "a" : "b", approval: "p" }));
      await put(store, "hosts", host(id, { created, principal: at < 2 ? "alice" : "bob" }));
      await put(store, "delegations", delegation(id, { created, delegator: at < 2 ? "a" : "b" }));
    }
    const found = <Query>(
      records: (
        view: Parameters<Parameters<PartyStore["read"]>[0]>[0],
      ) => Records<{ readonly id: string }, Query>,
      query: Query & Page,
    ): Promise<string> =>
      store.read(async (view) => {
        const all = await records(view).find(query);
        return all.map(({ id }) => id).join("");
      });
    expect(await found((view) => view.agents, { host: "h" })).toBe("acBb");
    expect(await found((view) => view.agents, { host: "h", thumbprint: "thumb-B" })).toBe("B");
    expect(await found((view) => view.agents, { host: "h", thumbprint: "thumb-d" })).toBe("");
    expect(await found((view) => view.agents, {})).toBe("acBbd");
    expect(await found((view) => view.agents, { limit: 2 })).toBe("ac");
    expect(await found((view) => view.agents, { limit: 2, after: "c" })).toBe("Bb");
    expect(await found((view) => view.agents, { limit: 2, after: "b" })).toBe("d");
    expect(await found((view) => view.agents, { after: "unknown" })).toBe("");
    expect(await found((view) => view.grants, { agent: "a", host: "h" })).toBe("acB");
    expect(await found((view) => view.grants, { approval: "p", after: "B" })).toBe("bd");
    expect(await found((view) => view.hosts, { principal: "alice" })).toBe("ac");
    expect(await found((view) => view.hosts, { thumbprint: "thumb-c" })).toBe("c");
    await put(
      store,
      "hosts",
      host("e", { status: "pending", created: NOW + 9 }),
      host("f", { status: "revoked", created: NOW + 9 }),
      host("g", { created: NOW + 9 }),
    );
    expect(await found((view) => view.hosts, { unlinkedSince: NOW + 8 })).toBe("efg");
    expect(await found((view) => view.hosts, { unlinkedSince: NOW + 9 })).toBe("");
    expect(await found((view) => view.delegations, { delegator: "b" })).toBe("Bbd");
    const aliveAt = NOW + 600_000;
    expect(await found((view) => view.delegations, { aliveAt })).toBe("");
    expect(await found((view) => view.delegations, { aliveAt: aliveAt - 1 })).toBe("acBbd");
    const wrong = [
      [{ hosts: "h" }, 'query.hosts: unknown property; did you mean "host"?'],
      [{ limit: 0 }, "limit: must be 1 to 1000"],
      [{ limit: 1001 }, "limit: must be 1 to 1000"],
      [{ host: 1 }, "host: cannot be looked up by this"],
    ] as const;
    for (const [query, message] of wrong) {
      await expect(store.read((view) => view.agents.find(query as object))).rejects.toThrow(
        message,
      );
    }
  });

  test("find returns approvals by request, code, agent, state and approver", async () => {
    const store = await parties();
    await put(
      store,
      "approvals",
      approval("1", { codeHash: "c1" }),
      approval("2", { created: NOW + 1, rule: { approvers: ["bob", "carol"], needed: 2 } }),
      approval("3", { created: NOW + 2, state: "denied", subject: subject("r3") }),
    );
    const { principal: _, ...nobodys } = subject("r4", { agent: { id: "b" } });
    await put(store, "approvals", approval("4", { created: NOW + 3, subject: nobodys }));
    const found = (query: Parameters<typeof find>[1]): Promise<string> => find(store, query);
    expect(await found({ request: "r3" })).toBe("3");
    expect(await found({ codeHash: "c1" })).toBe("1");
    expect(await found({ agent: "b" })).toBe("4");
    expect(await found({ state: "pending" })).toBe("124");
    expect(await found({ approver: "alice" })).toBe("13");
    expect(await found({ approver: "alice", state: "pending" })).toBe("1");
    expect(await found({ approver: "bob" })).toBe("2");
    expect(await found({ approver: "dave" })).toBe("");
    // A user who has decided still finds the approval.
    await store.change(async (draft) => {
      const taken = await draft.approvals.get("4");
      const decision = { approver: "dave", at: NOW, answer: "deny" } as const;
      if (taken) await draft.put("approvals", { ...taken, state: "denied", decisions: [decision] });
    });
    expect(await found({ approver: "dave" })).toBe("4");
  });

  test("a change is written together with its ledger events, or not at all", async () => {
    const stores = await databaseAt(await place());
    const store = openParties(stores);
    const ledger = openLedger(stores);
    const change = (fails: boolean): Promise<string> =>
      store.change(async (draft) => {
        await draft.put("hosts", host("h"));
        await draft.put("agents", agent("a"));
        draft.note({
          kind: "registration",
          at: AT,
          decision: "allowed",
          change: "agent.activated",
          record: "a",
          principal: "alice",
          invoker: "a",
        });
        if (fails) throw new RangeError("no");
        return "done";
      });
    await expect(change(true)).rejects.toThrow(RangeError);
    expect(await store.read((view) => view.hosts.get("h"))).toBeUndefined();
    expect(await ledger.list()).toEqual([]);
    expect(await change(false)).toBe("done");
    expect(await store.read((view) => view.agents.get("a"))).toEqual(agent("a"));
    expect(await ledger.list({ kind: "registration" })).toEqual([
      {
        kind: "registration",
        at: AT,
        decision: "allowed",
        change: "agent.activated",
        record: "a",
        principal: "alice",
        invoker: "a",
      },
    ]);
    await ledger.close();
  });

  test("each of several concurrent changes sees the records as the previous change left them", async () => {
    const where = await place();
    const both = [await parties(where), await parties(where)];
    await put(both[0] ?? expect.fail(), "hosts", host("h", { updated: 0 }));
    const changes = Array.from({ length: 40 }, (_, at) =>
      both[at % 2]?.change(async (draft) => {
        const found = (await draft.hosts.get("h")) ?? expect.fail();
        await draft.put("hosts", { ...found, updated: found.updated + 1 });
      }),
    );
    await Promise.all(changes);
    expect(await both[1]?.read((view) => view.hosts.get("h"))).toMatchObject({ updated: 40 });
  });

  test("a change that conflicts in each of its runs fails with store_locked", async () => {
    const stores = await databaseAt(await place());
    const store = openParties(stores, { runs: 5 });
    await put(store, "hosts", host("h"));
    let runs = 0;
    const change = store.change(async (draft) => {
      runs++;
      // No two active hosts may have the same key.
      await draft.put("hosts", host("other", { thumbprint: "thumb-h" }));
    });
    await expect(change).rejects.toMatchObject({ name: "StorageError", code: "store_locked" });
    expect(runs).toBe(5);
    expect(await store.read((view) => view.hosts.get("other"))).toBeUndefined();
  });

  test("a key belongs to one unrevoked host, and a request has one approval", async () => {
    const store = await parties();
    await put(store, "hosts", host("h", { thumbprint: "t", status: "revoked" }));
    await put(store, "hosts", host("i", { thumbprint: "t" }));
    let runs = 0;
    // The change reads the host before it changes the host's key, so the key is changed by an update.
    const rotate = async (): Promise<void> =>
      store.change(async (draft) => {
        runs++;
        const found = (await draft.hosts.get("j")) ?? host("j");
        await draft.put("hosts", { ...found, thumbprint: runs < 3 ? "t" : "u" });
      });
    await put(store, "hosts", host("j"));
    await rotate();
    expect(runs).toBe(3);
    const approvals = async (): Promise<string> =>
      store.change(async (draft) => {
        const id = `approval-${runs++}`;
        const [there] = await draft.approvals.find({ request: "r" });
        if (there === undefined)
          await draft.put("approvals", approval(id, { subject: subject("r") }));
        return there?.id ?? id;
      });
    const ids = await Promise.all(Array.from({ length: 8 }, approvals));
    expect(new Set(ids).size).toBe(1);
  });

  test("an existing record must be read before it is replaced, and a finished change cannot write", async () => {
    const store = await parties();
    await put(store, "hosts", host("h"));
    await expect(put(store, "hosts", host("h"))).rejects.toThrow("must be read before");
    let late: (() => Promise<void>) | undefined;
    await store.change(async (draft) => {
      late = () => draft.put("agents", agent("late"));
    });
    await expect(late?.()).rejects.toThrow("this change is over");
    expect(await store.read((view) => view.agents.get("late"))).toBeUndefined();
  });

  test("put refuses a record that could not be read back", async () => {
    const store = await parties();
    const hop = { constraints: { amount: { most: 1 } } } as never;
    for (const wrong of [
      grant("g", { created: Number.NaN }),
      grant("g", { hops: [{ by: "agent", hop }] }),
      grant("g", { status: "allowed" as never }),
    ]) {
      await expect(put(store, "grants", wrong)).rejects.toThrow("this is not a record of grants");
    }
    expect(await store.read((view) => view.grants.find({}))).toEqual([]);
    const use = { scope: "test", id: "1", expires: 0.5 };
    await expect(store.useOnce(use, NOW)).rejects.toThrow("use.expires: must be whole");
    await expect(store.useOnce({ ...use, expires: 1, most: 0 }, NOW)).rejects.toThrow("use.most");
  });

  test("useOnce accepts an id once across processes and restarts", async () => {
    const where = await place();
    const [one, two] = [await parties(where), await parties(where)];
    const use = (store: PartyStore, scope: string, id: string) =>
      store.useOnce({ scope, id, expires: NOW }, NOW - 1000);
    const uses = Array.from({ length: 20 }, (_, at) => use(at % 2 ? one : two, "host-jwt", "j\0"));
    const outcomes = await Promise.all(uses);
    expect(outcomes.filter((outcome) => outcome === "first")).toHaveLength(1);
    expect(outcomes.filter((outcome) => outcome === "used")).toHaveLength(19);
    expect(await use(one, "agent-jwt", "j\0")).toBe("first");
    expect(await use(one, "host-jwtj", "\0")).toBe("first");
    const later = await parties(where);
    expect(await use(later, "host-jwt", "j\0")).toBe("used");
    expect(await later.prune(NOW - 1)).toBe(0);
    expect(await use(later, "host-jwt", "j\0")).toBe("used");
    expect(await later.prune(NOW)).toBe(3);
  });

  test("useOnce removes expired ids while it adds new ones, and removes no other ids", async () => {
    const where = await place();
    const database = await databaseAt(where);
    const store = openParties(database);
    const rows = async () => {
      const kept = await tablesOf(database).read((db) =>
        db.selectFrom("used_once").select("expires").execute(),
      );
      return kept.map(({ expires }) => Number(expires));
    };
    const round = (name: string, at: number, count: number) =>
      Promise.all(
        Array.from({ length: count }, (_, n) =>
          store.useOnce({ scope: `party ${n % 7}`, id: `${name} ${n}`, expires: at + 100 }, at),
        ),
      );
    for (let at = 0; at < 4; at++) {
      const outcomes = await round(`round ${at}`, NOW + at * 1000, 1500);
      expect(outcomes.filter((outcome) => outcome !== "first")).toEqual([]);
    }
    // Ids of earlier rounds have expired; those of the last round are all stored.
    const kept = await rows();
    expect(kept.filter((expires) => expires === NOW + 3100)).toHaveLength(1500);
    expect(kept.length).toBeLessThan(1500 + 2000);
    const again = await round("round 3", NOW + 3099, 1500);
    expect(again.filter((outcome) => outcome !== "used")).toEqual([]);
  });

  test("useOnce refuses a party with too many remembered ids until one of the ids expires", async () => {
    const store = await parties();
    const use = (scope: string, id: string, expires: number, now = NOW) =>
      store.useOnce({ scope, id, expires, most: 3 }, now);
    const [a, b] = [NOW + 10, NOW + 20];
    const together = await Promise.all(["1", "2", "3", "4", "5"].map((id) => use("one", id, a)));
    expect(together).toEqual(["first", "first", "first", "scope_full", "scope_full"]);
    expect(await use("one", "6", b)).toBe("scope_full");
    expect(await use("other", "6", b)).toBe("first");
    expect(await use("one", "6", b, a)).toBe("first");
    // A refused id was not stored as used.
    expect(await use("one", "4", b, a)).toBe("first");
    expect(await use("one", "6", b, a)).toBe("used");
  });

  test("useOnce refuses new ids while the maximum number of ids is stored, and forgets no id before its expiry", async () => {
    const store = openParties(await databaseAt(await place()), { mostUsed: 5 });
    const use = (id: string, now = NOW) => store.useOnce({ scope: id, id, expires: NOW + 10 }, now);
    for (const id of ["1", "2", "3", "4", "5"]) expect(await use(id)).toBe("first");
    expect(await use("6")).toBe("full");
    expect(await use("1")).not.toBe("first");
    await sleep(1100);
    expect(await use("6")).toBe("full");
    await sleep(1100);
    expect(await use("6", NOW + 10)).toBe("first");
  });

  test("useOnce counts the ids of strangers separately, and accepts each id once in total", async () => {
    const store = openParties(await databaseAt(await place()), { mostUsed: 3 });
    const use = (id: string, stranger: boolean) =>
      store.useOnce({ scope: "party", id, expires: NOW + 10, stranger }, NOW);
    for (const id of ["1", "2", "3"]) expect(await use(id, true)).toBe("first");
    expect(await use("4", true)).toBe("full");
    // Ids that a party used while it was a stranger stay used.
    expect(await use("1", false)).toBe("used");
    for (const id of ["4", "5", "6"]) expect(await use(id, false)).toBe("first");
    expect(await use("7", false)).toBe("full");
  });

  test("prune removes expired records, and nothing else", async () => {
    const store = openParties(await databaseAt(await place()), { retention: 2 });
    await put(store, "hosts", host("h"));
    await put(store, "agents", agent("a", { status: "revoked" }));
    await put(store, "grants", grant("g", { status: "denied" }));
    await put(store, "requests", answered("old", { expires: NOW }), answered("new"));
    await put(
      store,
      "delegations",
      delegation("old", { expires: NOW - 2 * DAY }),
      delegation("new", { expires: NOW - 2 * DAY + 1 }),
    );
    const old = { updated: NOW - 2 * DAY, expires: NOW } as const;
    await put(
      store,
      "approvals",
      ...(["denied", "used", "expired", "cancelled"] as const).map((state) =>
        approval(state, { ...old, state }),
      ),
      ...(["pending", "approved"] as const).map((state) => approval(state, { ...old, state })),
      approval("stale", { ...old, expires: NOW - 2 * DAY }),
      approval("recent", { ...old, updated: old.updated + 1, state: "denied" }),
    );
    // Removed: five approvals and their approvers, a delegation, and an answered request.
    expect(await store.prune(NOW)).toBe(12);
    expect(await store.prune(NOW)).toBe(0);
    expect(await find(store, {})).toBe("approvedpendingrecent");
    await store.read(async (view) => {
      expect(await view.delegations.find({})).toHaveLength(1);
      expect(await view.requests.get("old")).toBeUndefined();
      expect(await view.requests.get("new")).toBeDefined();
      expect(await view.agents.find({})).toHaveLength(1);
      expect(await view.grants.find({})).toHaveLength(1);
    });
  });

  test("prune removes grants, agents and hosts that ended long ago, and keeps live and recently ended ones", async () => {
    const store = openParties(await databaseAt(await place()), { retention: 2 });
    const old = { created: NOW - 9 * DAY, updated: NOW - 2 * DAY } as const;
    const recent = { ...old, updated: NOW - 2 * DAY + 1 } as const;
    const linked = { ...old, principal: "alice" } as const;
    await put(
      store,
      "hosts",
      host("revoked", { ...linked, status: "revoked" }),
      host("revoked lately", { ...linked, ...recent, status: "revoked" }),
      host("linked", linked),
      host("unlinked", { ...old, status: "pending" }),
      host("unlinked but used", { ...old, lastUsed: NOW - DAY }),
      host("unlinked with an agent", old),
      host("enrolling", {
        ...linked,
        status: "enrolling",
        enrolment: { hash: "x", expires: NOW - 2 * DAY },
      }),
    );
    const revoked = { ...old, status: "revoked" } as const;
    await put(
      store,
      "agents",
      ...Array.from({ length: 250 }, (_, at) =>
        agent(`many ${at}`, { ...revoked, host: "revoked" }),
      ),
      agent("rejected", { ...old, host: "linked", status: "rejected" }),
      agent("expired", { ...old, host: "unlinked", expires: NOW - 2 * DAY }),
      agent("expired lately", { ...old, host: "linked", expires: NOW - DAY }),
      agent("alive", { ...old, host: "unlinked with an agent", expires: NOW + DAY }),
      agent("revoked lately", { ...recent, host: "linked", status: "revoked" }),
      agent("revoked with a grant", { ...revoked, host: "linked" }),
    );
    await put(
      store,
      "approvals",
      approval("waiting", { created: NOW - 9 * DAY, expires: NOW - DAY }),
    );
    await put(
      store,
      "grants",
      grant("revoked", { ...revoked, agent: "many 1" }),
      grant("denied", { ...old, agent: "alive", status: "denied" }),
      grant("expired", { ...old, agent: "alive", expires: NOW - 2 * DAY }),
      grant("active", { ...old, agent: "alive" }),
      grant("left over", { ...old, agent: "alive", status: "pending", approval: "gone" }),
      grant("waiting", { ...old, agent: "alive", status: "pending", approval: "waiting" }),
      grant("denied lately", { ...recent, agent: "revoked with a grant", status: "denied" }),
    );
    // Removed: 252 agents, three hosts and four grants.
    expect(await store.prune(NOW)).toBe(259);
    expect(await store.prune(NOW)).toBe(0);
    const ids = <Kept extends { readonly id: string }>(records: Records<Kept, object>) =>
      records.find({}).then((found) => found.map(({ id }) => id).sort());
    await store.read(async (view) => {
      expect(await ids(view.hosts)).toEqual([
        "linked",
        "revoked lately",
        "unlinked but used",
        "unlinked with an agent",
      ]);
      expect(await ids(view.agents)).toEqual([
        "alive",
        "expired lately",
        "revoked lately",
        "revoked with a grant",
      ]);
      expect(await ids(view.grants)).toEqual(["active", "denied lately", "waiting"]);
    });
  });

  test("reading a row that the party store cannot have written fails with store_corrupt", async () => {
    const stores = await databaseAt(await place());
    const store = openParties(stores);
    await put(store, "grants", grant("g"));
    const bodies = [
      "not JSON",
      "{}",
      JSON.stringify(grant("other")),
      JSON.stringify({ ...grant("g"), status: "allowed" }),
      JSON.stringify({ ...grant("g"), hops: [{ by: "agent", hop: { amount: 1 } }] }),
      JSON.stringify({ ...grant("g"), created: "now" }),
    ];
    for (const body of bodies) {
      await tablesOf(stores).write((db) => db.updateTable("party_grant").set({ body }).execute());
      await expect(store.read((view) => view.grants.get("g"))).rejects.toMatchObject({
        code: "store_corrupt",
      });
    }
  });

  test("openParties throws for wrong options", async () => {
    const stores = await databaseAt(await place());
    const wrong: [object, string][] = [
      [{ retain: 1 }, "options.retain: unknown property"],
      [{ runs: 0 }, "options.runs: must be a whole number, 1 to 1,000"],
      [{ retention: 0 }, "options.retention: must be 1 to 36,500 whole days"],
    ];
    for (const [options, message] of wrong) {
      expect(() => openParties(stores, options)).toThrow(message);
    }
  });
});

async function find(
  store: PartyStore,
  query: Parameters<Parameters<Parameters<PartyStore["read"]>[0]>[0]["approvals"]["find"]>[0],
): Promise<string> {
  const found = await store.read((view) => view.approvals.find(query));
  return found.map(({ id }) => id).join("");
}
