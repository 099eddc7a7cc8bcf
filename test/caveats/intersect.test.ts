import { describe, expect, test } from "vitest";
import { intersectHop, overreaches } from "../../src/caveats/attenuation.js";
import type { Constraint, Hop } from "../../src/caveats/hop.js";
import { meetOf } from "../../src/caveats/meet.js";
import { normalizeHop } from "../../src/caveats/write-hop.js";

const JAN_1 = "2030-01-01T00:00:00Z";
const JAN_2 = "2030-01-02T00:00:00Z";

describe("intersectHop intersects a hop with what the token still allows:", () => {
  test.each<[string, Hop, Hop, Hop]>([
    [
      "members that the token lacks are dropped",
      { operations: ["a", "b"] },
      { operations: ["b", "c"] },
      { operations: ["b"] },
    ],
    [
      "a rule that the token lacks is kept",
      {},
      { operations: ["b", "c"] },
      { operations: ["b", "c"] },
    ],
    ["a later expiry is lowered", { expires: JAN_1 }, { expires: JAN_2 }, { expires: JAN_1 }],
    ["an earlier expiry is kept", { expires: JAN_2 }, { expires: JAN_1 }, { expires: JAN_1 }],
    [
      "an earlier start is raised",
      { notBefore: JAN_2 },
      { notBefore: JAN_1 },
      { notBefore: JAN_2 },
    ],
    [
      "a larger number of further hops is lowered",
      { maxFurtherHops: 3 },
      { maxFurtherHops: 9 },
      { maxFurtherHops: 2 },
    ],
    ["purpose and nonce are kept", { operations: ["a"] }, { purpose: "why" }, { purpose: "why" }],
  ])("%s", (_, parent, hop, expected) => {
    const authority = meetOf([[parent]]);
    expect(intersectHop(authority, hop)).toEqual(expected);
    expect(overreaches(authority, intersectHop(authority, hop))).toEqual([]);
  });

  test.each<[string, Constraint, Constraint, Constraint]>([
    ["a higher bound is lowered", { max: 10 }, { max: 20 }, { max: 10 }],
    ["an array past a bound is cut", { max: 10 }, { in: [5, 7, 20] }, { in: [5, 7] }],
    [
      "two arrays leave their common values",
      { in: ["a", "b", "c"] },
      { in: ["b", "c", "d"] },
      { in: ["b", "c"] },
    ],
    ["one value left is written as that value", { in: ["a", "b"] }, { in: ["b", "c"] }, "b"],
    ["a bound on an array leaves an array", { in: [1, 5, 9] }, { max: 20 }, { in: [1, 5, 9] }],
    [
      "an exclusion from an array leaves the rest",
      { in: ["a", "b", "c"] },
      { not_in: ["a"] },
      { in: ["b", "c"] },
    ],
    [
      "an exclusion of several types is kept",
      { not_in: ["a"] },
      { not_in: [1, "b"] },
      { not_in: ["a", "b"] },
    ],
    [
      "an exclusion outside a bound is dropped",
      { max: 10 },
      { not_in: ["x", 3] },
      { max: 10, not_in: [3] },
    ],
    ["arrays are put in canonical order", { max: 10 }, { in: [10, 9] }, { in: [10, 9] }],
  ])("in an argument, %s", (_, before, limit, expected) => {
    const authority = meetOf([[{ constraints: { x: before } }]]);
    const intersected = intersectHop(authority, normalizeHop({ constraints: { x: limit } }));
    expect(intersected).toEqual({ constraints: { x: expected } });
    expect(normalizeHop(intersected)).toEqual(intersected);
    expect(overreaches(authority, intersected)).toEqual([]);
  });
});

describe("intersectHop keeps a rule that would leave nothing, and overreaches then refuses the hop, for", () => {
  test.each<[string, Hop, Hop]>([
    ["a set", { invokers: ["a"] }, { invokers: ["b"] }],
    ["an argument", { constraints: { x: "a" } }, { constraints: { x: "b" } }],
    ["bounds", { constraints: { x: { max: 1 } } }, { constraints: { x: { min: 2 } } }],
    ["maxFurtherHops", { maxFurtherHops: 0 }, { maxFurtherHops: 5 }],
    ["times", { expires: JAN_1 }, { notBefore: JAN_2 }],
  ])("%s", (_, parent, hop) => {
    const authority = meetOf([[parent]]);
    expect(intersectHop(authority, hop)).toEqual(hop);
    expect(overreaches(authority, hop)).not.toEqual([]);
  });
});
