import vm from "node:vm";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { NotPlainError, plainCopy, plainObject } from "../../src/checks/plain.js";
import { sized } from "../support/size.js";

function refusal(value: unknown, kind?: "data" | "arguments"): string {
  try {
    plainCopy(value, "hop", kind);
  } catch (error) {
    if (error instanceof NotPlainError) return error.message;
    throw error;
  }
  return "copied";
}

class Limits {
  get max(): number {
    return 1;
  }
}

class Items extends Array<number> {}

/** Values that would be read as having fewer properties than they hold, each with its name in the message. */
const LOSSY: readonly (readonly [string, () => unknown, string])[] = [
  ["a Promise", () => Promise.resolve({ max: 1 }), "a Promise: is an await missing?"],
  ["a Map", () => new Map([["max", 1]]), "a Map"],
  ["a Set", () => new Set([1]), "a Set"],
  ["Headers", () => new Headers({ max: "1" }), "a Headers"],
  ["FormData", () => new FormData(), "a FormData"],
  ["URLSearchParams", () => new URLSearchParams("max=1"), "a URLSearchParams"],
  ["a Date", () => new Date(0), "a Date"],
  ["an Error", () => new Error("max"), "an Error"],
  ["a RegExp", () => /1/, "a RegExp"],
  ["a Buffer", () => Buffer.from("1"), "a Uint8Array"],
  ["a String object", () => Object("1"), "a String"],
  ["a class with getters", () => new Limits(), "a Limits"],
  ["an array of another class", () => Items.from([1]), "must be a plain array"],
  [
    "an object that inherits everything",
    () => Object.create({ max: 1 }),
    "an object that inherits from another",
  ],
  [
    "an object that inherits a property",
    () => Object.assign(Object.create({ max: 1 }), { min: 0 }),
    "an object that inherits from another",
  ],
  [
    "an object that inherits from one without prototype",
    () => Object.create(Object.assign(Object.create(null), { max: 1 })),
    "an object that inherits from another",
  ],
  [
    "an object that inherits from another realm's prototype with a property",
    () => Object.create(Object.assign(Object.create(null), { isPrototypeOf: () => true, max: 1 })),
    "an object that inherits from another",
  ],
  [
    "a property that is not enumerable",
    () => Object.defineProperty({ min: 0 }, "max", { value: 1 }),
    "it has a property that is not enumerable: max",
  ],
  [
    "a property named by a symbol",
    () => ({ min: 0, [Symbol("max")]: 1 }),
    "it has a property named by a symbol",
  ],
  [
    "an array with a hole",
    () => Object.assign(Array(2), { 1: 2 }),
    "must be an array without holes",
  ],
  ["an array with a property", () => Object.assign([1], { max: 1 }), "without other properties"],
  [
    "an array with a hole and a property",
    () => Object.assign(Array(2), { 1: 2, max: 1 }),
    "without holes",
  ],
  ["an array with a length only", () => new Array(4_000_000_000), "must be an array without holes"],
  [
    "an array with an iterator",
    () => Object.assign([1], { [Symbol.iterator]: () => [].values() }),
    "without other properties",
  ],
  ["a function", () => () => 1, "not a function"],
  ["a symbol", () => Symbol("max"), "not a symbol"],
  ["a bigint", () => 1n, "not a bigint"],
];

describe("plainCopy refuses", () => {
  test.each(LOSSY)("%s at any depth, and names its path", (_, make, kind) => {
    for (const as of ["data", "arguments"] as const) {
      expect(refusal(make(), as)).toContain(kind);
      expect(refusal(make(), as)).toMatch(/^hop must be /);
      expect(refusal({ constraints: { amount: make() } }, as)).toMatch(
        /^hop\.constraints\.amount must be /,
      );
      expect(refusal([[0], [1, make()]], as)).toMatch(/^hop\[1\]\[1\] must be /);
    }
  });

  test.each([Number.NaN, Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY])(
    "%d in a hop, but keeps it in arguments",
    (value) => {
      expect(refusal({ max: value })).toBe(`hop.max must be a finite number, not ${value}`);
      expect(plainCopy({ max: value }, "hop", "arguments")).toEqual({ max: value });
    },
  );

  test("undefined in a hop, but leaves it out of arguments as JSON.stringify does", () => {
    const value = { a: { b: undefined, c: 1 } };
    expect(refusal(value)).toBe("hop.a.b is undefined; leave it out, or give it a value");
    expect(Object.keys(plainCopy(value, "hop", "arguments").a)).toEqual(["c"]);
    expect(refusal([undefined], "arguments")).toContain("hop[0] is undefined");
    expect(refusal(undefined)).toContain("hop is undefined");
  });

  test("a cyclic value, and a value nested more than 256 levels deep", () => {
    const cyclic: { [name: string]: unknown } = {};
    cyclic["self"] = [cyclic];
    const deep: unknown = JSON.parse(`${"[".repeat(50_000)}${"]".repeat(50_000)}`);
    for (const value of [cyclic, deep]) {
      expect(refusal(value)).toBe("hop must be nested at most 256 deep, and not hold itself");
    }
  });

  test("a value under a property name with a space or of 1,000 characters, and quotes or shortens the name", () => {
    expect(refusal({ "a b": new Map() })).toMatch(/^hop\["a b"\] must be a plain object/);
    expect(refusal({ ["x".repeat(1000)]: new Map() }).length).toBeLessThan(200);
  });
});

describe("plainCopy copies a plain value", () => {
  test("from a vm context, which has its own Object and Array", () => {
    const value: unknown = vm.runInNewContext('({ a: { b: [1, { c: "x" }] }, d: null })');
    expect(Object.getPrototypeOf(value)).not.toBe(Object.prototype);
    expect(plainCopy(value, "hop")).toStrictEqual({ a: { b: [1, { c: "x" }] }, d: null });
    expect(refusal(vm.runInNewContext("new Map()"))).toBe("hop must be a plain object, not a Map");
    expect(refusal(vm.runInNewContext("Object.create({ max: 1 })"))).toContain("inherits");
    expect(refusal(vm.runInNewContext("new (class Own extends Array {})()"))).toContain("array");
  });

  test("that is frozen and has no prototype, or that has a property named __proto__", () => {
    const bare = Object.freeze(Object.assign(Object.create(null), { a: 1 }));
    expect(plainCopy(bare, "hop")).toEqual({ a: 1 });
    const own: unknown = JSON.parse('{"__proto__":{"max":[1]},"b":2}');
    const copy = plainCopy(own, "hop");
    expect(JSON.stringify(copy)).toBe('{"__proto__":{"max":[1]},"b":2}');
    expect(Object.getPrototypeOf(copy)).toBe(Object.prototype);
  });

  test("by reading each property once, also of a Proxy", () => {
    const reads: string[] = [];
    const value = new Proxy(
      { a: 1, b: { c: 2 } },
      {
        get(target, name, receiver) {
          reads.push(String(name));
          return Reflect.get(target, name, receiver);
        },
      },
    );
    expect(plainCopy(value, "hop")).toEqual({ a: 1, b: { c: 2 } });
    expect(reads).toEqual(["a", "b"]);
  });
});

test("plainObject refuses an array, and keeps a Map in a property, since it checks the top level only", () => {
  const map = new Map();
  expect(plainObject({ map }, "options")).toEqual({ map });
  expect(plainObject({ map }, "options").map).toBe(map);
  expect(() => plainObject([], "options")).toThrow(
    new NotPlainError("options must be a plain object, not an array"),
  );
});

describe("for random JSON", () => {
  const RUNS = sized(2000);
  const json = fc.jsonValue({ maxDepth: 6 });

  /** Returns every object and array within a value, with the path to it. */
  function nodes(
    value: unknown,
    steps: readonly (string | number)[] = [],
  ): [object, typeof steps][] {
    if (typeof value !== "object" || value === null) return [];
    const inner = Array.isArray(value) ? [...value.entries()] : Object.entries(value);
    return [[value, steps], ...inner.flatMap(([step, one]) => nodes(one, [...steps, step]))];
  }

  test("plainCopy returns an equal copy that shares no object or array with the original", () => {
    fc.assert(
      fc.property(json, (value) => {
        const copy = plainCopy(value, "hop");
        expect(JSON.stringify(copy)).toBe(JSON.stringify(value));
        const originals = new Set(nodes(value).map(([node]) => node));
        for (const [node] of nodes(copy)) expect(originals.has(node)).toBe(false);
      }),
      { numRuns: RUNS },
    );
  });

  test("plainCopy refuses a value that is not plain, anywhere in the JSON", () => {
    const anywhere = fc.tuple(json, fc.nat(), fc.nat({ max: LOSSY.length - 1 }));
    fc.assert(
      fc.property(anywhere, ([value, place, which]) => {
        const found = nodes(value);
        const node = found[place % Math.max(1, found.length)]?.[0];
        const [, make, kind] = LOSSY[which] ?? ["", () => undefined, ""];
        if (Array.isArray(node)) node.push(make());
        else if (node !== undefined)
          Object.defineProperty(node, "n", { value: make(), enumerable: true });
        expect(refusal(node === undefined ? make() : value)).toContain(kind);
      }),
      { numRuns: RUNS },
    );
  });

  test("plainCopy refuses an object with inherited, hidden or symbol properties, anywhere in the JSON", () => {
    const spoil: readonly ((node: object) => void)[] = [
      (node) => Object.setPrototypeOf(node, { extra: 1 }),
      (node) => Object.defineProperty(node, "hidden", { value: 1 }),
      (node) => Object.defineProperty(node, Symbol("s"), { value: 1, enumerable: true }),
    ];
    fc.assert(
      fc.property(fc.tuple(json, fc.nat(), fc.nat({ max: 2 })), ([value, place, how]) => {
        const found = nodes(value);
        const [node, steps] = found[place % Math.max(1, found.length)] ?? [];
        if (node === undefined || steps === undefined) return;
        spoil[how]?.(node);
        const [last] = steps.slice(-1);
        const end = typeof last === "number" ? `[${last}]` : "";
        expect(refusal(value)).toContain(`${end} must be`);
      }),
      { numRuns: RUNS },
    );
  });
});
