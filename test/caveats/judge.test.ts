import { describe, expect, test } from "vitest";
import type { Hop } from "../../src/caveats/hop.js";
import type { Invocation } from "../../src/caveats/invocation.js";
import { judgeHop } from "../../src/caveats/judge.js";
import { asked } from "./support.js";

function codes(hop: Hop, invocation: Partial<Invocation> = {}, furtherLinks = 0): string[] {
  return judgeHop(hop, asked(invocation), furtherLinks).map(({ code }) => code);
}

describe("a hop allows a call", () => {
  test.each<[string, Hop, Partial<Invocation>]>([
    [
      "of any kind, if the hop restricts nothing",
      { purpose: "why", nonce: "AAAAAAAAAAAAAAAA" },
      {},
    ],
    ["with an operation in the hop's set", { operations: ["retrieve", "search"] }, {}],
    [
      "with a handle in the hop's set",
      { resourceHandles: ["rh_a", "rh_b"] },
      { resourceHandles: ["rh_b"] },
    ],
    [
      "with several handles that are all in the hop's set",
      { resourceHandles: ["rh_a", "rh_b"] },
      { resourceHandles: ["rh_b", "rh_a", "rh_b"] },
    ],
    ["with any handles, if the hop names no handle", {}, { resourceHandles: ["rh_x"] }],
    ["at a service that the hop names", { audience: ["docs"] }, { audience: "docs" }],
    ["by an agent that the hop names", { invokers: ["agent"] }, { invoker: "agent" }],
  ])("%s", (_, hop, invocation) => {
    expect(codes(hop, invocation)).toEqual([]);
  });
});

describe("a hop refuses a call", () => {
  test.each<[string, Hop, Partial<Invocation>, string[]]>([
    [
      "with an operation outside the hop's set",
      { operations: ["search"] },
      {},
      ["operation_denied"],
    ],
    [
      "with an operation in another case",
      { operations: ["Retrieve"] },
      { operation: "retrieve" },
      ["operation_denied"],
    ],
    ["without a handle", { resourceHandles: ["rh_a"] }, {}, ["resource_denied"]],
    [
      "with handles outside the hop's set, once for each of them",
      { resourceHandles: ["rh_a"] },
      { resourceHandles: ["rh_y", "rh_a", "rh_z", "rh_y"] },
      ["resource_denied", "resource_denied"],
    ],
    [
      "at a service that the hop does not name",
      { audience: ["docs"] },
      { audience: "doc" },
      ["audience_denied"],
    ],
    ["in a check without an audience", { audience: ["docs"] }, {}, ["audience_denied"]],
    [
      "by an agent that the hop does not name",
      { invokers: ["a"] },
      { invoker: "b" },
      ["invoker_denied"],
    ],
    ["without an agent", { invokers: ["a"] }, {}, ["invoker_denied"]],
  ])("%s", (_, hop, invocation, expected) => {
    expect(codes(hop, invocation)).toEqual(expected);
  });

  test("and gives every reason, in the order of the table of hop keys", () => {
    const hop: Hop = {
      invokers: ["a"],
      audience: ["docs"],
      notBefore: "2031-01-01T00:00:00Z",
      expires: "2029-01-01T00:00:00Z",
      constraints: { b: 1, a: { max: 1, min: 1 } },
      resourceHandles: ["rh_a"],
      operations: ["search"],
      maxFurtherHops: 0,
    };
    expect(judgeHop(hop, asked(), 1).map(({ rule }) => rule)).toEqual([
      "operations",
      "resourceHandles",
      "constraints.b",
      "constraints.a.max",
      "constraints.a.min",
      "expires",
      "notBefore",
      "audience",
      "invokers",
      "maxFurtherHops",
    ]);
  });
});

describe("a hop compares times by the second, so a call is", () => {
  test.each<[string, Hop, string, string[]]>([
    [
      "allowed just before the hop expires",
      { expires: "2030-01-01T00:00:00Z" },
      "2029-12-31T23:59:59.999Z",
      [],
    ],
    [
      "refused at the second at which the hop expires",
      { expires: "2030-01-01T00:00:00Z" },
      "2030-01-01T00:00:00.000Z",
      ["expired"],
    ],
    [
      "refused after the hop has expired",
      { expires: "2030-01-01T00:00:00Z" },
      "2030-01-01T00:00:01Z",
      ["expired"],
    ],
    [
      "allowed just before an expiry in 1969",
      { expires: "1969-12-31T23:59:59Z" },
      "1969-12-31T23:59:58.999Z",
      [],
    ],
    ["allowed in the year 0", { expires: "2030-01-01T00:00:00Z" }, "0000-01-01T00:00:00Z", []],
    [
      "refused before the hop starts",
      { notBefore: "2030-01-01T00:00:00Z" },
      "2029-12-31T23:59:59.999Z",
      ["not_yet_valid"],
    ],
    [
      "allowed at the second at which the hop starts",
      { notBefore: "2030-01-01T00:00:00Z" },
      "2030-01-01T00:00:00.000Z",
      [],
    ],
    [
      "refused if the hop expires at the second at which it starts",
      { expires: "2030-01-01T00:00:00Z", notBefore: "2030-01-01T00:00:00Z" },
      "2030-01-01T00:00:00Z",
      ["expired"],
    ],
  ])("%s", (_, hop, time, expected) => {
    expect(codes(hop, { time: new Date(time) })).toEqual(expected);
  });
});

test.each([
  [0, 0, []],
  [0, 1, ["too_many_hops"]],
  [2, 2, []],
  [2, 3, ["too_many_hops"]],
  [Number.MAX_SAFE_INTEGER, 32, []],
])(
  "a hop with maxFurtherHops %d and %d links after it gives the denials %j",
  (maxFurtherHops, links, expected) => {
    expect(codes({ maxFurtherHops }, {}, links)).toEqual(expected);
  },
);

describe("a failure of a hop reports", () => {
  const cases: [string, Hop, Partial<Invocation>, object][] = [
    [
      "the allowed operations and the nearest of them",
      { operations: ["retrieve", "search"] },
      { operation: "retreive" },
      {
        code: "operation_denied",
        rule: "operations",
        expected: ["retrieve", "search"],
        actual: "retreive",
        nearest: "retrieve",
        message:
          'operation "retreive" is not allowed; allowed: "retrieve", "search"; did you mean "retrieve"?',
      },
    ],
    [
      "no suggestion if no name is near",
      { operations: ["retrieve"] },
      { operation: "delete" },
      {
        code: "operation_denied",
        rule: "operations",
        expected: ["retrieve"],
        actual: "delete",
        message: 'operation "delete" is not allowed; allowed: "retrieve"',
      },
    ],
    [
      "no actual value, if the call has none",
      { invokers: ["agent"] },
      {},
      {
        code: "invoker_denied",
        rule: "invokers",
        expected: ["agent"],
        message: 'no invoker is given; allowed: "agent"',
      },
    ],
    [
      "the time at which the call was judged",
      { expires: "2029-12-31T00:00:00Z" },
      {},
      {
        code: "expired",
        rule: "expires",
        expected: "2029-12-31T00:00:00Z",
        actual: "2030-01-01T00:00:00Z",
        message: "expired at 2029-12-31T00:00:00Z; it is 2030-01-01T00:00:00Z",
      },
    ],
  ];
  test.each(cases)("%s", (_, hop, invocation, failure) => {
    expect(judgeHop(hop, asked(invocation), 0)).toEqual([failure]);
  });

  test("only the first items of a long list in its message", () => {
    const operations = Array.from({ length: 100 }, (_, i) => `operation-${i}`);
    const [failure] = judgeHop({ operations }, asked(), 0);
    expect(failure?.message).toMatch(/"operation-7" and 92 more$/);
    expect(failure?.expected).toEqual(operations);
  });
});
