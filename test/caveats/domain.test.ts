import { describe, expect, test } from "vitest";
import { allows, domainOf, isEmpty, limitFrom, meetDomains } from "../../src/caveats/domain.js";
import type { Constraint } from "../../src/caveats/hop.js";

const SAMPLES = ["a", "b", "c", "", -1, 0, 1, 2, 2.5, 3, 10, true, false, null, undefined, [1], {}];

/** Returns the meet of two limits as one limit. */
function both(a: Constraint, b: Constraint): Constraint | undefined | "nothing" {
  const domain = meetDomains(domainOf(a), domainOf(b));
  return isEmpty(domain) ? "nothing" : limitFrom(domain);
}

const MEETS: [string, Constraint, Constraint, Constraint | undefined | "nothing"][] = [
  ["the same value", "a", "a", "a"],
  ["different values", "a", "b", "nothing"],
  ["a value and a list with it", "a", { in: ["a", "b"] }, "a"],
  ["a value and a list without it", "c", { in: ["a", "b"] }, "nothing"],
  ["a value and a bound that the value satisfies", 5, { max: 10 }, 5],
  ["a value and a bound that the value violates", 50, { max: 10 }, "nothing"],
  ["a text and a bound", "5", { max: 10 }, "nothing"],
  ["null and an exclusion of null", null, { not_in: [null] }, "nothing"],
  ["the lower of two upper bounds", { max: 10 }, { max: 7 }, { max: 7 }],
  ["the higher of two lower bounds", { min: 1 }, { min: 3 }, { min: 3 }],
  ["bounds from both sides", { max: 10 }, { min: 3 }, { max: 10, min: 3 }],
  ["bounds that leave one number", { max: 3 }, { min: 3 }, { max: 3, min: 3 }],
  [
    "bounds that leave one number, which is excluded",
    { max: 3, not_in: [3] },
    { min: 3 },
    "nothing",
  ],
  ["bounds that cross", { max: 3 }, { min: 4 }, "nothing"],
  ["lists that overlap", { in: ["a", "b"] }, { in: ["b", "c"] }, "b"],
  ["lists that do not overlap", { in: ["a"] }, { in: ["b"] }, "nothing"],
  ["a list and a bound", { in: [1, 5, 9] }, { max: 7 }, { in: [1, 5] }],
  ["a list and an exclusion", { in: ["a", "b", 1] }, { not_in: ["a"] }, "b"],
  ["a list of other types and a bound", { in: ["a", true] }, { min: 0 }, "nothing"],
  ["exclusions of one type", { not_in: ["a"] }, { not_in: ["b"] }, { not_in: ["a", "b"] }],
  ["exclusions of different types", { not_in: ["a"] }, { not_in: [1] }, "nothing"],
  [
    "exclusions that have one type in common",
    { not_in: ["a", 1] },
    { not_in: ["b"] },
    { not_in: ["a", "b"] },
  ],
  ["an exclusion and a bound", { not_in: [3, "a"] }, { max: 10 }, { max: 10, not_in: [3] }],
  ["an exclusion of texts and a bound", { not_in: ["a"] }, { max: 10 }, "nothing"],
  ["an exclusion of a boolean, twice", { not_in: [true] }, { not_in: [false] }, "nothing"],
  [
    "an exclusion of all booleans and of a text",
    { not_in: [true, "a"] },
    { not_in: [false, "b"] },
    { not_in: ["a", "b"] },
  ],
];

describe("two limits on one argument", () => {
  test.each(MEETS)("%s: the meet of %j and %j is %j", (_, a, b, left) => {
    expect(both(a, b)).toEqual(left);
  });

  test.each(MEETS)("%s: the meet has the same values if the limits are swapped", (_, a, b) => {
    const one = meetDomains(domainOf(a), domainOf(b));
    const other = meetDomains(domainOf(b), domainOf(a));
    for (const value of SAMPLES) expect(allows(one, value)).toBe(allows(other, value));
  });

  test.each(MEETS)("%s: the meet has exactly the values that both limits allow", (_, a, b) => {
    const domain = meetDomains(domainOf(a), domainOf(b));
    for (const value of SAMPLES) {
      expect(allows(domain, value)).toBe(allows(domainOf(a), value) && allows(domainOf(b), value));
    }
  });

  test.each(MEETS)(
    "%s: a meet that is not empty allows the same values when written as a limit",
    (_, a, b) => {
      const domain = meetDomains(domainOf(a), domainOf(b));
      const limit = limitFrom(domain);
      if (limit === undefined) return expect(isEmpty(domain)).toBe(true);
      for (const value of SAMPLES)
        expect(allows(domainOf(limit), value)).toBe(allows(domain, value));
    },
  );
});

describe("the domain of one limit is empty if the limit is", () => {
  test.each<[string, Constraint]>([
    ["bounds that cross", { max: 1, min: 2 }],
    ["a list outside its bounds", { in: [5], max: 4 }],
    ["a list that is excluded", { in: ["a"], not_in: ["a"] }],
    ["a text list with a bound", { in: ["a"], min: 0 }],
    ["the exclusion of null, its only value", { not_in: [null] }],
    ["the exclusion of both booleans", { not_in: [false, true] }],
  ])("%s", (_, limit) => {
    expect(isEmpty(domainOf(limit))).toBe(true);
  });
});

describe("domains and limits that no hop has", () => {
  test("the meet of two domains that have only types has their common types", () => {
    const texts = { types: ["string"] } as const;
    expect(meetDomains({ types: ["boolean", "string"] }, texts)).toEqual(texts);
  });

  test("the meet of two domains leaves out not_in if none of its values has a type that both domains allow", () => {
    const domain = { types: ["number", "string"], not_in: ["a"] } as const;
    expect(meetDomains(domain, { types: ["number"] })).toEqual({ types: ["number"] });
  });

  test.each([Number.NaN, "\ud800"])(
    "a limit of %j, which JSON cannot hold, allows nothing",
    (value) => {
      const domain = domainOf(value);
      expect(isEmpty(domain)).toBe(true);
      expect(limitFrom(domain)).toBeUndefined();
    },
  );
});
