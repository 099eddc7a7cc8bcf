import fc from "fast-check";
import { expect, test } from "vitest";
import { encodeBase64url } from "../../../src/bytes/base64.js";
import type { KeptRevocation, RevocationEntry } from "../../../src/revocation/entry.js";
import type { RevocationQuery } from "../../../src/revocation/source.js";
import { RevocationTable } from "../../../src/revocation/table.js";
import { PackedTable } from "../../../src/stores/revocations/packed-table.js";
import { sized } from "../../support/size.js";

/** Ids that can be packed, and some of other forms that a list may have. */
const link = fc.nat(5).map((at) => `rv_${encodeBase64url(new Uint8Array(16).fill(at))}`);
const oddLink = fc.constantFrom(`rv_${"a".repeat(22)}`, `rv_${"b".repeat(22)}`);
const capability = fc.oneof(
  fc.nat(5).map((at) => `cap_${encodeBase64url(new Uint8Array(12).fill(at))}`),
  fc.constantFrom("cap_1", "cap_\ud800", `cap_${"é".repeat(16)}`),
);
const name = fc.constantFrom("alice", "bob", "key_1", "rv_", `cap_${"A".repeat(16)}`);
const time = fc.option(fc.integer({ min: 1, max: 40 }), { nil: undefined });

const thing = fc.oneof(
  fc.record({ kind: fc.constant("link" as const), id: fc.oneof(link, oddLink) }),
  fc.record({ kind: fc.constant("capability" as const), id: capability }),
  fc.record({ kind: fc.constant("key" as const), id: name }),
  fc.record({ kind: fc.constant("principal" as const), id: name, before: fc.nat(40) }),
);
const entry: fc.Arbitrary<KeptRevocation> = fc
  .tuple(thing, time)
  .map(([{ kind, id, ...more }, until]) => {
    const before = "before" in more ? more.before : undefined;
    return { kind, id, record: { before, until, at: 0, reason: undefined } };
  });
const query: fc.Arbitrary<RevocationQuery> = fc.record({
  links: fc.array(fc.oneof(link, oddLink), { maxLength: 3 }),
  capability,
  keys: fc.array(name, { maxLength: 2 }),
  principal: name,
  issued: fc.nat(40).map((seconds) => seconds * 1000),
});
const step = fc.oneof(
  { weight: 6, arbitrary: fc.record({ add: entry }) },
  { weight: 6, arbitrary: fc.record({ ask: query }) },
  { weight: 1, arbitrary: fc.record({ prune: fc.integer({ min: 1, max: 40 }) }) },
);

function things(entries: readonly RevocationEntry[]): string[] {
  return entries.map(({ kind, id }) => `${kind} ${id}`);
}

test("PackedTable finds the same entries as RevocationTable after random additions and pruning", () => {
  fc.assert(
    fc.property(fc.array(step, { maxLength: 60, size: "max" }), (steps) => {
      const [packed, whole] = [new PackedTable(), new RevocationTable()];
      for (const one of steps) {
        if ("add" in one) {
          packed.add(one.add);
          whole.add(one.add);
        } else if ("ask" in one) {
          expect(things(packed.find(one.ask))).toEqual(things(whole.find(one.ask)));
        } else {
          for (const _ of packed.pruning(one.prune));
          whole.prune(one.prune);
        }
        expect(packed.size).toBe(whole.entries().length);
      }
    }),
    { numRuns: sized(500) },
  );
});

test("at every moment of pruning, PackedTable finds the entries that have not expired", () => {
  const table = new PackedTable();
  const id = (at: number): string => {
    const bytes = new Uint8Array(16);
    new DataView(bytes.buffer).setUint32(0, at);
    return `rv_${encodeBase64url(bytes)}`;
  };
  const until = (at: number): number => (at % 2 === 0 ? 10 : 20);
  const bare = { before: undefined, at: 0, reason: undefined };
  for (let at = 0; at < 3000; at++) {
    const record = { ...bare, until: until(at) };
    table.add({ kind: "link", id: id(at), record });
    table.add({ kind: "key", id: `key_${at}`, record });
  }
  const finds = (at: number): number =>
    table.find({ links: [id(at)], capability: "", keys: [`key_${at}`], issued: 0 }).length;
  let steps = 0;
  for (const _ of table.pruning(10)) expect(finds((2 * steps++ + 1) % 3000)).toBe(2);
  expect(steps).toBeGreaterThan(5);
  expect([table.size, finds(0), finds(1)]).toEqual([3000, 0, 2]);
});
