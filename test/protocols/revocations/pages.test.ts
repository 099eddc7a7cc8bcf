import { expect, test } from "vitest";
import { createRevocationList, type RevocationEntry } from "../../../src/issuer/index.js";
import { ReadPages, writtenList } from "../../../src/protocols/revocations/pages.js";
import { AT } from "./support.js";

/** The result of `work`, and how often other work ran meanwhile. */
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

test("other work runs while a long list is written out, and while it is taken over", async () => {
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
