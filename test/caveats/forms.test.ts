import { describe, expect, test } from "vitest";
import { allows, type Domain, domainOf, limitFrom, meetDomains } from "../../src/caveats/domain.js";
import type { Constraint } from "../../src/caveats/hop.js";
import { checkInvocation } from "../../src/caveats/invocation.js";
import { emptyRules } from "../../src/caveats/meet.js";
import { shown } from "../../src/caveats/scalar.js";
import { formatTime, parseTime } from "../../src/caveats/time.js";
import { nearest } from "../../src/checks/nearest.js";
import { asked, misuse, NOW } from "./support.js";

// These tests check the exact properties of every result: none is undefined, and there are no additional properties.

describe("the domain of a limit", () => {
  test.each<[string, Constraint, Domain]>([
    ["a single value", "a", { types: ["string"], in: ["a"] }],
    ["null", null, { types: ["null"], in: [null] }],
    [
      "an array, with its types in order",
      { in: ["a", 1, null, true] },
      {
        types: ["boolean", "null", "number", "string"],
        in: ["a", 1, null, true],
      },
    ],
    ["bounds", { max: 2, min: 1 }, { types: ["number"], min: 1, max: 2 }],
    ["one bound", { min: 1 }, { types: ["number"], min: 1 }],
    ["an exclusion", { not_in: ["a"] }, { types: ["string"], not_in: ["a"] }],
    ["the exclusion of one boolean", { not_in: [true] }, { types: ["boolean"], not_in: [true] }],
    [
      "the exclusion of the other boolean",
      { not_in: [false] },
      { types: ["boolean"], not_in: [false] },
    ],
    ["a limit that allows nothing", { max: 1, min: 2 }, { types: [] }],
    ["an array with nothing left", { in: ["a"], not_in: ["a"] }, { types: [] }],
    ["an exclusion that leaves nothing", { not_in: [null] }, { types: [] }],
  ])("for %s, %j, is %j", (_, limit, domain) => {
    expect(domainOf(limit)).toStrictEqual(domain);
  });

  test("of an exclusion and a bound together keeps the types of the bound", () => {
    const both = meetDomains(domainOf({ max: 9 }), domainOf({ not_in: ["a", 3] }));
    expect(both).toStrictEqual({ types: ["number"], max: 9, not_in: [3] });
  });
});

test.each<[string, Domain, Constraint | undefined]>([
  ["an array", { types: ["string"], in: ["a", "b"] }, { in: ["a", "b"] }],
  ["bounds", { types: ["number"], min: 1, max: 2 }, { max: 2, min: 1 }],
  ["an upper bound", { types: ["number"], max: 2 }, { max: 2 }],
  ["an exclusion", { types: ["string"], not_in: ["a"] }, { not_in: ["a"] }],
  ["any number", { types: ["number"] }, undefined],
  ["an empty domain, which no limit expresses", { types: [] }, undefined],
])(
  "limitFrom writes a domain as a limit, if a limit can express the domain: %s",
  (_, domain, limit) => {
    expect(limitFrom(domain)).toStrictEqual(limit);
  },
);

test.each<[Constraint, unknown, boolean]>([
  [{ min: 2 }, 1.9, false],
  [{ min: 2 }, 2, true],
  [{ min: 2 }, 3, true],
  [{ max: 2 }, 2, true],
  [{ max: 2 }, 2.1, false],
  [{ not_in: [null, "a"] }, "b", true],
  [{ in: [null] }, null, true],
  [{ in: [null] }, undefined, false],
])("the domain of %j contains the value %j: %j", (limit, value, expected) => {
  expect(allows(domainOf(limit), value)).toBe(expected);
});

describe("emptyRules names, for times and further hops,", () => {
  const early = "2030-01-01T00:00:00Z";
  const late = "2030-01-01T00:00:01Z";

  test.each([
    ["none if there is time between start and end", { notBefore: early, expires: late }, []],
    ["none for a start without an end", { notBefore: early }, []],
    [
      "notBefore if start and end are the same",
      { notBefore: early, expires: early },
      ["notBefore"],
    ],
    ["notBefore if the start is after the end", { notBefore: late, expires: early }, ["notBefore"]],
    ["none if no further hop is allowed", { furtherHops: 0 }, []],
    ["maxFurtherHops if there is one hop too many", { furtherHops: -1 }, ["maxFurtherHops"]],
  ])("%s", (_, authority, rules) => {
    expect(emptyRules(authority)).toEqual(rules);
  });
});

describe("parseTime and formatTime", () => {
  test("refuse timestamps of impossible dates and of years past 9999", () => {
    expect(parseTime("+010000-01-01T00:00:00Z")).toBeUndefined();
    for (const none of ["2026-02-29", "2026-04-31", "2026-13-01", "2026-00-10", "2026-01-00"]) {
      expect(parseTime(`${none}T00:00:00Z`)).toBeUndefined();
    }
    for (const none of ["24:00:00", "25:00:00", "23:60:00", "23:59:60"]) {
      expect(parseTime(`2026-01-01T${none}Z`)).toBeUndefined();
    }
    for (const none of ["2026.01-01T00:00:00Z", "2026-01-01T00:00:00z", "203/-01-01T00:00:00Z"]) {
      expect(parseTime(none)).toBeUndefined();
    }
    expect(parseTime("2028-02-29T23:59:59Z")).toBe(Date.UTC(2028, 1, 29, 23, 59, 59));
    expect(parseTime("0000-01-01T00:00:00Z")).toBe(Date.parse("0000-01-01T00:00:00Z"));
    expect(misuse(() => formatTime(Date.UTC(10_000, 0)))).toContain("does not have four digits");
  });

  test("do not write NaN as a timestamp", () => {
    expect(misuse(() => formatTime(Number.NaN))).toBe("not a moment in time");
  });
});

describe("checkInvocation", () => {
  test("returns only properties that were given, and defaults", () => {
    const checked = checkInvocation({ operation: "get" }, () => NOW);
    expect(checked).toEqual({
      operation: "get",
      resourceHandles: [],
      arguments: {},
      time: "2030-01-01T00:00:00Z",
      moment: NOW,
    });
    const whole = { invoker: "agent:a", audience: "mail", resourceHandles: ["rh"] };
    expect(asked(whole)).toMatchObject(whole);
  });

  test("names a misspelt property and the nearest known property", () => {
    expect(misuse(() => asked({ operations: ["get"] } as object))).toBe(
      'invocation.operations: unknown property; did you mean "operation"?',
    );
  });
});

describe("the limits on names and values in messages are inclusive:", () => {
  test("64 characters for a suggestion", () => {
    const name = "x".repeat(64);
    expect(nearest(`${name.slice(1)}y`, [name])).toBe(name);
  });

  test("80 characters for a value shown", () => {
    const [most, more] = ["a".repeat(78), "a".repeat(79)];
    expect(shown(most)).toBe(`"${most}"`);
    expect(shown(more)).toHaveLength(80);
    expect(shown(more)).toMatch(/a\.\.\.$/);
  });
});
