import { describe, expect, test } from "vitest";
import { allowsArgument } from "../../src/caveats/argument-domain.js";
import { intersectHop } from "../../src/caveats/attenuation.js";
import type { ArgumentConstraint, Hop } from "../../src/caveats/hop.js";
import { judgeHop } from "../../src/caveats/judge.js";
import { meetOf } from "../../src/caveats/meet.js";
import { authorityOver, leftOfArgument } from "../../src/caveats/operation-authority.js";
import { normalizeHop } from "../../src/caveats/write-hop.js";
import { asked } from "./support.js";

/** Returns a hop that limits the argument `x` of the operation `get`. */
function limiting(x: ArgumentConstraint): Hop {
  return normalizeHop({ operationConstraints: { get: { x } } });
}

/** Lowers a limit to what the token's limit leaves, and returns it as a hop contains it. */
function lowered(token: ArgumentConstraint, wanted: ArgumentConstraint): unknown {
  const hop = intersectHop(meetOf([[limiting(token)]]), limiting(wanted));
  return hop.operationConstraints?.["get"]?.["x"];
}

describe("intersectHop writes a limit lowered to the token's limit", () => {
  test.each<[string, ArgumentConstraint, ArgumentConstraint, unknown]>([
    ["as a single value, if only one is left", { max: 5 }, { in: [5, 9] }, 5],
    ["as the value null, if only that is left", { in: [null, 1] }, { in: [null, 2] }, null],
    ["as a list, if several values are left", { max: 5 }, { in: [3, 5, 9] }, { in: [3, 5] }],
    [
      "as a list of one value, if a call may leave the argument out",
      { max: 5, optional: true },
      { in: [5, 9], optional: true },
      { in: [5], optional: true },
    ],
    [
      "with optional, if both have it",
      { max: 5, optional: true },
      { min: 1, optional: true },
      { max: 5, min: 1, optional: true },
    ],
    [
      "without optional, if only one has it",
      { max: 5, optional: true },
      { min: 1 },
      { max: 5, min: 1 },
    ],
    [
      "as absent, if both are optional and no value is left",
      { in: ["a"], optional: true },
      { in: ["b"], optional: true },
      { absent: true },
    ],
    [
      "as absent, if the token's limit is absent and the hop's limit is optional",
      { absent: true },
      { max: 5, optional: true },
      { absent: true },
    ],
    ["unchanged, if nothing is left", { max: 5 }, { min: 6 }, { min: 6 }],
    [
      "with the operators of both",
      { prefix: "a" },
      { not_in: ["ab"] },
      { not_in: ["ab"], prefix: "a" },
    ],
    ["with the deeper folder", { path: "/data/a" }, { path: "/data" }, { path: "/data/a" }],
    [
      "with both bounds on the number of elements",
      { items: { max: 5 } },
      { items: { min: 1 } },
      { items: { min: 1, max: 5 } },
    ],
    [
      "with only the least number of elements",
      { items: { min: 2 } },
      { items: { min: 1 } },
      { items: { min: 2 } },
    ],
    [
      "with only the greatest number of elements",
      { items: { max: 2 } },
      { items: { max: 3 } },
      { items: { max: 2 } },
    ],
    [
      "with a bound that every array satisfies, if there is no other limit",
      { items: { min: 0 } },
      { items: { max: 256 } },
      { items: { min: 0 } },
    ],
    [
      "without a bound that every array satisfies, if elements are limited",
      { items: { max: 256 } },
      { each: { max: 5 } },
      { each: { max: 5 } },
    ],
    [
      "with both the limit on elements and the limit on their number",
      { items: { max: 3 } },
      { each: { in: ["a", "b"] } },
      { each: { in: ["a", "b"] }, items: { max: 3 } },
    ],
    [
      "as the empty array, if nothing is left for elements",
      { each: { in: ["a"] } },
      { each: { in: ["b"] } },
      { items: { max: 0 } },
    ],
    [
      "with a list for elements, also of one value",
      { each: { in: ["a", "b"] } },
      { each: { in: ["b", "c"] } },
      { each: { in: ["b"] } },
    ],
    [
      "with the number of elements of arrays in arrays",
      { each: { items: { max: 3 } } },
      { each: { items: { min: 1 } } },
      { each: { items: { min: 1, max: 3 } } },
    ],
    [
      "with the parts of a URL that both allow",
      { url: { schemes: ["http", "https"], hosts: [".example"], path: "/v1" } },
      { url: { schemes: ["https"], hosts: ["b.example", "a.example"] } },
      { url: { schemes: ["https"], hosts: ["a.example", "b.example"], path: "/v1" } },
    ],
  ])("%s", (_, token, wanted, written) => {
    expect(lowered(token, wanted)).toEqual(written);
  });
});

describe("leftOfArgument and judgeHop allow the same values for a limit to", () => {
  test.each<[string, ArgumentConstraint, readonly unknown[], readonly unknown[]]>([
    ["strings with a prefix", { prefix: "DE" }, ["DE", "DE02"], ["FR", "02DE", 7, null, ["DE"]]],
    ["paths in a folder", { path: "/data" }, ["/data/a"], ["/data/../a", "/etc", 7, ["/data"]]],
    ["numbers within bounds", { min: 1, max: 5 }, [1, 5], [0, 6, "3", [3], {}]],
    ["a value that is listed", { in: ["a", null] }, ["a", null], ["b", true, ["a"], undefined]],
    ["strings of at most 4096 code units", { prefix: "x" }, ["x".repeat(4096)], ["x".repeat(4097)]],
    [
      "arrays within bounds on their number of elements",
      { items: { min: 1, max: 2 } },
      [["a"], ["a", {}]],
      [[], ["a", "b", "c"], "ab", 1, { length: 1 }],
    ],
    [
      "arrays of at most 256 elements",
      { items: { min: 0 } },
      [[], new Array(256).fill(0)],
      [new Array(257).fill(0)],
    ],
    [
      "arrays whose elements are all allowed",
      { each: { max: 5 } },
      [[], [5], [1, 2]],
      [[1, 6], [6, 1], ["1"], [[1]], 1],
    ],
    [
      "arrays of arrays within bounds",
      { each: { items: { max: 1 } } },
      [[[]], [["a"], []]],
      [[["a", "b"]], ["a"], "a"],
    ],
  ])("%s", (_, limit, allowed, refused) => {
    const checked = (x: unknown): boolean =>
      judgeHop(limiting(limit), asked({ operation: "get", arguments: { x } }), 0).length === 0;
    const left = leftOfArgument(authorityOver("get", meetOf([[limiting(limit)]])), "x");
    const isLeft = (x: unknown): boolean => allowsArgument(left, x);
    const values = [...allowed, ...refused];
    expect(values.filter(checked)).toEqual(allowed);
    expect(values.filter(isLeft)).toEqual(allowed);
  });
});
