import { expect, test } from "vitest";
import { judgeHop } from "../../src/caveats/judge.js";
import { sized } from "../support/size.js";
import { allows } from "./model.js";
import { combinations, INVOCATIONS } from "./universe.js";

// `judgeHop` fills the table that the other tests use. This test compares `judgeHop` itself with the rules of the
// specification, for hops with any number of keys.

test("judgeHop allows exactly what the specification allows, for every combination of hop keys", () => {
  const all = combinations((at, of) => at === 0 || at === of - 1);
  const hops = all.filter((_, at) => at % sized(1, 13) === 0);
  const wrong: string[] = [];
  let cases = 0;
  for (const [at, hop] of hops.entries()) {
    const furtherLinks = at % 4;
    for (const asked of INVOCATIONS) {
      cases++;
      const allowed = judgeHop(hop, asked, furtherLinks).length === 0;
      if (allowed !== allows(hop, asked, furtherLinks) && wrong.length < 5) {
        wrong.push(JSON.stringify({ hop, asked, furtherLinks, allowed }));
      }
    }
  }
  const count = (of: number): string => of.toLocaleString("en");
  console.log(
    `the judge against the specification: ${count(hops.length)} hops, ${count(cases)} cases`,
  );
  expect(wrong).toEqual([]);
  expect(cases).toBe(hops.length * INVOCATIONS.length);
});
