import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { intersectHop, overreaches } from "../../src/caveats/attenuation.js";
import { allows, domainOf, isEmpty, limitFrom } from "../../src/caveats/domain.js";
import type { Constraint, Hop } from "../../src/caveats/hop.js";
import { judgeHop } from "../../src/caveats/judge.js";
import { emptyRules, meetOf } from "../../src/caveats/meet.js";
import { normalizeHop } from "../../src/caveats/write-hop.js";
import { sized } from "../support/size.js";
import { constraint } from "./arbitraries.js";
import { contains } from "./membership.js";
import { asked, NOW } from "./support.js";

const RUNS = sized(1200, 100, 3000);
const limits = fc.array(constraint, { minLength: 1, maxLength: 4 });
const VALUES: readonly unknown[] = [
  -2,
  -1,
  0,
  0.5,
  1,
  2,
  3,
  4,
  "",
  "a",
  "b",
  "c",
  "d",
  "1",
  true,
  false,
  null,
  undefined,
  Number.NaN,
  Number.POSITIVE_INFINITY,
  [],
  ["a"],
  {},
  1n,
];

function hopWith(x: Constraint): Hop {
  return normalizeHop({ constraints: { x } });
}

/** Returns the values that all hops allow. */
function valuesLeft(hops: readonly Hop[]): unknown[] {
  return VALUES.filter((x) =>
    hops.every((hop) => judgeHop(hop, { ...asked(), arguments: { x } }, 0).length === 0),
  );
}

describe("for random limits on one argument", () => {
  test("the meet has exactly the values that every limit allows", () => {
    fc.assert(
      fc.property(limits, (given) => {
        const hops = given.map(hopWith);
        const authority = meetOf([hops]);
        const call = { operation: "get", time: new Date(NOW) };
        const left = VALUES.filter((x) => contains(authority, { ...call, arguments: { x } }));
        expect(left).toEqual(valuesLeft(hops));
        if (emptyRules(authority).length > 0) expect(left).toEqual([]);
      }),
      { numRuns: RUNS },
    );
  });

  test("the limit written from the meet allows exactly the values of the meet", () => {
    fc.assert(
      fc.property(limits, (given) => {
        const hops = given.map(hopWith);
        const domain = meetOf([hops]).constraints?.["x"];
        if (domain === undefined) throw new Error("no limit on x");
        const limit = limitFrom(domain);
        expect(limit === undefined).toBe(isEmpty(domain));
        if (limit === undefined) return;
        expect(valuesLeft([hopWith(limit)])).toEqual(valuesLeft(hops));
        expect(VALUES.filter((value) => allows(domainOf(limit), value))).toEqual(valuesLeft(hops));
      }),
      { numRuns: RUNS },
    );
  });

  test("a limit written by intersectHop allows exactly the values that all limits allow, and is canonical", () => {
    fc.assert(
      fc.property(limits, constraint, (given, wanted) => {
        const hops = given.map(hopWith);
        const authority = meetOf([hops]);
        const hop = intersectHop(authority, hopWith(wanted));
        expect(normalizeHop(hop)).toEqual(hop);
        const both = valuesLeft([...hops, hopWith(wanted)]);
        if (overreaches(authority, hop).length > 0) expect(both).toEqual([]);
        else expect(valuesLeft([hop])).toEqual(both);
      }),
      { numRuns: RUNS },
    );
  });
});
