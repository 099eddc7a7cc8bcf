import { describe, expect, test } from "vitest";
import type { Constraint } from "../../src/caveats/hop.js";
import type { RuleFailure } from "../../src/caveats/hop-rule.js";
import { judgeHop } from "../../src/caveats/judge.js";
import { asked } from "./support.js";

function failures(
  limit: Constraint,
  given: { readonly [name: string]: unknown },
): readonly RuleFailure[] {
  return judgeHop({ constraints: { a: limit } }, { ...asked(), arguments: given }, 0);
}

function allows(limit: Constraint, value: unknown): boolean {
  return failures(limit, { a: value }).length === 0;
}

const LIMITS: [string, Constraint, readonly unknown[], readonly unknown[]][] = [
  ["an exact string", "x", ["x"], ["X", "x ", "", ["x"], { x: 1 }, new String("x")]],
  ["the exact empty string", "", [""], [0, false, null, []]],
  ["an exact number", 7, [7, 7.0], ["7", 7.0000001, -7, 7n, [7], Number.NaN]],
  ["exact zero", 0, [0, -0], ["", false, null, "0", []]],
  ["exactly true", true, [true], [1, "true", {}, "yes"]],
  ["exactly false", false, [false], [0, "", null]],
  ["exactly null", null, [null], [0, "", false, "null", {}]],
  ["max", { max: 10 }, [10, 9.99, -1e308], [10.01, "9", null, [9], true, Number.NEGATIVE_INFINITY]],
  ["min", { min: 10 }, [10, 1e308], [9.99, "11", null, Number.POSITIVE_INFINITY, Number.NaN]],
  ["a negative bound", { max: -1 }, [-1, -2], [0, -0.5, null]],
  ["both bounds", { max: 2, min: 1 }, [1, 1.5, 2], [0.99, 2.01, "1"]],
  ["bounds that cross", { max: 1, min: 2 }, [], [0, 1, 1.5, 2, 3]],
  ["in", { in: ["a", 1, null, true] }, ["a", 1, null, true], ["1", "A", false, 0, ["a"], {}]],
  ["not_in of strings", { not_in: ["a"] }, ["b", "", "A"], ["a", 1, null, true, ["b"], {}]],
  ["not_in of numbers", { not_in: [7] }, [8, 7.5], [7, 7.0, "7", "8", Number.NaN, [8]]],
  ["not_in of several types", { not_in: ["a", 7] }, ["b", 8], ["a", 7, null, true]],
  ["not_in of both booleans", { not_in: [false, true] }, [], [true, false, 1, "true"]],
  ["not_in of null", { not_in: [null] }, [], [null, 0, "null"]],
  ["several operators", { in: [1, 5, 9], max: 8, not_in: [5] }, [1], [5, 9, 2]],
];

describe.each(LIMITS)("judgeHop with the limit: %s", (_, limit, allowed, refused) => {
  test.each(allowed)("allows %o", (value) => {
    expect(allows(limit, value)).toBe(true);
  });

  test.each(refused)("refuses %o", (value) => {
    expect(allows(limit, value)).toBe(false);
  });

  test("refuses a call whose argument is missing or undefined", () => {
    expect(failures(limit, {})).not.toEqual([]);
    expect(failures(limit, { a: undefined })).not.toEqual([]);
  });

  test("refuses an argument that is only inherited", () => {
    for (const value of allowed)
      expect(failures(limit, Object.create({ a: value }))).not.toEqual([]);
  });

  test("refuses text that has no UTF-8 form", () => {
    expect(allows(limit, "\ud800")).toBe(false);
  });
});

describe.each(["__proto__", "constructor", "toString", "hasOwnProperty"])(
  "judgeHop with an argument named %s",
  (name) => {
    const constraints = Object.fromEntries([[name, { not_in: ["x"] }]]);

    test("reports the argument as missing if it is only inherited", () => {
      const [failure, ...others] = judgeHop({ constraints }, asked({ arguments: {} }), 0);
      expect(failure?.message).toMatch(/it is missing$/);
      expect(others).toEqual([]);
    });

    test("judges the argument if the call has it", () => {
      const own: { [name: string]: unknown } = JSON.parse(`{${JSON.stringify(name)}:"y"}`);
      expect(judgeHop({ constraints }, asked({ arguments: own }), 0)).toEqual([]);
    });
  },
);

describe("a failure of a limit reports", () => {
  test.each<[string, Constraint, unknown, object]>([
    [
      "the exact value",
      "acc_456",
      "acc_1",
      { rule: "constraints.a", expected: "acc_456", actual: "acc_1", nearest: "acc_456" },
    ],
    ["the upper bound", { max: 10 }, 500, { rule: "constraints.a.max", expected: 10, nearest: 10 }],
    ["the lower bound", { min: 1 }, 0, { rule: "constraints.a.min", expected: 1, nearest: 1 }],
    [
      "the nearest value of a list",
      { in: ["EUR", "USD"] },
      "EURO",
      { rule: "constraints.a.in", expected: ["EUR", "USD"], nearest: "EUR" },
    ],
    ["the exclusion", { not_in: ["x"] }, "x", { rule: "constraints.a.not_in", expected: ["x"] }],
    [
      "the first of several operators that fail",
      { max: 10, min: 5 },
      "x",
      { rule: "constraints.a.max" },
    ],
  ])("%s", (_, limit, value, expected) => {
    const [failure] = failures(limit, { a: value });
    expect(failure).toMatchObject({ code: "constraint_violated", actual: value, ...expected });
  });

  test("no actual value for a missing argument", () => {
    expect(failures("x", {})).toEqual([
      {
        code: "constraint_violated",
        rule: "constraints.a",
        expected: "x",
        nearest: "x",
        message: 'argument "a" must be "x"; it is missing',
      },
    ]);
  });

  test("the types that an exclusion allows", () => {
    const [failure] = failures({ not_in: ["x", 1] }, { a: null });
    expect(failure?.message).toBe('argument "a" must be of type string or number; it is null');
  });

  const cyclic: unknown[] = [];
  cyclic.push(cyclic);
  const deep: unknown = JSON.parse(`${"[".repeat(50_000)}${"]".repeat(50_000)}`);
  test.each([
    ["a bigint", 10n, "a bigint that cannot be shown"],
    ["a cycle", cyclic, "an array"],
    ["nesting beyond the stack", deep, "an array"],
    ["a very long string", "x".repeat(1000), `"${"x".repeat(76)}...`],
    ["undefined", undefined, "undefined"],
  ])("a short form of the value, even for %s", (_, value, shown) => {
    expect(failures(1, { a: value })[0]?.message).toBe(`argument "a" must be 1; it is ${shown}`);
  });
});
