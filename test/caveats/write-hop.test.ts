import { describe, expect, test } from "vitest";
import type { HopInit } from "../../src/caveats/hop.js";
import { encodeHop, normalizeHop } from "../../src/caveats/write-hop.js";
import { misuse } from "./support.js";

// `init` is any value, since calling code without types, or without exactOptionalPropertyTypes, may pass any.

function written(init: unknown): string {
  return new TextDecoder().decode(encodeHop(init as HopInit));
}

describe("a hop is written in canonical form", () => {
  test.each<[string, HopInit, string]>([
    [
      "keys in order",
      { operations: ["a"], audience: ["b"] },
      '{"audience":["b"],"operations":["a"]}',
    ],
    ["sets sorted, without repeats", { operations: ["b", "a", "b"] }, '{"operations":["a","b"]}'],
    [
      "sets by UTF-16 code units",
      { invokers: ["\uFFFF", "\u{10000}", "é", "e"] },
      '{"invokers":["e","é","\u{10000}","\uFFFF"]}',
    ],
    [
      "lists by canonical text, without repeats",
      { constraints: { x: { in: [true, 10, 9, "b", "a", null, 9] } } },
      '{"constraints":{"x":{"in":["a","b",10,9,null,true]}}}',
    ],
    ["negative zero as zero", { constraints: { x: -0 } }, '{"constraints":{"x":0}}'],
    [
      "zeros of both signs once",
      { constraints: { x: { not_in: [0, -0] } } },
      '{"constraints":{"x":{"not_in":[0]}}}',
    ],
    [
      "the argument __proto__",
      { constraints: JSON.parse('{"b":1,"__proto__":{"max":2}}') },
      '{"constraints":{"__proto__":{"max":2},"b":1}}',
    ],
  ])("%s", (_, init, text) => {
    expect(written(init)).toBe(text);
    expect(normalizeHop(init)).toEqual(JSON.parse(text));
  });

  test("without changing the object given", () => {
    const init = { operations: ["b", "a"], constraints: { x: { in: [2, 1] } } };
    normalizeHop(init);
    expect(init).toEqual({ operations: ["b", "a"], constraints: { x: { in: [2, 1] } } });
  });
});

describe("a Date is rounded in the direction that narrows", () => {
  test.each([
    ["2030-01-01T00:00:00.000Z", "2030-01-01T00:00:00Z", "2030-01-01T00:00:00Z"],
    ["2030-01-01T00:00:00.001Z", "2030-01-01T00:00:00Z", "2030-01-01T00:00:01Z"],
    ["2030-01-01T00:00:00.999Z", "2030-01-01T00:00:00Z", "2030-01-01T00:00:01Z"],
    ["1969-12-31T23:59:59.500Z", "1969-12-31T23:59:59Z", "1970-01-01T00:00:00Z"],
  ])("%s becomes %s as expires and %s as notBefore", (date, expires, notBefore) => {
    const hop = normalizeHop({ expires: new Date(date), notBefore: new Date(date) });
    expect(hop).toEqual({ expires, notBefore });
  });
});

const cyclic: { [name: string]: unknown } = {};
cyclic["self"] = cyclic;

describe("a wrong hop is a TypeError that names the key", () => {
  test.each<[string, unknown, string]>([
    ["an empty object", {}, "a hop must have at least one of operations, "],
    ["undefined", { operations: undefined }, "hop.operations is undefined; leave it out"],
    ["not an object", null, "hop must be a plain object with operations, "],
    ["an array", [], "hop must be a plain object, not an array"],
    [
      "a misspelt key",
      { operation: ["a"] },
      'hop.operation: unknown property; did you mean "operations"?',
    ],
    ["a key from elsewhere", { scope: "a" }, "hop.scope: unknown property; there are operations, "],
    ["a reserved key", { cnf: {} }, "hop.cnf: unknown property"],
    ["an own __proto__", JSON.parse('{"__proto__":1}'), "hop.__proto__: unknown property"],
    [
      "a string for a set",
      { operations: "a" },
      '"operations" must be a non-empty array of strings',
    ],
    ["an empty set", { invokers: [] }, '"invokers" must be a non-empty array of strings'],
    ["numbers in a set", { audience: [1] }, '"audience" must be a non-empty array of strings'],
    ["a hole in a set", { audience: new Array(2) }, "hop.audience must be an array without holes"],
    ["a lone surrogate in a set", { operations: ["\ud800"] }, '"operations" cannot be written'],
    ["a lone surrogate in a purpose", { purpose: "\udc00" }, '"purpose" cannot be written'],
    ["an invalid Date", { expires: new Date("never") }, '"expires" cannot be written'],
    ["a Date past 9999", { notBefore: new Date(253402300799001) }, '"notBefore" cannot be written'],
    ["a time in words", { expires: "tomorrow" }, '"expires" must be a time such as'],
    [
      "a fraction as maxFurtherHops",
      { maxFurtherHops: 0.5 },
      '"maxFurtherHops" must be a whole number',
    ],
    ["a short nonce", { nonce: "x" }, '"nonce" must be 16 base64url characters'],
    ["an empty limit", { constraints: {} }, '"constraints" must be an object with at least one'],
    [
      "a misspelt operator",
      { constraints: { a: { maxx: 1 } } },
      'unknown operator "maxx" in "constraints.a"; did you mean "max"?',
    ],
    ["an array for a limit", { constraints: { a: [1] } }, '"constraints.a" must be a value'],
    [
      "an infinite bound",
      { constraints: { a: { max: Number.POSITIVE_INFINITY } } },
      "hop.constraints.a.max must be a finite number, not Infinity",
    ],
    ["NaN", { constraints: { a: Number.NaN } }, "hop.constraints.a must be a finite number"],
    [
      "a bigint",
      { constraints: { a: { in: [1n] } } },
      "hop.constraints.a.in[0] must be a string, ",
    ],
    ["a function", { constraints: { a: () => 1 } }, "hop.constraints.a must be a string, "],
    ["a cycle", { constraints: { a: cyclic } }, "hop.constraints must be nested at most 256 deep"],
  ])("%s", (_, init, message) => {
    expect(misuse(() => written(init))).toContain(message);
  });

  test("and names every key if several values are wrong", () => {
    const message = misuse(() => written({ operations: [], nonce: "x" }));
    expect(message).toMatch(/"nonce" must be .*; "operations" must be /);
  });
});
