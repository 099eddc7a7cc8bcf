import { describe, expect, test } from "vitest";
import type { Authority, Link } from "../../src/caveats/authority.js";
import { emptyRules, meetOf } from "../../src/caveats/meet.js";

describe("the authority that a chain of hops leaves:", () => {
  test.each<[string, Link[], Authority]>([
    ["without hops, everything", [], {}],
    ["a third-party caveat restricts nothing", [undefined], {}],
    ["purpose and nonce restrict nothing", [{ purpose: "x", nonce: "AAAAAAAAAAAAAAAA" }], {}],
    [
      "sets that are named once are kept",
      [{ operations: ["a", "b"] }, {}],
      { operations: ["a", "b"] },
    ],
    [
      "sets are reduced to their common members",
      [{ operations: ["a", "b", "c"] }, { operations: ["b", "c"] }, { operations: ["c", "d"] }],
      { operations: ["c"] },
    ],
    [
      "no invoker is left if none is in all sets",
      [{ invokers: ["a"] }, { invokers: ["b"] }],
      { invokers: [] },
    ],
    [
      "different sets are reduced separately",
      [{ audience: ["x", "y"] }, { audience: ["x"], resourceHandles: ["rh"] }],
      { audience: ["x"], resourceHandles: ["rh"] },
    ],
    [
      "the earliest expiry and the latest start are kept",
      [
        { expires: "2030-01-02T00:00:00Z", notBefore: "2029-01-01T00:00:00Z" },
        { expires: "2030-01-01T00:00:00Z", notBefore: "2029-01-02T00:00:00Z" },
        { expires: "2030-01-03T00:00:00Z", notBefore: "2028-01-01T00:00:00Z" },
      ],
      { expires: "2030-01-01T00:00:00Z", notBefore: "2029-01-02T00:00:00Z" },
    ],
    [
      "limits on every argument of any hop are kept",
      [{ constraints: { a: { max: 10 } } }, { constraints: { a: { max: 5 }, b: "x" } }],
      {
        constraints: {
          a: { types: ["number"], max: 5 },
          b: { types: ["string"], in: ["x"] },
        },
      },
    ],
    ["maxFurtherHops of 0 leaves no further hop", [{ maxFurtherHops: 0 }], { furtherHops: 0 }],
    [
      "later hops use up the number of further hops",
      [{ maxFurtherHops: 3 }, {}, {}],
      { furtherHops: 1 },
    ],
    [
      "third-party caveats use up the number of further hops",
      [{ maxFurtherHops: 3 }, undefined],
      { furtherHops: 2 },
    ],
    [
      "the smallest number of further hops is kept",
      [{ maxFurtherHops: 9 }, { maxFurtherHops: 2 }, {}],
      { furtherHops: 1 },
    ],
    [
      "an exceeded number of further hops is negative",
      [{ maxFurtherHops: 0 }, {}, {}],
      { furtherHops: -2 },
    ],
  ])("%s", (_, hops, authority) => {
    expect(meetOf([hops])).toEqual(authority);
  });

  test("a discharge's hops restrict like the token's own, but their maxFurtherHops counts only the discharge's links", () => {
    const own: Link[] = [{ operations: ["a", "b"], maxFurtherHops: 1 }, undefined];
    const discharge: Link[] = [{ operations: ["b", "c"], maxFurtherHops: 5 }];
    expect(meetOf([own, discharge])).toEqual({ operations: ["b"], furtherHops: 0 });
  });

  test("an argument named __proto__ is limited like any other", () => {
    const constraints = JSON.parse('{"__proto__":{"max":1}}');
    const authority = meetOf([[{ constraints }, { constraints: { b: 1 } }]]);
    expect(Object.keys(authority.constraints ?? {})).toEqual(["__proto__", "b"]);
  });
});

describe("emptyRules names the rules that leave nothing", () => {
  test.each<[string, Link[], string[]]>([
    ["none, if all leave something", [{ operations: ["a"], expires: "2030-01-01T00:00:00Z" }], []],
    [
      "sets",
      [
        { operations: ["a"], invokers: ["a"] },
        { operations: ["b"], invokers: ["b"] },
      ],
      ["operations", "invokers"],
    ],
    [
      "an argument",
      [{ constraints: { amount: { max: 1 } } }, { constraints: { amount: { min: 2 } } }],
      ["constraints.amount"],
    ],
    [
      "a start that is not before the end",
      [{ expires: "2030-01-01T00:00:00Z" }, { notBefore: "2030-01-01T00:00:00Z" }],
      ["notBefore"],
    ],
    ["too many links", [{ maxFurtherHops: 0 }, {}], ["maxFurtherHops"]],
  ])("%s", (_, hops, rules) => {
    expect(emptyRules(meetOf([hops]))).toEqual(rules);
  });
});
