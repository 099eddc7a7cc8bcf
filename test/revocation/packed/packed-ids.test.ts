import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { encodeBase64url } from "../../../src/bytes/base64.js";
import { PackedIds } from "../../../src/revocation/packed/packed-ids.js";
import { hashWords, scramble, unscramble } from "../../../src/revocation/packed/scramble.js";

const KEY = Uint32Array.of(1, 2, 3, 4);

function link(first: number, last: number): string {
  const bytes = new Uint8Array(16);
  new DataView(bytes.buffer).setUint32(0, first);
  new DataView(bytes.buffer).setUint32(12, last);
  return `rv_${encodeBase64url(bytes)}`;
}

/** The id whose words, scrambled by KEY, start with this place. */
function placed(first: number, last: number): string {
  const words = Uint32Array.of(first, 7, 8, last);
  unscramble(words, KEY);
  const bytes = new Uint8Array(16);
  for (const [at, word] of words.entries()) new DataView(bytes.buffer).setUint32(at * 4, word);
  return `rv_${encodeBase64url(bytes)}`;
}

function prune(ids: PackedIds, now: number): number {
  return [...ids.pruning(now)].reduce((sum, removed) => sum + removed, 0);
}

test("HalfSipHash-1-3 and its scramble can be undone, word for word", () => {
  fc.assert(
    fc.property(fc.uint32Array({ minLength: 4, maxLength: 4 }), (words) => {
      const scrambled = words.slice();
      scramble(scrambled, KEY);
      expect(scrambled[0]).not.toBe(words[0]);
      unscramble(scrambled, KEY);
      expect(scrambled).toEqual(words);
    }),
  );
  expect(hashWords(1, 2, 3, 4, 5)).not.toBe(hashWords(1, 2, 3, 5, 4));
});

describe("against a plain Map", () => {
  const id = fc.oneof(
    fc.tuple(fc.nat(50), fc.nat(3)).map(([a, b]) => link(a, b)),
    // All at the end of one segment, where a run has the least room.
    fc.tuple(fc.nat(2), fc.nat(30)).map(([a, b]) => placed(0x007f_fff0 + a, b)),
  );
  const until = fc.option(fc.integer({ min: 1, max: 60 }), { nil: Number.POSITIVE_INFINITY });
  const step = fc.oneof(
    { weight: 20, arbitrary: fc.record({ add: id, until }) },
    { weight: 1, arbitrary: fc.record({ prune: fc.nat(60) }) },
    { weight: 1, arbitrary: fc.record({ reload: fc.constant(true) }) },
  );
  test("random adding, pruning and reloading find the same", () => {
    fc.assert(
      fc.property(fc.array(step, { maxLength: 200, size: "max" }), (steps) => {
        let ids = new PackedIds("rv_", KEY);
        const model = new Map<string, number>();
        for (const one of steps) {
          if ("add" in one) {
            expect(ids.add(one.add, one.until)).toBe(true);
            model.set(one.add, Math.max(model.get(one.add) ?? 0, one.until));
          } else if ("prune" in one) {
            const over = [...model].filter(([, time]) => time <= one.prune);
            for (const [name] of over) model.delete(name);
            expect(prune(ids, one.prune)).toBe(over.length);
          } else {
            const copy = new PackedIds("rv_", KEY);
            for (const [at, part] of [...ids.parts()].entries()) {
              expect(copy.fill(at, part)).toBe(true);
            }
            ids = copy;
          }
          expect(ids.size).toBe(model.size);
        }
        for (const [name, time] of model) expect(ids.get(name)).toBe(time);
        expect([...ids.ids()].sort()).toEqual([...model.keys()].sort());
        for (let at = 0; at < 60; at++) {
          expect(ids.get(link(at, 9))).toBe(undefined);
          expect(ids.get(placed(0x007f_fff0 + at, 99))).toBe(undefined);
        }
      }),
    );
  });
});

test("ids that do not fit are refused, and never found", () => {
  const ids = new PackedIds("rv_", KEY);
  const fits = link(1, 1);
  expect(ids.add(fits, 5)).toBe(true);
  // The last character has four bits that belong to no byte: as a text it is another id.
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

test("a time before 1970 is over at once, and one after 2106 never comes", () => {
  for (const [until, kept] of [
    [-62_167_219_200, 1],
    [0, 1],
    [0xffff_fffe, 0xffff_fffe],
    [0xffff_ffff, Number.POSITIVE_INFINITY],
    [253_402_300_799, Number.POSITIVE_INFINITY],
  ] as const) {
    const ids = new PackedIds("rv_", KEY);
    expect(ids.add(link(1, 1), until)).toBe(true);
    expect(ids.get(link(1, 1))).toBe(kept);
  }
});

describe("400,000 ids", () => {
  const count = 400_000;
  const ids = new PackedIds("rv_", KEY);
  // Consecutive, as a chosen attack on an unkeyed table would have them.
  for (let at = 0; at < count; at++) ids.add(link(at, 0), at % 2 === 0 ? 10 : 20);

  test("look-ups read few slots, found or not", () => {
    let [sum, most] = [0, 0];
    for (let at = 0; at < count; at += 10) {
      for (const probes of [ids.probes(link(at, 0)), ids.probes(link(at, 1))]) {
        sum += probes;
        most = Math.max(most, probes);
      }
    }
    expect(sum / (count / 5)).toBeLessThan(12);
    expect(most).toBeLessThan(200);
  });

  test("are found together as alone, more at once than are read ahead", () => {
    const some = Array.from({ length: 100 }, (_, at) => link(at, at % 3 === 0 ? 0 : 1));
    const odd = ["rv_", "", "cap_AAAAAAAAAAAAAAAA"];
    const here = some.filter((id) => ids.get(id) !== undefined);
    expect(here.length).toBe(34);
    expect(ids.which([...odd, ...some, ...odd])).toEqual(here);
    expect(ids.which(odd)).toEqual([]);
  });

  test("removing half gives back memory, and keeps the other half", () => {
    const before = ids.bytes;
    expect(prune(ids, 10)).toBe(count / 2);
    expect(ids.bytes).toBeLessThanOrEqual(before);
    expect([ids.get(link(0, 0)), ids.get(link(1, 0))]).toEqual([undefined, 20]);
    expect(prune(ids, Number.MAX_SAFE_INTEGER)).toBe(count / 2);
    expect(ids.size).toBe(0);
  });
});
