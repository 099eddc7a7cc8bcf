import { describe, expect, test } from "vitest";
import { intersectHop, overreaches } from "../../src/caveats/attenuation.js";
import type { Constraint, Hop } from "../../src/caveats/hop.js";
import { meetOf } from "../../src/caveats/meet.js";
import { normalizeHop } from "../../src/caveats/write-hop.js";

const JAN_1 = "2030-01-01T00:00:00Z";
const JAN_2 = "2030-01-02T00:00:00Z";

describe("a hop is intersected with what the token still allows", () => {
  test.each<[string, Hop, Hop, Hop]>([
    [
      "members it does not have",
      { operations: ["a", "b"] },
      { operations: ["b", "c"] },
      { operations: ["b"] },
    ],
    [
      "nothing, where nothing was named",
      {},
      { operations: ["b", "c"] },
      { operations: ["b", "c"] },
    ],
    ["a later expiry", { expires: JAN_1 }, { expires: JAN_2 }, { expires: JAN_1 }],
    ["no earlier expiry", { expires: JAN_2 }, { expires: JAN_1 }, { expires: JAN_1 }],
    ["an earlier start", { notBefore: JAN_2 }, { notBefore: JAN_1 }, { notBefore: JAN_2 }],
    ["too many further hops", { maxFurtherHops: 3 }, { maxFurtherHops: 9 }, { maxFurtherHops: 2 }],
    ["no words", { operations: ["a"] }, { purpose: "why" }, { purpose: "why" }],
  ])("%s", (_, parent, hop, expected) => {
    const authority = meetOf([[parent]]);
    expect(intersectHop(authority, hop)).toEqual(expected);
    expect(overreaches(authority, intersectHop(authority, hop))).toEqual([]);
  });

  test.each<[string, Constraint, Constraint, Constraint]>([
    ["a higher bound", { max: 10 }, { max: 20 }, { max: 10 }],
    ["a list beyond a bound", { max: 10 }, { in: [5, 7, 20] }, { in: [5, 7] }],
    ["a list with another", { in: ["a", "b", "c"] }, { in: ["b", "c", "d"] }, { in: ["b", "c"] }],
    ["to the one value left", { in: ["a", "b"] }, { in: ["b", "c"] }, "b"],
    ["a bound above a list", { in: [1, 5, 9] }, { max: 20 }, { in: [1, 5, 9] }],
    ["an exclusion from a list", { in: ["a", "b", "c"] }, { not_in: ["a"] }, { in: ["b", "c"] }],
    [
      "an exclusion in several types",
      { not_in: ["a"] },
      { not_in: [1, "b"] },
      { not_in: ["a", "b"] },
    ],
    [
      "an exclusion that a bound makes needless",
      { max: 10 },
      { not_in: ["x", 3] },
      { max: 10, not_in: [3] },
    ],
    ["lists in canonical order", { max: 10 }, { in: [10, 9] }, { in: [10, 9] }],
  ])("in an argument, %s", (_, before, limit, expected) => {
    const authority = meetOf([[{ constraints: { x: before } }]]);
    const intersected = intersectHop(authority, normalizeHop({ constraints: { x: limit } }));
    expect(intersected).toEqual({ constraints: { x: expected } });
    expect(normalizeHop(intersected)).toEqual(intersected);
    expect(overreaches(authority, intersected)).toEqual([]);
  });
});

describe("a rule that would leave nothing is kept, and then refused", () => {
  test.each<[string, Hop, Hop]>([
    ["a set", { invokers: ["a"] }, { invokers: ["b"] }],
    ["an argument", { constraints: { x: "a" } }, { constraints: { x: "b" } }],
    ["bounds", { constraints: { x: { max: 1 } } }, { constraints: { x: { min: 2 } } }],
    ["a seal", { maxFurtherHops: 0 }, { maxFurtherHops: 5 }],
    ["times", { expires: JAN_1 }, { notBefore: JAN_2 }],
  ])("%s", (_, parent, hop) => {
    const authority = meetOf([[parent]]);
    expect(intersectHop(authority, hop)).toEqual(hop);
    expect(overreaches(authority, hop)).not.toEqual([]);
  });
});
