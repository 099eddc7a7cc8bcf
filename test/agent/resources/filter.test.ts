import fc from "fast-check";
import { describe, expect, test } from "vitest";
import {
  checkFilter,
  matches,
  readFilter,
  readResourceQuery,
} from "../../../src/agent/resources/filter.js";
import type { FieldCondition, QueryDenial } from "../../../src/agent/resources/resource.js";
import { condition, report, scalar } from "../../sources/support.js";

describe("a filter condition", () => {
  test.each<[string, FieldCondition, boolean]>([
    ["an equal number", 1, true],
    ["the number as a string", "1", false],
    ["true for 1", true, false],
    ["null for a number", null, false],
    ["an array with the value", { in: [7, 1] }, true],
    ["an array with the value as a string", { in: ["1", true, null] }, false],
    ["an empty array", { in: [] }, false],
    ["a lower bound equal to the value", { min: 1 }, true],
    ["a lower bound above the value", { min: 1.5 }, false],
    ["an upper bound equal to the value", { max: 1 }, true],
    ["an upper bound below the value", { max: 0 }, false],
    ["a string as a bound", { min: "0" }, false],
    ["a range around the value", { min: 0, max: 2 }, true],
    ["a range and an array with the value", { min: 0, in: [1] }, true],
    ["a range around the value and an array without the value", { min: 0, in: [2] }, false],
    ["no operator", {}, false],
  ])("with %s (%j) on the value 1 holds: %s", (_, limit, expected) => {
    expect(matches(report({ year: 1 }), { year: limit })).toBe(expected);
  });

  test.each<[string, FieldCondition, boolean]>([
    [
      "a date before and a date after the value as bounds",
      { min: "2025-01-01", max: "2025-12-31" },
      true,
    ],
    ["a lower bound that is a prefix of the value", { min: "2025-06" }, true],
    ["a number as a bound", { min: 2025 }, false],
    ["a lower bound after the value", { min: "2025-07" }, false],
  ])("with %s (%j) on the value 2025-06-30 holds: %s", (_, limit, expected) => {
    expect(matches(report({ date: "2025-06-30" }), { date: limit })).toBe(expected);
  });

  test("compares strings in UTF-16 order, where an emoji comes before a full-width tilde", () => {
    expect(matches(report({ x: "\u{1f600}" }), { x: { max: "\uff5e" } })).toBe(true);
    expect(matches(report({ x: "\uff5e" }), { x: { max: "\u{1f600}" } })).toBe(false);
  });

  test("compares null and booleans by equality only", () => {
    expect(matches(report({ x: null }), { x: null })).toBe(true);
    expect(matches(report({ x: false }), { x: { in: [null, false] } })).toBe(true);
    expect(matches(report({ x: true }), { x: { min: 0 } })).toBe(false);
  });

  test("holds only for the resource's own fields, not for inherited fields", () => {
    expect(matches(report({}), {})).toBe(true);
    expect(matches(report({}), { x: null })).toBe(false);
    expect(matches(report(Object.create({ x: 1 })), { x: 1 })).toBe(false);
    for (const name of ["__proto__", "constructor", "toString"]) {
      const filter = JSON.parse(`{ ${JSON.stringify(name)}: { "in": [null] } }`);
      expect(matches(report({}), filter)).toBe(false);
      const fields = JSON.parse(`{ ${JSON.stringify(name)}: null }`);
      expect(matches(report(fields), filter)).toBe(true);
    }
  });

  test("never holds with an unknown operator", () => {
    const filter = JSON.parse('{ "x": { "min": 0, "not_in": [7] } }');
    expect(matches(report({ x: 1 }), filter)).toBe(false);
    expect(matches(report(JSON.parse('{ "x": [1] }')), JSON.parse('{ "x": [1] }'))).toBe(false);
  });

  test("holds if and only if each of its operators holds alone, and `in` means equality with one value", () => {
    fc.assert(
      fc.property(scalar, condition, (value, limit) => {
        const holds = (one: FieldCondition): boolean => matches(report({ x: value }), { x: one });
        if (typeof limit !== "object" || limit === null) {
          expect(holds(limit)).toBe(JSON.stringify(value) === JSON.stringify(limit));
          return;
        }
        const { in: list, min, max } = limit;
        const alone = [
          ...(list === undefined ? [] : [list.some((one) => holds(one))]),
          ...(min === undefined ? [] : [holds({ min })]),
          ...(max === undefined ? [] : [holds({ max })]),
        ];
        expect(holds(limit)).toBe(alone.every(Boolean));
      }),
    );
  });
});

describe("a filter", () => {
  const denialOf = (filter: unknown, fields?: readonly string[]): QueryDenial | undefined =>
    checkFilter(JSON.parse(JSON.stringify(filter)), fields);

  test("with any valid condition is accepted", () => {
    fc.assert(
      fc.property(condition, (limit) => {
        expect(checkFilter({ x: limit }, ["x"])).toBeUndefined();
        expect(readFilter({ x: limit })).toEqual({ ok: true, filter: { x: limit } });
      }),
    );
  });

  test("with an unknown field is refused, and the denial lists the known fields and the nearest field", () => {
    expect(denialOf({ departement: 1 }, ["department", "year"])).toEqual({
      code: "unknown_field",
      path: "filter.departement",
      known: ["department", "year"],
      message:
        'there is no field "departement"; known: "department", "year"; did you mean "department"?',
    });
    expect(denialOf({ x: 1 }, [])?.message).toBe('there is no field "x"; known: nothing');
  });

  test("with an unknown or missing operator is refused, and the denial lists the known operators", () => {
    expect(denialOf({ x: { mim: 1 } })).toEqual({
      code: "unknown_operator",
      path: "filter.x",
      known: ["in", "max", "min"],
      message:
        '"filter.x" has the unknown operator "mim"; known: "in", "max", "min"; did you mean "min"?',
    });
    expect(denialOf({ x: {} })).toEqual({
      code: "unknown_operator",
      path: "filter.x",
      known: ["in", "max", "min"],
      message: '"filter.x" has no operator; known: "in", "max", "min"',
    });
    expect(checkFilter(JSON.parse('{ "x": { "__proto__": 1 } }'))?.code).toBe("unknown_operator");
  });

  test.each<[string, unknown, string]>([
    [
      "an array for a value",
      [1],
      '"filter.x" must be a value, or an object with operators, not [1]',
    ],
    [
      "a value that is not an array for in",
      { in: 1 },
      '"filter.x.in" must be an array of 1 to 256 values, not 1',
    ],
    ["an empty array", { in: [] }, '"filter.x.in" must be an array of 1 to 256 values, not 0'],
    [
      "an array in an array",
      { in: [1, [2]] },
      '"filter.x.in" must be an array of strings, numbers, booleans and null, not [2]',
    ],
    [
      "a boolean as a bound",
      { min: true },
      '"filter.x.min" must be a number or a string, not true',
    ],
    ["null as a bound", { max: null }, '"filter.x.max" must be a number or a string, not null'],
    [
      "bounds of two types",
      { min: 1, max: "2" },
      '"filter.x.max" must be of the same type as min, a number, not "2"',
    ],
    [
      "a string of 1,025 characters",
      "x".repeat(1025),
      '"filter.x" must have strings of at most 1024 characters',
    ],
    [
      "a string of 1,025 characters in an array",
      { in: ["x".repeat(1025)] },
      '"filter.x" must have strings of at most 1024 characters',
    ],
  ])("with %s is refused as invalid_value", (_, limit, message) => {
    expect(denialOf({ x: limit })).toEqual({
      code: "invalid_value",
      path: "filter.x",
      known: [],
      message,
    });
  });

  test("with a value that JSON cannot hold is refused as invalid_value", () => {
    for (const limit of [
      Number.NaN,
      "\ud800",
      undefined,
      { in: new Array(1) },
      { min: Infinity },
    ]) {
      const reading = readFilter({ x: limit });
      expect(reading.ok ? undefined : reading.denial.code).toBe("invalid_value");
    }
  });
});

describe("a resource query read from JSON", () => {
  const denialOf = (value: unknown): QueryDenial | undefined => {
    const reading = readResourceQuery(value);
    return reading.ok ? undefined : reading.denial;
  };

  test("is accepted with and without a filter, and shares no objects with the input", () => {
    expect(readResourceQuery({ collection: "r" })).toEqual({
      ok: true,
      query: { collection: "r" },
    });
    const value = { collection: "r", filter: { x: { in: [1] } } };
    const reading = readResourceQuery(value);
    value.filter.x.in.push(2);
    expect(reading).toEqual({
      ok: true,
      query: { collection: "r", filter: { x: { in: [1] } } },
    });
  });

  test.each([[undefined], [null], [1], ["r"], [[]], [["r"]]])("is refused: %j", (value) => {
    expect(denialOf(value)).toMatchObject({ code: "invalid_value", path: "collection" });
  });

  test.each([[undefined], [null], [1], [["r"]], ["x".repeat(257)], ["\ud800"]])(
    "is refused for its collection: %j",
    (collection) => {
      expect(denialOf({ collection })).toMatchObject({ code: "invalid_value", path: "collection" });
    },
  );

  test.each([[null], [1], ["x"], [[]]])("is refused for its filter: %j", (filter) => {
    expect(denialOf({ collection: "r", filter })).toMatchObject({
      code: "invalid_value",
      path: "filter",
    });
  });

  test("is refused for an unknown property, and the denial lists the known properties", () => {
    expect(denialOf({ collection: "r", filters: {} })).toEqual({
      code: "unknown_field",
      path: "filters",
      known: ["collection", "filter"],
      message:
        'a resource query has no property "filters"; known: "collection", "filter"; did you mean "filter"?',
    });
    const hostile = JSON.parse('{ "__proto__": { "collection": "r" } }');
    expect(denialOf(hostile)).toMatchObject({ code: "unknown_field", path: "__proto__" });
    expect(denialOf(Object.create({ collection: "r" }))).toMatchObject({ path: "collection" });
  });

  test("keeps a field with the name __proto__", () => {
    const reading = readResourceQuery(
      JSON.parse('{ "collection": "r", "filter": { "__proto__": { "in": [1] } } }'),
    );
    const filter = reading.ok ? (reading.query.filter ?? {}) : {};
    expect(Object.keys(filter)).toEqual(["__proto__"]);
    expect(Object.getPrototypeOf(filter)).toBe(Object.prototype);
    expect(matches(report({}), filter)).toBe(false);
    expect(matches(report(JSON.parse('{ "__proto__": 1 }')), filter)).toBe(true);
  });

  test("is accepted up to its limits on fields, names and values, and refused beyond these limits", () => {
    const fields = (count: number, length: number): { [field: string]: number } =>
      Object.fromEntries(
        Array.from({ length: count }, (_, at) => [String(at).padStart(length, "x"), 1]),
      );
    const ask = (filter: unknown): string | undefined =>
      denialOf({ collection: "x".repeat(256), filter })?.message;
    expect(ask(fields(32, 256))).toBeUndefined();
    expect(ask(fields(33, 1))).toBe("filter must have at most 32 fields, not 33");
    expect(ask(fields(1, 257))).toMatch(/^filter must have names of at most 256 characters, not/);
    expect(ask({ "\ud800": 1 })).toMatch(/^filter must have names of at most 256 characters, not/);
    expect(ask({ x: { in: new Array(256).fill("x".repeat(1024)) } })).toBeUndefined();
    expect(ask({ x: { in: new Array(257).fill(1) } })).toBe(
      '"filter.x.in" must be an array of 1 to 256 values, not 257',
    );
    const long = denialOf({ ["y".repeat(100_000)]: 1 });
    expect(long?.path.length).toBe(256);
    expect(long?.message.length).toBeLessThan(200);
  });

  test("is accepted or refused without an exception, whatever the value", () => {
    const anything = fc.anything({ withNullPrototype: true, withBigInt: true });
    fc.assert(
      fc.property(anything, anything, (collection, filter) => {
        for (const value of [collection, { collection }, { collection: "r", filter }]) {
          const reading = readResourceQuery(value);
          if (reading.ok) expect(reading.query).toEqual(value);
          else expect(reading.denial.message).not.toBe("");
        }
      }),
    );
  });
});
