import { expect, test } from "vitest";
import { createRevocationList, type RevocationEntry } from "../../../src/issuer/index.js";
import { ReadPages, writtenList } from "../../../src/protocols/revocations/pages.js";
import { FULL } from "../../support/size.js";
import { AT } from "./support.js";

/** Returns the result of `work`, and the number of times that other work ran meanwhile. */
async function withTurns<T>(work: Promise<T>): Promise<readonly [T, number]> {
  let turns = 0;
  let isOver = false;
  const turn = (): void => {
    turns++;
    if (!isOver) setImmediate(turn);
  };
  setImmediate(turn);
  const result = await work.finally(() => {
    isOver = true;
  });
  return [result, turns];
}

if (FULL) {
  test("adding or removing entries leaves most pages of a revocation list unchanged", async () => {
    const entry = (at: number): RevocationEntry => ({
      kind: "capability",
      id: `cap_${Math.imul(at, 0x9e3779b1) >>> 0}`,
      at: AT,
      reason: "r".repeat(100),
    });
    const whole = Array.from({ length: 200_000 }, (_, at) => entry(at));
    const pagesOf = async (entries: readonly RevocationEntry[]): Promise<string[]> => {
      const { index } = await writtenList({ version: 1, entries }, undefined);
      return JSON.parse(index);
    };
    const before = await pagesOf(whole);
    expect(before.length).toBeGreaterThan(8);
    const added = await pagesOf([...whole, entry(200_000)]);
    expect(added.slice(0, before.length - 1)).toEqual(before.slice(0, -1));
    for (const removed of [1, 1000, 10_000]) {
      const kept = new Set(await pagesOf(whole.slice(removed)));
      expect(before.filter((name) => !kept.has(name)).length, `${removed}`).toBeLessThan(4);
    }
  });
}

test("the event loop runs other work while a long revocation list is written and read", async () => {
  const list = createRevocationList();
  const entries = Array.from(
    { length: 20_000 },
    (_, at): RevocationEntry => ({ kind: "capability", id: `cap_${at}`, at: AT }),
  );
  for (const entry of entries) list.add(entry);

  const [{ index, pages }, writing] = await withTurns(writtenList(list.snapshot(), undefined));
  expect(writing).toBeGreaterThan(0);
  const read = async (name: string): Promise<string> => pages.get(name) ?? "";
  const [table, taking] = await withTurns(new ReadPages().table(JSON.parse(index), read));
  expect(taking).toBeGreaterThan(0);
  expect(table.entries()).toEqual(entries);
});
