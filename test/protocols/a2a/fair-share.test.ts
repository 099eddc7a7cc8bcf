import { expect, test } from "vitest";
import { FairShare } from "../../../src/protocols/a2a/remembered-tasks.js";

const keys = (share: FairShare<number>, owner: string): readonly string[] => [
  ...share.of(owner).keys(),
];

test("a full FairShare evicts the oldest entry of the owner with the most entries", () => {
  const share = new FairShare<number>(5, 5);
  for (const key of ["a", "b", "c", "d"]) share.set("many", key, 1);
  for (const owner of ["one", "two", "three"]) share.set(owner, "x", 1);
  expect(keys(share, "many")).toEqual(["c", "d"]);
  expect(["one", "two", "three"].map((owner) => keys(share, owner))).toEqual([["x"], ["x"], ["x"]]);
  share.set("many", "e", 1);
  expect(keys(share, "many")).toEqual(["d", "e"]);
});

test("among owners with equally many entries, a full FairShare evicts an entry of the least recently used owner", () => {
  const share = new FairShare<number>(3, 3);
  for (const owner of ["one", "two", "three"]) share.set(owner, "x", 1);
  share.of("one");
  share.set("four", "x", 1);
  share.set("five", "x", 1);
  const left = ["one", "two", "three", "four", "five"].filter((owner) => share.of(owner).size > 0);
  expect(left).toEqual(["one", "four", "five"]);
});

test("FairShare limits the entries of each owner, and an entry that is set again becomes the newest", () => {
  const share = new FairShare<number>(100, 2);
  share.set("one", "a", 1);
  share.set("one", "b", 1);
  share.set("one", "a", 2);
  share.set("one", "c", 1);
  expect([...share.of("one")]).toEqual([
    ["a", 2],
    ["c", 1],
  ]);
  expect(keys(share, "none")).toEqual([]);
});

test("during 1,000 random operations, FairShare has the same entries as a simple model", () => {
  const [most, mostOfOne] = [12, 5];
  const share = new FairShare<number>(most, mostOfOne);
  const names = ["a", "b", "c", "d", "e", "f", "g"];
  /** The keys of each owner; owners in the order of their last use. This simple model searches all entries. */
  const plain = new Map<string, string[]>();
  let seed = 7;
  const draw = (count: number): number => {
    seed = (seed * 1103515245 + 12345) % 2147483648;
    return Math.floor((seed / 2147483648) * count);
  };
  const touch = (owner: string, own: string[]): void => {
    plain.delete(owner);
    if (own.length > 0) plain.set(owner, own);
  };
  for (let turn = 0; turn < 1000; turn++) {
    const owner = names[draw(draw(2) === 0 ? 2 : names.length)] ?? "a";
    const key = String(draw(8));
    const own = [...(plain.get(owner) ?? []).filter((one) => one !== key), key];
    share.set(owner, key, turn);
    touch(owner, own.slice(-mostOfOne));
    const all = [...plain.values()].flat().length;
    if (all > most) {
      const largest = Math.max(...[...plain.values()].map(({ length }) => length));
      const [first] = [...plain].filter(([, { length }]) => length === largest);
      if (first !== undefined) touch(first[0], first[1].slice(1));
    }
    if (turn % 10 === 0) {
      for (const name of names) {
        expect(keys(share, name)).toEqual(plain.get(name) ?? []);
        touch(name, plain.get(name) ?? []);
      }
    }
  }
});
