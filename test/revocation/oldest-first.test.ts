import { expect, test } from "vitest";
import type { KeptRevocation } from "../../src/revocation/entry.js";
import { oldestFirst } from "../../src/revocation/oldest-first.js";

test("oldestFirst sorts entries as a stable sort does, and lets timers run meanwhile", async () => {
  const entries = Array.from({ length: 50_000 }, (_, at): KeptRevocation => {
    const record = {
      before: undefined,
      until: undefined,
      at: (at * 7919) % 1013,
      reason: undefined,
    };
    return { kind: "key", id: `key_${at}`, record };
  });
  let turns = 0;
  const turn = setInterval(() => turns++, 0);
  const sorted = await oldestFirst(entries);
  clearInterval(turn);
  expect(sorted).toEqual(entries.toSorted((a, b) => a.record.at - b.record.at));
  expect(turns).toBeGreaterThan(0);
  expect(await oldestFirst([])).toEqual([]);
});
