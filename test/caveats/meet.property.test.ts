import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { intersectHop, overreaches } from "../../src/caveats/attenuation.js";
import type { Hop } from "../../src/caveats/hop.js";
import { checkInvocation, type Invocation } from "../../src/caveats/invocation.js";
import { judgeHop } from "../../src/caveats/judge.js";
import { emptyRules, meetOf } from "../../src/caveats/meet.js";
import { normalizeHop } from "../../src/caveats/write-hop.js";
import { sized } from "../support/size.js";
import { anyHop, invocation } from "./arbitraries.js";
import { contains } from "./membership.js";
import { concerns, NOW } from "./support.js";

const RUNS = sized(1500, 75, 4000);
const chain = fc.array(anyHop, { minLength: 1, maxLength: 4 });
const calls = fc.array(invocation, { minLength: 5, maxLength: 5 });

/** Returns the codes of all denials of a call by the hops of a chain, hop by hop. */
function judged(hops: readonly Hop[], call: Invocation): string[] {
  const asked = checkInvocation(call, () => NOW);
  return hops.flatMap((hop, at) =>
    judgeHop(hop, asked, hops.length - at - 1).map(({ code }) => code),
  );
}

function isAllowed(hops: readonly Hop[], call: Invocation): boolean {
  return judged(hops, call).length === 0;
}

function timed(call: Invocation): Invocation & { readonly time: Date } {
  return { ...call, time: call.time ?? new Date(NOW) };
}

// Other tests show that order is irrelevant and that a further hop never widens: `test/exhaustive` and
// `test/capability/chains.property.test.ts`.

describe("the meet of all hops, for random chains", () => {
  test("contains exactly the calls that every hop allows", () => {
    let allowed = 0;
    let refused = 0;
    fc.assert(
      fc.property(chain, calls, (hops, asked) => {
        const authority = meetOf([hops]);
        for (const call of asked) {
          const verdict = isAllowed(hops, call);
          if (verdict) allowed++;
          else refused++;
          expect(contains(authority, timed(call))).toBe(verdict);
        }
      }),
      { numRuns: RUNS },
    );
    // Both outcomes must be frequent, or the comparison shows little.
    expect(Math.min(allowed, refused)).toBeGreaterThan(RUNS / 40);
  });

  test("is reported empty only if no call is allowed", () => {
    let empty = 0;
    fc.assert(
      fc.property(chain, calls, (hops, asked) => {
        if (emptyRules(meetOf([hops])).length === 0) return;
        empty++;
        for (const call of asked) expect(isAllowed(hops, call)).toBe(false);
      }),
      { numRuns: RUNS },
    );
    expect(empty).toBeGreaterThan(RUNS / 40);
  });

  test("contains, for a token and a discharge, exactly the calls that both chains allow", () => {
    fc.assert(
      fc.property(chain, chain, calls, (own, discharge, asked) => {
        const authority = meetOf([own, discharge]);
        for (const call of asked) {
          const verdict = isAllowed(own, call) && isAllowed(discharge, call);
          expect(contains(authority, timed(call))).toBe(verdict);
        }
      }),
      { numRuns: RUNS },
    );
  });
});

describe("an intersected hop, for random chains", () => {
  test("allows after the chain the same calls as the original hop if overreaches accepts it; if not, the calls that an overreach concerns are refused", () => {
    let intersected = 0;
    fc.assert(
      fc.property(chain, anyHop, calls, (hops, wanted, asked) => {
        const authority = meetOf([hops]);
        const hop = intersectHop(authority, wanted);
        expect(normalizeHop(hop)).toEqual(hop);
        const found = overreaches(authority, hop);
        const isAccepted = found.length === 0;
        if (isAccepted && overreaches(authority, wanted).length > 0) intersected++;
        for (const call of asked) {
          const verdict = isAllowed([...hops, wanted], call);
          if (isAccepted) expect(isAllowed([...hops, hop], call)).toBe(verdict);
          // If the lint still refuses the hop, the hop allows no call that the finding concerns.
          else if (concerns(found, call.operation)) expect(verdict).toBe(false);
        }
      }),
      { numRuns: RUNS },
    );
    expect(intersected).toBeGreaterThan(RUNS / 40);
  });

  test("decides like the original hop if the original hop is within the token", () => {
    fc.assert(
      fc.property(chain, anyHop, calls, (hops, wanted, asked) => {
        const authority = meetOf([hops]);
        if (overreaches(authority, wanted).length > 0) return;
        for (const call of asked) {
          expect(isAllowed([...hops, intersectHop(authority, wanted)], call)).toBe(
            isAllowed([...hops, wanted], call),
          );
        }
      }),
      { numRuns: RUNS },
    );
  });
});
