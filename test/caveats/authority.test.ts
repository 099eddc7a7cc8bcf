import { describe, expect, test } from "vitest";
import type { Authority, Link } from "../../src/caveats/authority.js";
import { emptyRules, meetOf } from "../../src/caveats/meet.js";

describe("the authority that a chain of hops leaves", () => {
  test.each<[string, Link[], Authority]>([
    ["without hops, everything", [], {}],
    ["a third-party caveat restricts nothing here", [undefined], {}],
    ["what is never judged restricts nothing", [{ purpose: "x", nonce: "AAAAAAAAAAAAAAAA" }], {}],
    ["sets that are named once", [{ operations: ["a", "b"] }, {}], { operations: ["a", "b"] }],
    [
      "the members that all sets share",
      [{ operations: ["a", "b", "c"] }, { operations: ["b", "c"] }, { operations: ["c", "d"] }],
      { operations: ["c"] },
    ],
    [
      "nobody, if no invoker is in all sets",
      [{ invokers: ["a"] }, { invokers: ["b"] }],
      { invokers: [] },
    ],
    [
      "each set on its own",
      [{ audience: ["x", "y"] }, { audience: ["x"], resourceHandles: ["rh"] }],
      { audience: ["x"], resourceHandles: ["rh"] },
    ],
    [
      "the earliest expiry and the latest start",
      [
        { expires: "2030-01-02T00:00:00Z", notBefore: "2029-01-01T00:00:00Z" },
        { expires: "2030-01-01T00:00:00Z", notBefore: "2029-01-02T00:00:00Z" },
        { expires: "2030-01-03T00:00:00Z", notBefore: "2028-01-01T00:00:00Z" },
      ],
      { expires: "2030-01-01T00:00:00Z", notBefore: "2029-01-02T00:00:00Z" },
    ],
    [
      "limits on every argument that any hop names",
      [{ constraints: { a: { max: 10 } } }, { constraints: { a: { max: 5 }, b: "x" } }],
      {
        constraints: {
          a: { types: ["number"], max: 5 },
          b: { types: ["string"], in: ["x"] },
        },
      },
    ],
    ["no further hop after a seal", [{ maxFurtherHops: 0 }], { furtherHops: 0 }],
    ["links used up by later hops", [{ maxFurtherHops: 3 }, {}, {}], { furtherHops: 1 }],
    [
      "links used up by third-party caveats",
      [{ maxFurtherHops: 3 }, undefined],
      { furtherHops: 2 },
    ],
    ["the tightest count", [{ maxFurtherHops: 9 }, { maxFurtherHops: 2 }, {}], { furtherHops: 1 }],
    ["a count that is already exceeded", [{ maxFurtherHops: 0 }, {}, {}], { furtherHops: -2 }],
  ])("%s", (_, hops, authority) => {
    expect(meetOf([hops])).toEqual(authority);
  });

  test("a discharge's hops restrict like the token's own, but count only their own links", () => {
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
    ["none", [{ operations: ["a"], expires: "2030-01-01T00:00:00Z" }], []],
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
