import { describe, expect, test } from "vitest";
import { intersectHop, overreaches } from "../../src/caveats/attenuation.js";
import type { Hop } from "../../src/caveats/hop.js";
import { meetOf } from "../../src/caveats/meet.js";

const JAN_1 = "2030-01-01T00:00:00Z";
const JAN_2 = "2030-01-02T00:00:00Z";

describe("attenuation accepts a hop at the edge of the token", () => {
  test.each<[string, Hop, Hop]>([
    [
      "the same lower bound",
      { constraints: { a: { min: 5 } } },
      { constraints: { a: { min: 5 } } },
    ],
    ["a value at the bound", { constraints: { a: { min: 5 } } }, { constraints: { a: 5 } }],
    ["a value above the bound", { constraints: { a: { min: 5 } } }, { constraints: { a: 6 } }],
    [
      "null where null is allowed",
      { constraints: { a: { in: [null, "x"] } } },
      { constraints: { a: null } },
    ],
    [
      "a limit on further hops where the token has none",
      { operations: ["a"] },
      { maxFurtherHops: 9 },
    ],
    ["the same times", { expires: JAN_2, notBefore: JAN_1 }, { expires: JAN_2, notBefore: JAN_1 }],
  ])("%s", (_, parent, hop) => {
    expect(overreaches(meetOf([[parent]]), hop)).toEqual([]);
  });
});

test("overreaches suggests no number in place of a value of another type", () => {
  const authority = meetOf([[{ constraints: { a: { max: 10 } } }]]);
  const [found] = overreaches(authority, { constraints: { a: true } });
  expect(found).toMatchObject({ rule: "constraints.a", value: true, allowed: { max: 10 } });
  expect(found).not.toHaveProperty("nearest");
});

test("overreaches suggests the nearest string from a list of mixed types", () => {
  const authority = meetOf([[{ constraints: { a: { in: [1, null, "retrieve", true] } } }]]);
  const [found] = overreaches(authority, { constraints: { a: "retreive" } });
  expect(found).toMatchObject({ value: "retreive", nearest: "retrieve" });
});

describe("at most 16 overreaches are reported", () => {
  const names = Array.from({ length: 20 }, (_, at) => `name${10 + at}`);

  test("for several rules together", () => {
    const authority = meetOf([[{ audience: ["x"], maxFurtherHops: 0, operations: ["x"] }]]);
    expect(overreaches(authority, { audience: names, operations: names })).toHaveLength(16);
  });

  test("for arguments that would have no value left", () => {
    const limits = (value: string) =>
      Object.fromEntries(names.map((name) => [name, { not_in: [value] }]));
    const authority = meetOf([
      [{ constraints: Object.fromEntries(names.map((name) => [name, "a"])) }],
    ]);
    expect(overreaches(authority, { constraints: limits("a") })).toHaveLength(16);
    expect(overreaches(authority, { constraints: limits("b") })).toEqual([]);
  });
});

describe("intersectHop keeps what does not go beyond the token:", () => {
  test.each<[string, Hop, Hop, Hop]>([
    ["a start that is later", { notBefore: JAN_1 }, { notBefore: JAN_2 }, { notBefore: JAN_2 }],
    ["an expiry where the token has none", {}, { expires: JAN_2 }, { expires: JAN_2 }],
    ["a hop without maxFurtherHops", { maxFurtherHops: 5 }, { purpose: "a" }, { purpose: "a" }],
    ["maxFurtherHops where the token has none", {}, { maxFurtherHops: 5 }, { maxFurtherHops: 5 }],
    [
      "a limit on another argument",
      { constraints: { a: 1 } },
      { constraints: { b: { max: 2 } } },
      { constraints: { b: { max: 2 } } },
    ],
    [
      "a limit to null",
      { constraints: { a: { in: [null, "x"] } } },
      { constraints: { a: null } },
      { constraints: { a: null } },
    ],
    [
      "exclusions, which are sorted together with the token's exclusions",
      { constraints: { a: { not_in: ["b", "d"] } } },
      { constraints: { a: { not_in: ["a", "c"] } } },
      { constraints: { a: { not_in: ["a", "b", "c", "d"] } } },
    ],
  ])("%s", (_, parent, hop, expected) => {
    expect(intersectHop(meetOf([[parent]]), hop)).toStrictEqual(expected);
  });
});
