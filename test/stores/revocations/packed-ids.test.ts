import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { encodeBase64url } from "../../../src/bytes/base64.js";
import { PackedIds } from "../../../src/stores/revocations/packed-ids.js";
import { sized } from "../../support/size.js";

function link(first: number, last: number): string {
  const bytes = new Uint8Array(16);
  new DataView(bytes.buffer).setUint32(0, first);
  new DataView(bytes.buffer).setUint32(12, last);
  return `rv_${encodeBase64url(bytes)}`;
}

function prune(ids: PackedIds, now: number): number {
  const before = ids.size;
  for (const _ of ids.pruning(now));
  return before - ids.size;
}

test("PackedIds finds the same as a plain Map after random adding and pruning", () => {
  // Ids that differ only in their first or last bits. More ids are possible than fit in a page.
  const id = fc.tuple(fc.nat(60), fc.nat(60)).map(([a, b]) => link(a, b));
  const until = fc.option(fc.integer({ min: 1, max: 60 }), { nil: Number.POSITIVE_INFINITY });
  const some = fc.array(fc.tuple(id, until), { minLength: 1, maxLength: 600, size: "max" });
  const step = fc.oneof(
    { weight: 3, arbitrary: fc.record({ add: some }) },
    { weight: 1, arbitrary: fc.record({ prune: fc.nat(60) }) },
  );
  fc.assert(
    fc.property(fc.array(step, { maxLength: 8, size: "max" }), (steps) => {
      const ids = new PackedIds("rv_");
      const model = new Map<string, number>();
      for (const one of steps) {
        if ("add" in one) {
          for (const [name, time] of one.add) {
            expect(ids.add(name, time)).toBe(true);
            model.set(name, Math.max(model.get(name) ?? 0, time));
          }
        } else {
          const over = [...model].filter(([, time]) => time <= one.prune);
          for (const [name] of over) model.delete(name);
          expect(prune(ids, one.prune)).toBe(over.length);
        }
        expect(ids.size).toBe(model.size);
        for (let a = 0; a <= 60; a += 3) {
          for (let b = 0; b <= 60; b += 7) expect(ids.get(link(a, b))).toBe(model.get(link(a, b)));
        }
      }
      for (const [name, time] of model) expect(ids.get(name)).toBe(time);
    }),
    { numRuns: sized(60, 8) },
  );
});

test("PackedIds refuses an id of another form, and never finds it", () => {
  const ids = new PackedIds("rv_");
  const fits = link(1, 1);
  expect(ids.add(fits, 5)).toBe(true);
  // The last character has four unused bits. If these bits differ, the text is another id.
  const twin = `${fits.slice(0, -1)}${fits.endsWith("Q") ? "R" : "B"}`;
  for (const wrong of [
    twin,
    fits.slice(0, -1),
    `${fits}A`,
    fits.replace("rv_", "rw_"),
    `${fits.slice(0, -1)}é`,
  ]) {
    expect([ids.add(wrong, 5), ids.get(wrong)]).toEqual([false, undefined]);
  }
  expect(ids.size).toBe(1);
});

test("PackedIds stores a time before 1970 as 1, and a time after 2106 as never", () => {
  for (const [until, kept] of [
    [-62_167_219_200, 1],
    [0, 1],
    [0xffff_fffe, 0xffff_fffe],
    [0xffff_ffff, Number.POSITIVE_INFINITY],
    [253_402_300_799, Number.POSITIVE_INFINITY],
  ] as const) {
    const ids = new PackedIds("rv_");
    expect(ids.add(link(1, 1), until)).toBe(true);
    expect(ids.get(link(1, 1))).toBe(kept);
  }
});

describe("400,000 packed ids", () => {
  const count = 400_000;
  const ids = new PackedIds("rv_");
  for (let at = 0; at < count; at++) ids.add(link(at, 0), at % 2 === 0 ? 10 : 20);

  test("are all found, and no other id is found", () => {
    for (let at = 0; at < count; at += 97) {
      expect(ids.get(link(at, 0))).toBe(at % 2 === 0 ? 10 : 20);
      expect(ids.get(link(at, 1))).toBe(undefined);
    }
  });

  test("take less than 60 % of the memory after half of them are removed", () => {
    const before = ids.bytes;
    expect(prune(ids, 10)).toBe(count / 2);
    expect(ids.bytes).toBeLessThan(0.6 * before);
    expect([ids.get(link(0, 0)), ids.get(link(1, 0))]).toEqual([undefined, 20]);
    expect(prune(ids, Number.MAX_SAFE_INTEGER)).toBe(count / 2);
    expect(ids.size).toBe(0);
  });
});
