import { describe, expect, test } from "vitest";
import type { RevocationEntry } from "../../src/revocation/entry.js";
import { RevocationList, type RevocationSnapshot } from "../../src/revocation/list.js";
import type { RevocationQuery } from "../../src/revocation/source.js";
import { LOSSY, mistake } from "../support/lossy.js";

const AT = "2026-01-01T00:00:00Z";
const EARLY = "2026-02-01T00:00:00Z";
const LATE = "2026-03-01T00:00:00Z";
const LINK = `rv_${"a".repeat(22)}`;

function entry(change: Partial<RevocationEntry> = {}): RevocationEntry {
  return { kind: "capability", id: "cap_1", at: AT, ...change };
}

function query(change: Partial<RevocationQuery> = {}): RevocationQuery {
  return { links: [], capability: "cap_x", keys: ["key_x"], issued: Date.parse(AT), ...change };
}

function listOf(...entries: readonly RevocationEntry[]): RevocationList {
  const list = new RevocationList();
  for (const one of entries) list.add(one);
  return list;
}

describe("find() of a revocation list", () => {
  test("finds nothing in an empty list, which is always current", () => {
    const list = new RevocationList();
    expect(list.find(query())).toEqual([]);
    expect([list.version, list.size, list.trustedUntil]).toEqual([0, 0, Infinity]);
  });

  test("finds the entries of a token by its link, capability, key or principal", () => {
    const entries: RevocationEntry[] = [
      entry({ kind: "link", id: LINK }),
      entry(),
      entry({ kind: "key", id: "key_1" }),
      entry({ kind: "principal", id: "alice", before: LATE }),
    ];
    const list = listOf(...entries);
    const other = `rv_${"b".repeat(22)}`;
    const all = query({
      links: [other, LINK],
      capability: "cap_1",
      keys: ["key_1"],
      principal: "alice",
    });
    expect(list.find(all)).toEqual(entries);
    expect(list.find(query({ links: [other] }))).toEqual([]);
    // The same id with another kind does not match.
    expect(list.find(query({ keys: ["cap_1"], capability: "key_1", principal: LINK }))).toEqual([]);
  });

  test("finds the entry of a principal for a token issued before the entry's moment, not for a token issued at that moment or later", () => {
    const list = listOf(entry({ kind: "principal", id: "alice", before: EARLY }));
    const issued = Date.parse(EARLY);
    const finds = (at: number): number =>
      list.find(query({ principal: "alice", issued: at })).length;
    expect([finds(issued - 1000), finds(issued), finds(issued + 1000)]).toEqual([1, 0, 0]);
    expect(finds(Number.NEGATIVE_INFINITY)).toBe(1);
    expect(list.find(query({ issued: 0 }))).toEqual([]);
  });
});

describe("a revocation list with two entries for the same thing", () => {
  test.each<[string | undefined, string | undefined, string | undefined]>([
    [EARLY, LATE, LATE],
    [LATE, EARLY, LATE],
    [undefined, EARLY, undefined],
    [EARLY, undefined, undefined],
    [undefined, undefined, undefined],
  ])("that end at %s and at %s keeps the entry until %s", (first, second, kept) => {
    const until = (time: string | undefined): Partial<RevocationEntry> =>
      time === undefined ? {} : { until: time };
    const list = listOf(entry(until(first)), entry(until(second)));
    expect(list.snapshot().entries).toEqual([entry(until(kept))]);
    expect([list.version, list.size]).toEqual([2, 1]);
  });

  test("keeps the later value of before if both are for one principal", () => {
    const alice = entry({ kind: "principal", id: "alice", before: LATE });
    const list = listOf(alice, { ...alice, before: EARLY });
    expect(list.snapshot().entries).toEqual([alice]);
  });
});

test("changing an object after it was passed to add() does not change the entry", () => {
  const mine = { kind: "principal" as const, id: "alice", before: LATE, at: AT };
  const list = listOf(mine);
  mine.before = EARLY;
  mine.id = "bob";
  expect(list.snapshot().entries).toEqual([
    entry({ kind: "principal", id: "alice", before: LATE }),
  ]);
});

describe("a malformed entry is refused", () => {
  test.each<[string, Readonly<Record<string, unknown>>, RegExp]>([
    ["an unknown kind", { kind: "token" }, /unknown kind/],
    ["no id", { id: "" }, /id must be a non-empty string/],
    ["an id that is not a string", { id: 7 }, /id must be a non-empty string/],
    ["a link that is not a revocation id", { kind: "link" }, /not a revocation id/],
    ["a principal without before", { kind: "principal" }, /"before" belongs/],
    ["before in an entry that is not for a principal", { before: AT }, /"before" belongs/],
    ["a date without a time", { until: "2026-01-01" }, /not a time/],
    ["a day that does not exist", { at: "2026-02-30T00:00:00Z" }, /not a time/],
    ["an array of times", { until: [LATE] }, /not a time/],
    ["no time of the revocation", { at: undefined }, /must say "at"/],
    ["a reason that is not a string", { reason: 7 }, /reason must be a string/],
  ])("with %s", (_about, change, message) => {
    const list = new RevocationList();
    // Calling code without types, or a snapshot from another program, may pass such an entry.
    const wrong: RevocationEntry = Object.assign(entry(), change);
    expect(() => list.add(wrong)).toThrow(TypeError);
    expect(() => list.add(wrong)).toThrow(message);
    expect(() => list.replace({ version: 1, entries: [entry(), wrong] })).toThrow(message);
    expect([list.version, list.size]).toEqual([0, 0]);
  });
});

describe("a revocation list with snapshots", () => {
  test("is equal to the list from whose snapshot it is made, also through JSON", () => {
    const list = listOf(
      entry({ reason: "done" }),
      entry({ kind: "key", id: "key_1", until: LATE }),
    );
    const snapshot: RevocationSnapshot = JSON.parse(JSON.stringify(list.snapshot()));
    expect(snapshot.version).toBe(2);
    expect(new RevocationList(snapshot).snapshot()).toEqual(list.snapshot());
  });

  test("is trusted until trustedUntil of the latest snapshot", () => {
    const copy = new RevocationList({ version: 3, trustedUntil: LATE, entries: [] });
    expect(copy.trustedUntil).toBe(Date.parse(LATE));
    expect(copy.snapshot().trustedUntil).toBe(LATE);
    copy.replace({ version: 3, trustedUntil: "2026-03-02T00:00:00Z", entries: [] });
    expect(copy.trustedUntil).toBe(Date.parse("2026-03-02T00:00:00Z"));
  });

  test("refuses an older snapshot, and does not change", () => {
    const list = new RevocationList({ version: 5, trustedUntil: LATE, entries: [entry()] });
    const later = "2026-03-02T00:00:00Z";
    expect(list.replace({ version: 4, trustedUntil: later, entries: [] })).toBe(false);
    expect([list.version, list.size, list.trustedUntil]).toEqual([5, 1, Date.parse(LATE)]);
    expect(list.replace({ version: 6, trustedUntil: later, entries: [] })).toBe(true);
    expect([list.version, list.size]).toEqual([6, 0]);
  });

  test("that is a copy accepts newer snapshots, and refuses add() and snapshots without trustedUntil", () => {
    const original = listOf(entry({ id: "cap_1", until: EARLY }));
    const copy = new RevocationList(original.snapshot(LATE));
    expect(() => copy.add(entry())).toThrow(/revoke at the original/);
    expect(() => copy.replace(original.snapshot())).toThrow(/must say trustedUntil/);
    expect(copy.prune(Date.parse(LATE))).toBe(1);
    original.add(entry({ id: "cap_2" }));
    expect(copy.replace(original.snapshot(LATE))).toBe(true);
    expect([copy.version, copy.size]).toEqual([2, 2]);
    expect(() => original.replace(copy.snapshot())).toThrow(/follows no other/);
  });

  test("gives frozen entries in its snapshot", () => {
    const list = listOf(entry({ kind: "principal", id: "alice", before: LATE }));
    const [shown] = list.snapshot().entries;
    expect(() => Object.assign(shown ?? {}, { before: EARLY })).toThrow(TypeError);
  });

  test.each<[string, object]>([
    ["the snapshot itself", { version: 0, trusteduntil: LATE, entries: [] }],
    ["an entry", { version: 0, entries: [{ ...entry(), untill: LATE }] }],
  ])("refuses a snapshot if %s has a misspelt property", (_about, snapshot) => {
    expect(() => new RevocationList(JSON.parse(JSON.stringify(snapshot)))).toThrow(
      /unknown property/,
    );
  });

  test("keeps the time and the reason of the first of two equal revocations", () => {
    const first = entry({ at: EARLY, reason: "incident 42" });
    const list = listOf(first, entry({ at: LATE, reason: "nothing" }));
    expect(list.snapshot().entries).toEqual([first]);
  });

  test("keeps the later value of before from two entries of a snapshot for one principal", () => {
    const alice = entry({ kind: "principal", id: "alice", before: LATE });
    const list = new RevocationList({ version: 2, entries: [alice, { ...alice, before: EARLY }] });
    expect(list.snapshot().entries).toEqual([alice]);
  });

  test.each([-1, 0.5, Number.NaN, 2 ** 53])("refuses a snapshot of version %d", (version) => {
    expect(() => new RevocationList({ version, entries: [] })).toThrow(TypeError);
  });

  test.each(LOSSY)(
    "refuses a snapshot that has %s anywhere, and names the property",
    async (_, make) => {
      const value = make();
      const known = entry({});
      const places: readonly (readonly [string, () => unknown])[] = [
        ["snapshot", () => new RevocationList(value)],
        ["snapshot.entries", () => new RevocationList({ version: 1, entries: value })],
        ["snapshot.entries[0]", () => new RevocationList({ version: 1, entries: [value] })],
        [
          "snapshot.entries[1].until",
          () => new RevocationList({ version: 1, entries: [known, { ...known, until: value }] }),
        ],
        [
          "snapshot.trustedUntil",
          () => new RevocationList({ version: 1, trustedUntil: value, entries: [] }),
        ],
        ["a revocation", () => new RevocationList().add(value)],
        ["a revocation.reason", () => new RevocationList().add({ ...known, reason: value })],
      ];
      for (const [place, call] of places) {
        const message = await mistake(call);
        expect(message.startsWith(`${place} must be`), `${place}: ${message}`).toBe(true);
      }
      const set: never = new Set([known]) as never;
      expect(await mistake(() => new RevocationList({ version: 1, entries: set }))).toMatch(
        /^snapshot\.entries must be an array, not a Set/,
      );
    },
  );

  test("refuses a snapshot whose trustedUntil is not a time", () => {
    const snapshot = { version: 0, trustedUntil: "soon", entries: [] };
    expect(() => new RevocationList(snapshot)).toThrow(/trustedUntil must be a time/);
  });
});

describe("prune() of a revocation list", () => {
  test("removes the entries that have expired, and changes the version only if it removes any", () => {
    const list = listOf(
      entry({ id: "cap_1", until: EARLY }),
      entry({ id: "cap_2", until: LATE }),
      entry({ id: "cap_3" }),
    );
    expect(list.prune(Date.parse(EARLY) - 1)).toBe(0);
    expect(list.version).toBe(3);
    expect(list.prune(Date.parse(EARLY))).toBe(1);
    expect([list.version, list.size]).toEqual([4, 2]);
    expect(list.prune(Number.MAX_SAFE_INTEGER)).toBe(1);
    expect(list.snapshot().entries.map(({ id }) => id)).toEqual(["cap_3"]);
  });
});
