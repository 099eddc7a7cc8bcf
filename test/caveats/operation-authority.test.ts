import { describe, expect, test } from "vitest";
import { intersectHop, overreaches } from "../../src/caveats/attenuation.js";
import type { ArgumentDomain } from "../../src/caveats/domain.js";
import type { HopInit } from "../../src/caveats/hop.js";
import { emptyRules, meetOf } from "../../src/caveats/meet.js";
import {
  authorityOver,
  leftOfArgument,
  type OperationAuthority,
} from "../../src/caveats/operation-authority.js";
import { normalizeHop } from "../../src/caveats/write-hop.js";

function authority(...hops: readonly HopInit[]) {
  return meetOf([hops.map(normalizeHop)]);
}

/** Returns the limits that a chain of hops leaves on the arguments of the operation `get`. */
function left(...hops: readonly HopInit[]): OperationAuthority {
  return authorityOver("get", authority(...hops));
}

const MAY_BE_ANYTHING: ArgumentDomain = {
  missing: true,
  types: ["array", "boolean", "null", "number", "string"],
};
const LEFT_OUT: ArgumentDomain = { missing: true, types: [] };

describe("the arguments that a call of an operation may have are", () => {
  test.each<[string, HopInit[], readonly string[] | undefined]>([
    ["any, without a closed list", [{ operations: ["get"] }], undefined],
    ["any, with a closed list of another operation", [{ arguments: { put: ["a"] } }], undefined],
    ["the names in its own list", [{ arguments: { get: ["a", "b"] } }], ["a", "b"]],
    ["the names in the list for every operation", [{ arguments: { "*": ["a", "b"] } }], ["a", "b"]],
    [
      "the names that are both in its own list and in the list for every operation",
      [{ arguments: { "*": ["b", "c"], get: ["a", "b"] } }],
      ["b"],
    ],
    [
      "the names that are in the lists of all hops",
      [{ arguments: { get: ["a", "b"] } }, { arguments: { get: ["b", "c"] } }],
      ["b"],
    ],
  ])("%s", (_, hops, closed) => {
    expect(left(...hops).closed).toEqual(closed);
  });
});

describe("an argument of an operation", () => {
  test.each<[string, HopInit[], string, ArgumentDomain]>([
    ["may be anything without a limit", [{ operations: ["get"] }], "x", MAY_BE_ANYTHING],
    [
      "may be anything if a closed list has it",
      [{ arguments: { get: ["x"] } }],
      "x",
      MAY_BE_ANYTHING,
    ],
    ["must be left out if a closed list lacks it", [{ arguments: { get: ["y"] } }], "x", LEFT_OUT],
    [
      "may be anything inside an argument that a closed list has",
      [{ arguments: { get: ["to"] } }],
      "/to/iban",
      MAY_BE_ANYTHING,
    ],
    [
      "must be left out inside an argument that a closed list lacks",
      [{ arguments: { get: ["y"] } }],
      "/to/iban",
      LEFT_OUT,
    ],
    [
      "has the limits on every operation and on its own",
      [{ operationConstraints: { "*": { x: { max: 5 } }, get: { x: { min: 1 } } } }],
      "x",
      { missing: false, types: ["number"], min: 1, max: 5 },
    ],
    [
      "has the limits of constraints, and is required",
      [
        { constraints: { x: { max: 5 } } },
        { operationConstraints: { get: { x: { min: 1, optional: true } } } },
      ],
      "x",
      { missing: false, types: ["number"], min: 1, max: 5 },
    ],
    [
      "whose name begins with a slash has the limits of constraints",
      [{ constraints: { "/x~/y": 1 } }],
      "/~1x~0~1y",
      { missing: false, types: ["number"], in: [1] },
    ],
    [
      "whose name only contains a slash has the limits of constraints",
      [{ constraints: { "x/y": 1 } }],
      "x/y",
      { missing: false, types: ["number"], in: [1] },
    ],
    [
      "whose name is empty has the limits of constraints",
      [{ constraints: { "": 1 } }],
      "",
      { missing: false, types: ["number"], in: [1] },
    ],
    [
      "whose name ends with a slash has the limits of constraints",
      [{ constraints: { "x/": 1 } }],
      "x/",
      { missing: false, types: ["number"], in: [1] },
    ],
    [
      "must be left out if it and an argument inside it are limited",
      [
        {
          operationConstraints: {
            get: { to: { max: 1, optional: true }, "/to/iban": { prefix: "DE", optional: true } },
          },
        },
      ],
      "to",
      LEFT_OUT,
    ],
    [
      "must be left out if it is limited, and so is an argument around it",
      [
        {
          operationConstraints: {
            get: { to: { max: 1, optional: true }, "/to/a/iban": { prefix: "DE", optional: true } },
          },
        },
      ],
      "/to/a/iban",
      LEFT_OUT,
    ],
    [
      "is not affected by a limit on an argument beside it",
      [
        {
          operationConstraints: {
            get: {
              "/to/iban": { prefix: "DE", optional: true },
              "/to/name": { prefix: "A", optional: true },
            },
          },
        },
      ],
      "/to/iban",
      { missing: true, types: ["string"], prefix: "DE" },
    ],
  ])("%s", (_, hops, name, domain) => {
    expect(leftOfArgument(left(...hops), name)).toEqual(domain);
  });
});

describe("emptyRules names, for a chain of hops,", () => {
  const one = (x: number): HopInit => ({ operationConstraints: { "*": { x } } });
  test.each<[string, HopInit[], readonly string[]]>([
    ["no rule, if a value is left", [one(1), one(1)], []],
    [
      "an argument without a value, limited for every operation",
      [one(1), one(2)],
      ["operationConstraints.*.x"],
    ],
    [
      "an argument without a value, limited for its only operation",
      [{ operations: ["get"] }, one(1), one(2)],
      ["operationConstraints.get.x"],
    ],
    [
      "a required argument that a closed list lacks",
      [{ constraints: { x: 1 } }, { arguments: { "*": ["y"] } }],
      ["operationConstraints.*.x"],
    ],
    [
      "constraints alone, if they leave no value themselves",
      [{ constraints: { x: 1, y: 1 } }, { constraints: { x: 2 } }, one(3)],
      ["constraints.x"],
    ],
    [
      "constraints that allow one value, and a limit on every operation that allows another value",
      [{ constraints: { x: 1, y: 1 } }, one(3)],
      ["operationConstraints.*.x"],
    ],
    [
      "no rule, if one of its operations can be called",
      [
        { operations: ["get", "put"] },
        { operationConstraints: { get: { x: 1 } } },
        { operationConstraints: { get: { x: 2 } } },
      ],
      [],
    ],
  ])("%s", (_, hops, rules) => {
    expect(emptyRules(authority(...hops))).toEqual(rules);
  });
});

test("overreaches refuses a name that the token's closed list lacks, and lists the names that the list has", () => {
  const token = authority({ arguments: { get: ["amount", "to"] } });
  expect(overreaches(token, normalizeHop({ arguments: { get: ["amuont"] } }))).toEqual([
    {
      rule: "arguments.get",
      value: "amuont",
      allowed: ["amount", "to"],
      nearest: "amount",
      message:
        '"arguments.get": "amuont" goes beyond the token; still allowed: "amount", "to"; did you mean "amount"?',
    },
  ]);
});

describe("overreaches lists at most 16 findings", () => {
  const twenty = Array.from({ length: 20 }, (_, at) => `a${at + 10}`);
  const entries = <Entry>(entry: Entry): { readonly [operation: string]: Entry } =>
    Object.fromEntries(twenty.map((operation) => [operation, entry]));
  const count = (token: HopInit, hop: HopInit): number =>
    overreaches(authority(token), normalizeHop(hop)).length;

  test.each<[string, HopInit, HopInit]>([
    ["of values beyond the token", { operations: ["b"] }, { operations: twenty }],
    [
      "of operations without a value for an argument, if no other operation is left",
      { operations: twenty, constraints: { x: 1 } },
      { arguments: { "*": [] } },
    ],
    [
      "of operations without a value for an argument, if another operation is left",
      { operations: [...twenty, "b"], operationConstraints: entries({ x: 1 }) },
      { arguments: entries([]) },
    ],
    [
      "of entries for operations that the token lacks",
      { operations: ["b"] },
      { arguments: entries(["x"]) },
    ],
  ])("%s", (_, token, hop) => {
    expect(count(token, hop)).toBe(16);
  });
});

describe("a hop that intersectHop lowers to the token's limits", () => {
  test("keeps its entries for operations if the token allows every operation", () => {
    const hop = normalizeHop({
      operationConstraints: { get: { x: 1 } },
      arguments: { put: ["y"] },
    });
    expect(intersectHop({}, hop)).toEqual(hop);
  });

  test("loses its entries for operations that the token does not have", () => {
    const hop = normalizeHop({ purpose: "p", operationConstraints: { put: { x: 1 } } });
    expect(intersectHop(authority({ operations: ["get"] }), hop)).toEqual({ purpose: "p" });
  });

  test("is unchanged if it has only entries for operations that the token does not have", () => {
    const hop = normalizeHop({ operationConstraints: { put: { x: 1 } } });
    expect(intersectHop(authority({ operations: ["get"] }), hop)).toEqual(hop);
  });
});
