import { describe, expect, test } from "vitest";
import { ALL, everyChain, Findings, hopAt, LONGEST, PATIENCE, report, TABLE } from "./chains.js";
import { HOPS, INVOCATIONS } from "./universe.js";
import { both, everything, meaningOf, nothing, same, within } from "./verdicts.js";

/**
 * Returns the same hops with the independent hops sorted. A hop is independent if it does not limit the number of
 * hops after it.
 */
function reordered(hops: readonly number[]): number[] {
  const counts = (at: number): boolean => hopAt(at).maxFurtherHops !== undefined;
  const independent = hops.filter((at) => !counts(at)).sort((a, b) => b - a);
  return hops.map((at) => (counts(at) ? at : (independent.pop() ?? at)));
}

function numberOf(hops: readonly number[]): number {
  return hops.reduce((number, at) => number * HOPS.length + at, 0);
}

describe(`for all chains of up to three hops, made from ${HOPS.length} different hops, and ${INVOCATIONS.length} invocations`, () => {
  test(
    "one more hop never allows a call that the chain refused",
    () => {
      const findings = new Findings();
      let chains = 0;
      for (let length = 0; length < LONGEST; length++) {
        everyChain(length, (chain) => {
          const hops = chain.hops.map((at, place) => TABLE[at]?.[length - place] ?? nothing());
          const longer = hops.reduce((a, b) => both(a, b, nothing()), everything());
          for (let at = 0; at < HOPS.length; at++) {
            chains++;
            const after = both(longer, TABLE[at]?.[0] ?? nothing(), nothing());
            if (!within(after, chain.allowed)) findings.add([...chain.hops, at], "widened");
          }
        });
      }
      report("appending never widens", chains);
      expect(findings.first).toEqual([]);
      expect(chains).toBe(ALL);
    },
    PATIENCE,
  );

  test(
    "the meet allows exactly what all hops allow, in any order of independent hops",
    () => {
      const findings = new Findings();
      let chains = 0;
      for (let length = 1; length <= LONGEST; length++) {
        const seen = new Map<number, string>();
        everyChain(length, ({ hops, allowed, authority }) => {
          chains++;
          const meaning = meaningOf(authority);
          if (!same(meaning.allowed, allowed)) findings.add(hops, "the meet is not what is judged");
          const number = numberOf(reordered(hops));
          const earlier = seen.get(number);
          if (earlier === undefined) seen.set(number, meaning.form);
          else if (earlier !== meaning.form) findings.add(hops, "the order matters");
        });
      }
      report("the meet agrees with the judgement, and order is irrelevant", chains);
      expect(findings.first).toEqual([]);
      expect(chains).toBe(ALL);
    },
    PATIENCE,
  );
});
