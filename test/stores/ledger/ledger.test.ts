import { describe, expect, test } from "vitest";
import type { IssuedCapability, LedgerEvent, LedgerQuery } from "../../../src/agent/ledger.js";
import { tablesOf } from "../../../src/stores/database.js";
import { onBothDatabases } from "../../support/databases.js";
import { AT, databaseAt, invocation, newLedger } from "./support.js";

const RV = ["rv_AAAAAAAAAAAAAAAAAAAAAA", "rv_BBBBBBBBBBBBBBBBBBBBBB"] as const;

const FULL: LedgerEvent = {
  kind: "invocation",
  at: "2026-01-01T12:00:00.123Z",
  decision: "refused",
  principal: "alice",
  operator: true,
  invoker: "assistant",
  purpose: "summarise the quarter",
  capability: "cap_1",
  grant: "documents:read",
  authority: "capability",
  skill: "retrieve_document",
  operation: "retrieve",
  handles: ["rh_1", "rh_2"],
  codes: ["expired", "operation_denied"],
  denials: [{ code: "expired", hop: 1, rule: "expires" }, { code: "operation_denied" }],
  path: [
    { revocationId: RV[0], hop: { operations: ["get", "put"], constraints: { n: { max: 3 } } } },
    { revocationId: RV[1] },
  ],
  values: { title: "Q1", tags: ["a", 1, null], nested: { deep: true } },
};

const ISSUED: IssuedCapability = {
  id: "cap_1",
  identifier: '{"grant":"documents:read","id":"cap_1"}',
  hop: '{"expires":"2026-01-01T01:00:00Z"}',
  principal: "alice",
  invoker: "assistant",
  expires: "2026-01-01T01:00:00Z",
};

onBothDatabases((place) => {
  describe("ledger events", () => {
    test("are read back unchanged, whether noted or committed, also after the ledger is opened again", async () => {
      const where = await place();
      const ledger = await newLedger({}, where);
      const bare = invocation();
      ledger.note(bare);
      await ledger.commit(FULL);
      expect(await ledger.list()).toEqual([bare, FULL]);
      await ledger.close();
      expect(await (await newLedger({}, where)).list()).toEqual([bare, FULL]);
    });

    test("keep every string, whatever characters it has", async () => {
      const ledger = await newLedger({}, await place());
      for (const text of ["a\0b", "\ud800", "\u2028'\"\\", "😀", " ", "ﬁ"]) {
        ledger.note(
          invocation({
            principal: text,
            purpose: text,
            capability: text,
            values: { [text]: text },
          }),
        );
        const [event, ...more] = await ledger.list({ principal: text, capability: text });
        expect(more).toEqual([]);
        expect(event?.principal).toBe(text);
        expect(event?.purpose).toBe(text);
        expect(event?.capability).toBe(text);
        expect(event?.values).toEqual({ [text]: text });
      }
      // Strings that SQLite would treat as equal.
      expect(await ledger.list({ principal: "a" })).toEqual([]);
      expect(await ledger.list({ principal: "\udfff" })).toEqual([]);
    });

    test("are stored with their known properties only", async () => {
      const ledger = await newLedger({}, await place());
      const event = {
        ...FULL,
        token: "SECRET",
        path: [{ revocationId: RV[0], signature: "SECRET" }],
      };
      ledger.note(event);
      expect(JSON.stringify(await ledger.list())).not.toContain("SECRET");
    });

    test("have the contents of a hop even if only another event recorded them", async () => {
      const ledger = await newLedger({}, await place());
      const hop = { operations: ["get"] };
      ledger.note(invocation({ path: [{ revocationId: RV[0] }] }));
      ledger.note(invocation({ path: [{ revocationId: RV[0], hop }, { revocationId: RV[1] }] }));
      const path = [{ revocationId: RV[0], hop }];
      expect((await ledger.list()).map((event) => event.path)).toEqual([
        path,
        [...path, { revocationId: RV[1] }],
      ]);
    });

    test("have long arrays and strings shortened to fixed limits", async () => {
      const ledger = await newLedger({}, await place());
      const long = "x".repeat(1_000_000);
      const cyclic: { self?: unknown } = {};
      cyclic.self = cyclic;
      const event = invocation({
        principal: long,
        invoker: long,
        purpose: long,
        capability: long,
        grant: long,
        skill: long,
        operation: long,
        handles: Array.from({ length: 10_000 }, () => long),
        codes: Array.from({ length: 10_000 }, (_, i) => `code_${i}`),
        path: Array.from({ length: 10_000 }, () => ({ revocationId: long })),
        values: Object.fromEntries([
          ["long", long],
          ["list", Array.from({ length: 10_000 }, () => "y")],
          ["cyclic", cyclic],
          ["bigint", 1n],
          ...Array.from({ length: 10_000 }, (_, i) => [`name${i}`, long]),
        ]),
      });
      ledger.note(event);
      const [kept] = await ledger.list({ principal: long, capability: long });
      expect(kept?.purpose).toBe(`${"x".repeat(1023)}…`);
      expect(kept?.handles?.at(-1)).toBe("… and 9984 more");
      expect(kept?.codes?.length).toBe(257);
      expect(kept?.codes?.at(-1)).toBe("… and 9744 more");
      expect(kept?.values).toMatchObject({
        long: `${"x".repeat(1023)}…`,
        cyclic: "a object that has no JSON form",
        bigint: "a bigint that has no JSON form",
      });
      expect(String(kept?.values?.["list"])).toHaveLength(1024);
      expect(JSON.stringify(kept).length).toBeLessThan(110_000);
    });

    test("that are invalid are refused when committed", async () => {
      const ledger = await newLedger({}, await place());
      const wrong: [object, string][] = [
        [{ at: "2026-01-01T00:00:00Z" }, "at must be a time"],
        [{ at: "yesterday" }, "at must be a time"],
        [
          { kind: "dream" },
          "kind must be one of issuance, invocation, revocation, approval, registration",
        ],
        [{ decision: "maybe" }, 'decision must be "allowed" or "refused"'],
      ];
      for (const [more, message] of wrong) {
        await expect(ledger.commit({ ...invocation(), ...more })).rejects.toThrow(message);
      }
      expect(await ledger.list()).toEqual([]);
    });
  });

  describe("a query of the ledger", () => {
    const events = [
      invocation({ at: "2026-01-01T00:00:00.000Z", principal: "alice", capability: "cap_1" }),
      invocation({
        at: "2026-01-01T00:00:00.999Z",
        principal: "bob",
        decision: "refused",
        invoker: 'an "Agent" \\ %_',
      }),
      invocation({ at: "2026-01-01T00:00:01.000Z", principal: "alice", kind: "issuance" }),
      invocation({
        at: "2026-01-01T00:00:02.000Z",
        principal: "alice",
        capability: "cap_2",
        decision: "refused",
      }),
      invocation({ at: "2026-01-01T00:00:03.000Z", kind: "revocation", capability: "cap_1" }),
    ];
    const cases: [string, LedgerQuery, number[]][] = [
      ["nothing", {}, [0, 1, 2, 3, 4]],
      ["a principal", { principal: "alice" }, [0, 2, 3]],
      ["a capability", { capability: "cap_1" }, [0, 4]],
      ["a moment, itself included", { since: "2026-01-01T00:00:01Z" }, [2, 3, 4]],
      ["a decision", { decision: "refused" }, [1, 3]],
      ["the other decision", { decision: "allowed" }, [0, 2, 4]],
      ["a kind", { kind: "invocation" }, [0, 1, 3]],
      ["the latest", { limit: 2 }, [3, 4]],
      ["the latest of a principal", { principal: "alice", limit: 2 }, [2, 3]],
      ["an agent", { invoker: 'an "Agent" \\ %_' }, [1]],
      ["an agent in another case", { invoker: 'an "agent" \\ %_' }, []],
      ["the beginning of an agent", { invoker: 'an "Agent"' }, []],
      [
        "all filters at once",
        {
          principal: "alice",
          capability: "cap_2",
          since: "2026-01-01T00:00:02Z",
          decision: "refused",
          kind: "invocation",
          limit: 9,
        },
        [3],
      ],
      ["an unknown principal", { principal: "ALICE" }, []],
    ];
    test("finds the events that match its filters", async () => {
      const ledger = await newLedger({}, await place());
      // Note the events in another order than that of their times.
      for (const at of [3, 0, 4, 1, 2]) ledger.note(events[at] ?? invocation());
      for (const [filters, query, expected] of cases) {
        const found = await ledger.list(query);
        expect(found, filters).toEqual(expected.map((at) => events[at]));
      }
    });

    test("finds the same as filtering all events in memory", async () => {
      const ledger = await newLedger({ interval: 60_000 }, await place());
      const all: LedgerEvent[] = [];
      const of = <T>(values: readonly T[], at: number): T | undefined => values[at % values.length];
      for (let i = 0; i < 700; i++) {
        const principal = of(["alice", "bob", undefined], i * 7);
        const capability = of(["cap_1", "cap_2", "cap_3", "cap_4", undefined], Math.floor(i / 60));
        const event = invocation({
          at: new Date(Date.parse(AT) + i * 250).toISOString(),
          decision: i % 11 === 0 ? "refused" : "allowed",
          principal,
          capability,
        });
        all.push(event);
        // Write some events alone, and some in batches of different sizes.
        if (i % 13 === 0) await ledger.commit(event);
        else ledger.note(event);
        if (i % 37 === 0) await ledger.flush();
      }
      const since = "2026-01-01T00:01:00Z";
      for (const principal of ["alice", "bob", "carol", undefined]) {
        for (const capability of ["cap_2", "cap_9", undefined]) {
          for (const decision of ["refused", "allowed", undefined] as const) {
            for (const [from, limit] of [
              [undefined],
              [since],
              [undefined, 3],
              [since, 5],
            ] as const) {
              const query: { -readonly [K in keyof LedgerQuery]: LedgerQuery[K] } = {};
              if (principal !== undefined) query.principal = principal;
              if (capability !== undefined) query.capability = capability;
              if (decision !== undefined) query.decision = decision;
              if (from !== undefined) query.since = from;
              if (limit !== undefined) query.limit = limit;
              const expected = all.filter(
                (event) =>
                  (principal === undefined || event.principal === principal) &&
                  (capability === undefined || event.capability === capability) &&
                  (decision === undefined || event.decision === decision) &&
                  (from === undefined || event.at >= from.replace("Z", ".000Z")),
              );
              const last = limit === undefined ? expected : expected.slice(-limit);
              expect(await ledger.list(query)).toEqual(last);
            }
          }
        }
      }
    });

    test("throws a TypeError for an unknown or invalid property", async () => {
      const ledger = await newLedger({}, await place());
      const wrong: [object, string][] = [
        [{ user: "alice" }, "query.user: unknown property; there are principal"],
        [{ since: "2026-01-01" }, "since must be a time"],
        [{ decision: "denied" }, "decision must be"],
        [{ kind: "call" }, "kind must be one of"],
        [{ limit: 0 }, "limit must be"],
        [{ limit: 1.5 }, "limit must be"],
      ];
      for (const [query, message] of wrong) {
        await expect(ledger.list(query)).rejects.toThrow(TypeError);
        await expect(ledger.list(query)).rejects.toThrow(message);
      }
    });
  });

  describe("issued capabilities", () => {
    test("are found until they expire, also after the ledger is opened again", async () => {
      const where = await place();
      let now = Date.parse("2026-01-01T00:59:59.999Z");
      const clock = (): number => now;
      const ledger = await newLedger({ clock }, where);
      await ledger.commit(invocation({ kind: "issuance" }), [ISSUED]);
      expect(await ledger.issued("cap_1")).toEqual(ISSUED);
      expect(await ledger.issued("cap_2")).toBeUndefined();
      await ledger.close();
      const again = await newLedger({ clock }, where);
      expect(await again.issued("cap_1")).toEqual(ISSUED);
      now += 1;
      expect(await again.issued("cap_1")).toBeUndefined();
      expect(await again.prune()).toBe(1);
      now -= 1;
      expect(await again.issued("cap_1")).toBeUndefined();
    });

    test("are pruned once they have expired, and all others are kept", async () => {
      let now = Date.parse(AT);
      const ledger = await newLedger({ clock: () => now }, await place());
      const next = { ...ISSUED, id: "cap_2", expires: "2026-01-01T02:00:00Z" };
      await ledger.commit(invocation({ kind: "issuance" }), [ISSUED, next]);
      now = Date.parse("2026-01-01T01:00:00Z");
      expect(await ledger.prune()).toBe(1);
      expect(await ledger.prune()).toBe(0);
      expect(await ledger.issued("cap_2")).toEqual(next);
    });

    test("are written together with their event, or neither is written", async () => {
      const ledger = await newLedger({ clock: () => Date.parse(AT) }, await place());
      await ledger.commit(invocation({ kind: "issuance" }), [ISSUED]);
      const other = { ...ISSUED, id: "cap_2" };
      const twice = (issued: IssuedCapability[]): Promise<void> =>
        ledger.commit(invocation({ kind: "issuance", principal: "bob" }), issued);
      const wrong: [IssuedCapability[], string][] = [
        [[other, { ...ISSUED, principal: "bob" }], "cap_1 was issued before"],
        [[other, other], "cap_2 was issued before"],
        [[{ ...other, expires: "soon" }], "expire at a time"],
        [[{ ...other, id: "" }], "must have an id"],
      ];
      for (const [issued, message] of wrong) {
        await expect(twice(issued)).rejects.toThrow(TypeError);
        await expect(twice(issued)).rejects.toThrow(message);
      }
      expect(await ledger.list()).toHaveLength(1);
      expect(await ledger.issued("cap_2")).toBeUndefined();
      expect((await ledger.issued("cap_1"))?.principal).toBe("alice");
    });
  });

  describe("pruning events older than the retention", () => {
    const DAY = 24 * 60 * 60 * 1000;

    test("removes the events with their hops and gaps, in as many steps as needed", async () => {
      let now = Date.parse(AT);
      const where = await place();
      const options = { clock: () => now, retention: 30, interval: 60_000, capacity: 700 };
      const ledger = await newLedger(options, where);
      const hop = { operations: ["get"] };
      const told = (id: string): LedgerEvent =>
        invocation({
          at: new Date(now).toISOString(),
          path: [{ revocationId: id.padEnd(25, "A"), hop }],
        });
      // One event exceeds the capacity: it is lost, and recorded as a gap.
      for (let i = 0; i < 701; i++) ledger.note(told("rv_1"));
      await ledger.flush();
      now += 40 * DAY;
      await ledger.commit(told("rv_2"));
      expect(await ledger.gaps()).toHaveLength(1);
      expect(await ledger.prune()).toBe(702);
      const left = await ledger.list();
      expect(left.map(({ path }) => path)).toEqual([told("rv_2").path]);
      expect(await ledger.gaps()).toEqual([]);
      const database = await databaseAt(where);
      const hops = await tablesOf(database).read((db) =>
        db.selectFrom("hop").selectAll().execute(),
      );
      expect(hops.map(({ revocation }) => revocation)).toEqual(["rv_2".padEnd(25, "A")]);
    });

    test("keeps the issuance, query and hops of a capability that has not expired", async () => {
      let now = Date.parse(AT);
      const ledger = await newLedger({ clock: () => now, retention: 1 }, await place());
      const long = { ...ISSUED, expires: "2026-03-01T00:00:00Z", query: '{"collection":"c"}' };
      const issuance = invocation({ kind: "issuance", capability: "cap_1" });
      const path = [{ revocationId: RV[0], hop: { operations: ["get"] } }];
      await ledger.commit(issuance, [long]);
      await ledger.commit(invocation({ kind: "issuance", capability: "cap_2" }));
      await ledger.commit(invocation({ capability: "cap_1", path }));
      now += 31 * DAY;
      const latest = invocation({ at: new Date(now).toISOString(), path });
      await ledger.commit(latest);
      expect(await ledger.prune()).toBe(2);
      expect(await ledger.list()).toEqual([issuance, latest]);
      expect(await ledger.issued("cap_1")).toEqual(long);
      now = Date.parse(long.expires);
      await ledger.prune();
      expect(await ledger.list()).toEqual([]);
    });
  });

  test("several ledgers on one database write concurrently, and each sees all events", async () => {
    const where = await place();
    const ledgers = await Promise.all(Array.from({ length: 4 }, () => newLedger({}, where)));
    await Promise.all(
      ledgers.map(async (ledger, at) => {
        const path = [{ revocationId: RV[0], hop: { operations: ["get"] } }];
        for (let i = 0; i < 100; i++) ledger.note(invocation({ principal: "noted", path }));
        await ledger.commit(invocation({ principal: `writer${at}` }));
        await ledger.flush();
      }),
    );
    for (const ledger of ledgers) {
      expect(await ledger.list({ principal: "noted" })).toHaveLength(400);
      expect(await ledger.list({ principal: "writer2" })).toHaveLength(1);
    }
  });

  test("a closed ledger refuses every call", async () => {
    const ledger = await newLedger({}, await place());
    ledger.note(invocation());
    await ledger.close();
    await ledger.close();
    expect(() => ledger.note(invocation())).toThrow("the ledger is closed");
    const uses = [
      () => ledger.commit(invocation()),
      () => ledger.list(),
      () => ledger.issued("cap_1"),
      () => ledger.gaps(),
      () => ledger.prune(),
      () => ledger.flush(),
    ];
    for (const use of uses) await expect(use()).rejects.toThrow("the ledger is closed");
  });
});
