import declared from "canonicalize";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import {
  canonicalBytes,
  canonicalCopy,
  canonicalJson,
  duplicateKey,
  isDeeperThan,
  isJsonObject,
  isTexts,
  type Json,
  outlineJson,
  readCanonicalJson,
  textsIn,
} from "../../src/bytes/json.js";
import { anyCharacter } from "../support/any-character.js";
import { sized } from "../support/size.js";

// The type declarations of canonicalize describe an ES module, but the package is CommonJS.
const canonicalize = declared as unknown as (value: unknown) => string | undefined;

// Numbers of RFC 8785, appendix B, and numbers at the limits of ECMAScript's number notation.
const NUMBERS: readonly [number, string][] = [
  [0, "0"],
  [-0, "0"],
  [5e-324, "5e-324"],
  [-5e-324, "-5e-324"],
  [1.7976931348623157e308, "1.7976931348623157e+308"],
  [9007199254740992, "9007199254740992"],
  [-9007199254740992, "-9007199254740992"],
  [295147905179352830000, "295147905179352830000"],
  [9.999999999999997e22, "9.999999999999997e+22"],
  [1e23, "1e+23"],
  [1.0000000000000001e23, "1.0000000000000001e+23"],
  [999999999999999700000, "999999999999999700000"],
  [1e21, "1e+21"],
  [9.999999999999997e-7, "9.999999999999997e-7"],
  [0.000001, "0.000001"],
  [333333333.3333332, "333333333.3333332"],
  [333333333.33333325, "333333333.33333325"],
  [-0.0000033333333333333333, "-0.0000033333333333333333"],
  [1424953923781206.2, "1424953923781206.2"],
];

describe("canonical JSON", () => {
  test.each(NUMBERS)("writes the number %d as %s", (number, text) => {
    expect(canonicalJson(number)).toBe(text);
  });

  test("sorts properties by UTF-16 code units (RFC 8785, 3.2.3)", () => {
    // U+1F600 sorts before U+FB33 by code units (d83d < fb33), and after it by code points.
    const names = ["\u20ac", "\r", "\ufb33", "1", "\u{1f600}", "\u0080", "\u00f6"];
    const value = Object.fromEntries(names.map((name) => [name, 0]));
    const sorted = ["\r", "1", "\u0080", "\u00f6", "\u20ac", "\u{1f600}", "\ufb33"];
    expect(Object.keys(JSON.parse(canonicalJson(value)))).toEqual(
      // JSON.parse puts integer-like names first.
      ["1", ...sorted.filter((name) => name !== "1")],
    );
    expect(canonicalJson(value)).toBe(
      `{${sorted.map((name) => `${JSON.stringify(name)}:0`).join(",")}}`,
    );
  });

  test.each<[string, Json, string]>([
    [
      "integer-like names, sorted as strings",
      { 10: 0, 9: 0, "": 0, "-1": 0 },
      '{"":0,"-1":0,"10":0,"9":0}',
    ],
    ["nesting", { b: [{ d: 1, c: 2 }], a: {} }, '{"a":{},"b":[{"c":2,"d":1}]}'],
    ["arrays in their order", [3, 1, [2], []], "[3,1,[2],[]]"],
    ["literals", [null, true, false], "[null,true,false]"],
    [
      "escapes",
      '\b\t\n\f\r"\\/\u0000\u001f\u007f\u2028é',
      '"\\b\\t\\n\\f\\r\\"\\\\/\\u0000\\u001f\u007f\u2028é"',
    ],
    ["a member named __proto__", JSON.parse('{"b":1,"__proto__":2}'), '{"__proto__":2,"b":1}'],
  ])("writes %s", (_about, value, text) => {
    expect(canonicalJson(value)).toBe(text);
  });

  test("leaves undefined properties out, as JSON.stringify does", () => {
    const constraint: { min?: number; max?: number } = { min: undefined, max: 5 };
    const value = { amount: { ...constraint }, list: [{}] };
    // A type with optional properties is not assignable to Json; calling code passes such objects inside other
    // objects.
    expect(canonicalJson(Object.assign({}, value))).toBe('{"amount":{"max":5},"list":[{}]}');
    expect(canonicalCopy(Object.assign({}, value))).toStrictEqual({
      amount: { max: 5 },
      list: [{}],
    });
  });

  test("agrees with the npm package canonicalize for any JSON", () => {
    const json = fc.jsonValue({ stringUnit: anyCharacter, maxDepth: 4 });
    const number = fc.oneof(
      fc.double({ noNaN: true, noDefaultInfinity: true }),
      fc.integer().map((exponent) => 10 ** (exponent % 300)),
    );
    const name = fc.string({ unit: anyCharacter, maxLength: 3 });
    const value = fc.oneof(json, number, fc.dictionary(name, number, { noNullPrototype: true }));
    fc.assert(
      fc.property(value, (any) => {
        expect(canonicalJson(any as Json)).toBe(canonicalize(any));
      }),
      { numRuns: sized(1000) },
    );
  });

  test("is unchanged when parsed and written again", () => {
    fc.assert(
      fc.property(fc.jsonValue({ stringUnit: anyCharacter }), (any) => {
        const text = canonicalJson(any as Json);
        expect(canonicalJson(JSON.parse(text))).toBe(text);
      }),
    );
  });

  type Reading = "returns a value" | "returns undefined" | "throws";
  const readingOf = (text: string): Reading => {
    try {
      return readCanonicalJson(text) === undefined ? "returns undefined" : "returns a value";
    } catch {
      return "throws";
    }
  };
  test.each<[string, Reading]>([
    ['{"a":1,"b":[{"c":null},"d"]}', "returns a value"],
    ['{"b":1,"a":1}', "returns undefined"],
    ['[{"a":{"c":1,"b":1}}]', "returns undefined"],
    ['{"1":0,"10":0,"2":0}', "returns a value"],
    ['{"1":0,"2":0,"10":0}', "returns undefined"],
    ['{"a":1,"a":1}', "returns undefined"],
    ['{"__proto__":1,"a":2}', "returns a value"],
    ['{"a": 1}', "returns undefined"],
    ['{"a":1.0}', "returns undefined"],
    ["-0", "returns undefined"],
    ["1e21", "returns undefined"],
    ["1e+21", "returns a value"],
    ['"\\ud800"', "throws"],
    ['{"\\udc00":1}', "throws"],
    ['"\\\\ud800"', "returns a value"],
    ['"\\u00e9"', "returns undefined"],
    ['"\\u001f"', "returns a value"],
    ['"\\u001F"', "returns undefined"],
    ['{"a":1', "throws"],
  ])("is required by readCanonicalJson: readCanonicalJson(%j) %s", (text, expected) => {
    expect(readingOf(text)).toBe(expected);
  });

  test("parses to what canonicalCopy returns, with properties in the same order", () => {
    fc.assert(
      fc.property(fc.jsonValue({ stringUnit: anyCharacter }), (any) => {
        const value = any as Json;
        expect(canonicalCopy(value)).toEqual(JSON.parse(canonicalJson(value)));
        expect(JSON.stringify(canonicalCopy(value))).toBe(
          JSON.stringify(JSON.parse(canonicalJson(value))),
        );
      }),
      { numRuns: sized(1000) },
    );
    const odd = JSON.parse('{"b":-0,"__proto__":{"d":1,"c":[-0]}}');
    expect(JSON.stringify(canonicalCopy(odd))).toBe('{"__proto__":{"c":[0],"d":1},"b":0}');
    expect(Object.is(canonicalCopy(-0), 0)).toBe(true);
  });

  test("is written in UTF-8 by canonicalBytes", () => {
    expect(Buffer.from(canonicalBytes({ é: "😀" })).toString()).toBe('{"é":"😀"}');
  });

  test.each<[string, unknown]>([
    ["NaN", Number.NaN],
    ["infinity", [Number.POSITIVE_INFINITY]],
    ["minus infinity", { a: Number.NEGATIVE_INFINITY }],
    ["undefined", undefined],
    ["an undefined item", [undefined]],
    ["a hole in an array", new Array(1)],
    ["a function", () => {}],
    ["a symbol", Symbol("s")],
    ["a bigint", 1n],
    ["a lone surrogate", "\ud800"],
    ["a lone low surrogate in a name", { "\udc00": 1 }],
    ["surrogates in the wrong order", "\udc00\ud800"],
  ])("refuses %s with a TypeError", (_about, value) => {
    expect(() => canonicalJson(value as Json)).toThrow(TypeError);
  });
});

describe("isJsonObject", () => {
  test.each<[Json, boolean]>([
    [{}, true],
    [{ a: 1 }, true],
    [[], false],
    [null, false],
    ["{}", false],
    [0, false],
  ])("of %j is %s", (value, expected) => {
    expect(isJsonObject(value)).toBe(expected);
  });
});

describe("outlineJson of", () => {
  test.each<[string, number, number, boolean]>([
    ["", 0, 0, false],
    ["1", 0, 0, false],
    ["{}", 1, 0, false],
    ["[]", 1, 1, false],
    ["[1,2,3]", 1, 3, false],
    ['{"a":1,"b":2,"c":3}', 1, 0, false],
    ['{"a":[1,2],"b":[1,2,3,{"c":[]}]}', 4, 4, false],
    ['"[[["', 0, 0, false],
    ['["\\"[[", 1]', 1, 2, false],
    ['["\\\\", "]"]', 1, 2, false],
    ["[", 1, 1, true],
    ['{"a', 1, 0, true],
    ['"', 0, 0, true],
    ['"\\"', 0, 0, true],
    ["]]]", 0, 0, false],
    ["[[1,2],[3,4,5,6]]", 2, 4, false],
    // Not JSON, but outlineJson measures its depth, too.
    [",,,", 0, 0, false],
    ["[}", 1, 1, false],
  ])(
    "%o gives the depth %i, %i items in the longest array, and open: %s",
    (text, depth, members, open) => {
      expect(outlineJson(text)).toEqual({ depth, longestArray: members, open });
    },
  );

  test("any JSON gives the depth that JSON.parse would build", () => {
    const depthOf = (value: unknown): number =>
      typeof value === "object" && value !== null
        ? 1 + Math.max(0, ...Object.values(value).map(depthOf))
        : 0;
    fc.assert(
      fc.property(fc.json({ stringUnit: anyCharacter }), (text) => {
        const { depth, open } = outlineJson(text);
        expect(depth).toBe(depthOf(JSON.parse(text)));
        expect(open).toBe(false);
      }),
    );
  });

  test("a million opening brackets gives a depth of a million", () => {
    expect(outlineJson("[".repeat(1_000_000)).depth).toBe(1_000_000);
  });
});

describe("duplicateKey", () => {
  test.each<[string, string, number]>([
    ['{"a":1,"a":2}', "a", 7],
    ['{"a":1,"b":2,"a":3}', "a", 13],
    ['{"a":{"b":1,"b":2}}', "b", 12],
    ['[{"a":1},{"b":1,"b":2}]', "b", 16],
    ['{"a":1,"\\u0061":2}', "a", 7],
    ['{"":1,"":2}', "", 6],
    ['{"a\\"":1,"a\\"":2}', 'a"', 9],
    ['{"__proto__":1,"__proto__":2}', "__proto__", 15],
    ['{"x":[{"a":1}],"x":0}', "x", 15],
    [' {\n"a" : 1 ,\n"a" : 2 }', "a", 13],
  ])("finds in %s the key %o at the offset %i", (text, key, offset) => {
    expect(duplicateKey(text)).toEqual({ key, offset });
  });

  test.each([
    '{"a":"a","b":"a"}',
    '{"a":{"a":{"a":1}}}',
    '[{"a":1},{"a":1}]',
    '["a","a"]',
    '{"a":["b","b"],"b":1}',
    '{"a":"{\\"a\\":1,","b":2}',
    '{"a":1,"A":2}',
    "{}",
    "[]",
    '"a"',
    "1",
  ])("finds no key in %s", (text) => {
    expect(duplicateKey(text)).toBeUndefined();
  });

  test("finds no key in the output of JSON.stringify, and finds the name of a property that is appended a second time", () => {
    const dictionary = fc.dictionary(fc.string({ unit: anyCharacter }), fc.jsonValue(), {
      minKeys: 1,
      noNullPrototype: true,
    });
    fc.assert(
      fc.property(dictionary, (value) => {
        const text = JSON.stringify(value);
        expect(duplicateKey(text)).toBeUndefined();
        const [name = ""] = Object.keys(value);
        const doubled = `${text.slice(0, -1)},${JSON.stringify(name)}:0}`;
        expect(duplicateKey(doubled)).toEqual({ key: name, offset: text.length });
      }),
    );
  });
});

describe("isDeeperThan", () => {
  test.each<[unknown, number, boolean]>([
    ["text", 0, false],
    [null, 0, false],
    [[], 0, true],
    [[], 1, false],
    [{}, 0, true],
    [[[]], 1, true],
    [[[]], 2, false],
    [[1, "a", null, { a: [] }], 2, true],
    [[1, "a", null, { a: [] }], 3, false],
    [{ a: { b: { c: null } } }, 3, false],
    [{ a: 1, b: { b: { c: {} } } }, 3, true],
  ])("of %j and the depth %i is %j", (value, depth, deeper) => {
    expect(isDeeperThan(value, depth)).toBe(deeper);
  });
});

test.each<[unknown, boolean]>([
  [[], true],
  [["a", ""], true],
  [["a", 1], false],
  [[null], false],
  ["a", false],
  [{ length: 0 }, false],
  [undefined, false],
])("isTexts(%j) is %j", (value, expected) => {
  expect(isTexts(value)).toBe(expected);
});

test("textsIn finds every string at any depth, names of properties included", () => {
  const value = { a: "1", b: ["2", { c: "3", d: [[], ["4"]] }], e: null, f: 5 };
  expect([...textsIn(value)].sort()).toEqual(["1", "2", "3", "4", "a", "b", "c", "d", "e", "f"]);
  expect([...textsIn("alone")]).toEqual(["alone"]);
  expect([...textsIn(null)]).toEqual([]);
});
