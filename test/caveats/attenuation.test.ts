import { describe, expect, test } from "vitest";
import { overreaches } from "../../src/caveats/attenuation.js";
import type { Hop } from "../../src/caveats/hop.js";
import type { Overreach } from "../../src/caveats/hop-rule.js";
import { meetOf } from "../../src/caveats/meet.js";

/** Returns the findings of the lint when the last of `hops` is appended to the others. */
function lint(...hops: readonly Hop[]): readonly Overreach[] {
  return overreaches(meetOf([hops.slice(0, -1)]), hops[hops.length - 1] ?? {});
}

describe("attenuation accepts a hop within the token", () => {
  test.each<[string, ...Hop[]]>([
    ["fewer operations", { operations: ["a", "b"] }, { operations: ["a"] }],
    ["the same operations", { operations: ["a"] }, { operations: ["a"] }],
    ["operations where the token names none", { audience: ["x"] }, { operations: ["a"] }],
    ["a lower bound", { constraints: { a: { max: 10 } } }, { constraints: { a: { max: 5 } } }],
    ["the same bound", { constraints: { a: { max: 10 } } }, { constraints: { a: { max: 10 } } }],
    [
      "a bound from the other side",
      { constraints: { a: { max: 10 } } },
      { constraints: { a: { min: 5 } } },
    ],
    ["a value within bounds", { constraints: { a: { max: 10 } } }, { constraints: { a: 7 } }],
    [
      "a list within bounds",
      { constraints: { a: { max: 10 } } },
      { constraints: { a: { in: [1, 7] } } },
    ],
    [
      "a bound inside a list",
      { constraints: { a: { in: [1, 5, 9] } } },
      { constraints: { a: { max: 7 } } },
    ],
    [
      "part of a list",
      { constraints: { a: { in: ["x", "y"] } } },
      { constraints: { a: { in: ["x"] } } },
    ],
    [
      "an exclusion from a list",
      { constraints: { a: { in: ["x", "y"] } } },
      { constraints: { a: { not_in: ["x"] } } },
    ],
    [
      "an exclusion of a value that is not allowed anyway",
      { constraints: { a: { in: ["x"] } } },
      { constraints: { a: { not_in: ["y"] } } },
    ],
    [
      "one more exclusion",
      { constraints: { a: { not_in: ["x"] } } },
      { constraints: { a: { not_in: ["y"] } } },
    ],
    [
      "a value beside an exclusion",
      { constraints: { a: { not_in: ["x"] } } },
      { constraints: { a: "y" } },
    ],
    ["another argument", { constraints: { a: 1 } }, { constraints: { b: 2 } }],
    ["an earlier expiry", { expires: "2030-01-02T00:00:00Z" }, { expires: "2030-01-01T00:00:00Z" }],
    ["a later start", { notBefore: "2030-01-01T00:00:00Z" }, { notBefore: "2030-01-02T00:00:00Z" }],
    ["maxFurtherHops of 0", { maxFurtherHops: 3 }, { maxFurtherHops: 0 }],
    ["one further hop less", { maxFurtherHops: 3 }, { maxFurtherHops: 2 }],
    ["no maxFurtherHops", { maxFurtherHops: 1 }, { operations: ["a"] }],
    ["only a purpose", { maxFurtherHops: 1, operations: ["a"] }, { purpose: "why" }],
  ])("%s", (_, ...hops) => {
    expect(lint(...hops)).toEqual([]);
  });
});

const MAX_10: Hop = { constraints: { amount: { max: 10 } } };
const TO_A: Hop = { constraints: { to: "acc_a" } };
const LIST: Hop = { constraints: { cur: { in: ["EUR", "USD"] } } };

describe("attenuation refuses a hop beyond the token", () => {
  test.each<[string, Hop[], Partial<Overreach>]>([
    [
      "an operation that the token lacks",
      [{ operations: ["retrieve", "search"] }, { operations: ["delete", "retrieve"] }],
      { rule: "operations", value: "delete", allowed: ["retrieve", "search"] },
    ],
    [
      "a misspelt operation",
      [{ operations: ["retrieve"] }, { operations: ["retreive"] }],
      { rule: "operations", value: "retreive", nearest: "retrieve" },
    ],
    [
      "another agent",
      [{ invokers: ["a1"] }, { invokers: ["b2"] }],
      { rule: "invokers", value: "b2" },
    ],
    [
      "another service",
      [{ audience: ["x"] }, { audience: ["yy"] }],
      { rule: "audience", value: "yy" },
    ],
    [
      "another handle",
      [{ resourceHandles: ["rh_1"] }, { resourceHandles: ["rh_2"] }],
      { rule: "resourceHandles", value: "rh_2", allowed: ["rh_1"] },
    ],
    [
      "an exact value beyond a bound",
      [MAX_10, { constraints: { amount: 500 } }],
      { rule: "constraints.amount", value: 500, allowed: { max: 10 }, nearest: 10 },
    ],
    [
      "another exact value",
      [TO_A, { constraints: { to: "acc_b" } }],
      { rule: "constraints.to", value: "acc_b", allowed: "acc_a", nearest: "acc_a" },
    ],
    [
      "a higher bound",
      [MAX_10, { constraints: { amount: { max: 11 } } }],
      { rule: "constraints.amount.max", value: 11, nearest: 10 },
    ],
    [
      "a bound that crosses",
      [MAX_10, { constraints: { amount: { min: 11 } } }],
      { rule: "constraints.amount.min", value: 11, nearest: 10 },
    ],
    [
      "an upper bound below the least value",
      [{ constraints: { n: { min: 5 } } }, { constraints: { n: { max: 4 } } }],
      { rule: "constraints.n.max", value: 4, allowed: { min: 5 }, nearest: 5 },
    ],
    [
      "a bound above a list",
      [{ constraints: { n: { in: [1, 9] } } }, { constraints: { n: { max: 20 } } }],
      { rule: "constraints.n.max", value: 20, nearest: 9 },
    ],
    [
      "a bound on a string",
      [TO_A, { constraints: { to: { max: 1 } } }],
      { rule: "constraints.to.max", value: 1, allowed: "acc_a" },
    ],
    [
      "a value outside a list",
      [LIST, { constraints: { cur: { in: ["EUR", "GBP"] } } }],
      { rule: "constraints.cur.in", value: "GBP" },
    ],
    [
      "a value of another type",
      [MAX_10, { constraints: { amount: "5" } }],
      { rule: "constraints.amount", value: "5" },
    ],
    [
      "an exclusion of every value in a list",
      [LIST, { constraints: { cur: { not_in: ["EUR", "USD"] } } }],
      { rule: "constraints.cur", allowed: { in: ["EUR", "USD"] } },
    ],
    [
      "an exclusion of another type",
      [LIST, { constraints: { cur: { not_in: [1] } } }],
      { rule: "constraints.cur" },
    ],
    [
      "an excluded value",
      [{ constraints: { a: { not_in: ["x"] } } }, { constraints: { a: "x" } }],
      { rule: "constraints.a", value: "x" },
    ],
    [
      "a range in a gap between the allowed values",
      [{ constraints: { n: { in: [1, 9] } } }, { constraints: { n: { max: 8, min: 2 } } }],
      { rule: "constraints.n" },
    ],
    [
      "a limit that allows nothing itself",
      [{}, { constraints: { n: { max: 1, min: 2 } } }],
      { rule: "constraints.n", allowed: null },
    ],
    [
      "a later expiry",
      [{ expires: "2030-01-01T00:00:00Z" }, { expires: "2030-01-01T00:00:01Z" }],
      { rule: "expires", value: "2030-01-01T00:00:01Z", nearest: "2030-01-01T00:00:00Z" },
    ],
    [
      "an earlier start",
      [{ notBefore: "2030-01-01T00:00:00Z" }, { notBefore: "2029-01-01T00:00:00Z" }],
      { rule: "notBefore", nearest: "2030-01-01T00:00:00Z" },
    ],
    [
      "a start at the expiry",
      [{ expires: "2030-01-01T00:00:00Z" }, { notBefore: "2030-01-01T00:00:00Z" }],
      { rule: "notBefore", value: null },
    ],
    [
      "an expiry at the start",
      [{ notBefore: "2030-01-01T00:00:00Z" }, { expires: "2030-01-01T00:00:00Z" }],
      { rule: "notBefore", value: null },
    ],
    [
      "any hop on a sealed token",
      [{ maxFurtherHops: 0 }, { purpose: "x" }],
      { rule: "maxFurtherHops", value: 0, allowed: 0 },
    ],
    [
      "any hop on an overlong token",
      [{ maxFurtherHops: 0 }, {}, { purpose: "x" }],
      { rule: "maxFurtherHops", value: -1 },
    ],
    [
      "the same number of further hops",
      [{ maxFurtherHops: 3 }, { maxFurtherHops: 3 }],
      { rule: "maxFurtherHops", value: 3, allowed: 2, nearest: 2 },
    ],
    [
      "a value where no value is left",
      [{ constraints: { a: 1 } }, { constraints: { a: 2 } }, { constraints: { a: 1 } }],
      { rule: "constraints.a", allowed: false },
    ],
    [
      "a set member where none is left",
      [{ invokers: ["a"] }, { invokers: ["b"] }, { invokers: ["a"] }],
      { rule: "invokers", value: "a", allowed: [] },
    ],
  ])("%s", (_, hops, expected) => {
    const [first, ...others] = lint(...hops);
    expect(first).toMatchObject(expected);
    expect(others).toEqual([]);
    if (expected.nearest === undefined) expect(first).not.toHaveProperty("nearest");
  });

  test("and gives every reason, each with its own message", () => {
    const found = lint(
      { operations: ["get"], ...MAX_10, expires: "2030-01-01T00:00:00Z" },
      {
        operations: ["got", "set"],
        constraints: { amount: { max: 20, min: 15 } },
        expires: "2031-01-01T00:00:00Z",
      },
    );
    expect(found.map(({ message }) => message)).toEqual([
      '"operations": "got" goes beyond the token; still allowed: "get"; did you mean "get"?',
      '"operations": "set" goes beyond the token; still allowed: "get"; did you mean "get"?',
      '"constraints.amount.max": 20 goes beyond the token; still allowed: {"max":10}',
      '"constraints.amount.min": 15 goes beyond the token; still allowed: {"max":10}',
      '"expires": "2031-01-01T00:00:00Z" goes beyond the token; it expires at 2030-01-01T00:00:00Z',
    ]);
  });

  test.each<[string, Hop[], string]>([
    ["sets without a common member", [{ invokers: ["a"] }, { invokers: ["b"] }], "invokers"],
    [
      "an argument without values",
      [{ constraints: { n: 1 } }, { constraints: { n: 2 } }],
      "constraints.n",
    ],
    [
      "an end before the start",
      [{ expires: "2030-01-01T00:00:00Z" }, { notBefore: "2030-01-01T00:00:00Z" }],
      "notBefore",
    ],
  ])(
    "and, if the token already allows nothing, every hop, even with only a purpose: %s",
    (_, hops, rule) => {
      for (const hop of [{ operations: ["x"] }, { purpose: "why" }, { maxFurtherHops: 9 }]) {
        expect(lint(...hops, hop)).toEqual([
          { rule, value: null, allowed: null, message: `"${rule}" would leave nothing` },
        ]);
      }
    },
  );
});
