import fc from "fast-check";
import { expect, test } from "vitest";
import {
  type Edit,
  edit,
  inexactNumberIn,
  type Path,
  textAt,
} from "../../../../src/protocols/mcp/message/edit.js";

test.each([
  ["a value", '{"id" :7 , "b":1}', ["id"], "g1", '{"id" :"g1" , "b":1}'],
  ["an object", '{"a":{"b":[1,{"c":2}]},"d":3}', ["a"], 1, '{"a":1,"d":3}'],
  ["a nested value", '{"a":{"b":[1,{"c":2.0}]}}', ["a", "b", 1, "c"], 3, '{"a":{"b":[1,{"c":3}]}}'],
  ["an escaped name", '{"\\u0061":1}', ["a"], 2, '{"\\u0061":2}'],
  ["a name in a string", '{"b":"\\"a\\":1","a":1}', ["a"], 2, '{"b":"\\"a\\":1","a":2}'],
  ["the first property", '{"a":1, "b":2}', ["a"], undefined, '{"b":2}'],
  ["the last property", '{"a":1 , "b":2 }', ["b"], undefined, '{"a":1 }'],
  ["the only property", '{ "a":1 }', ["a"], undefined, "{  }"],
  ["an array element", "[1, 2, 3]", [1], undefined, "[1, 3]"],
  ["the last array element", "[1, 2]", [1], undefined, "[1]"],
  ["a new property", '{"a":1}', ["b"], [], '{"a":1,"b":[]}'],
  ["a new property of an empty object", '{"a":{ }}', ["a", "b"], 1, '{"a":{"b":1 }}'],
  ["a path that does not exist", '{"a":1}', ["b", "c"], 1, '{"a":1}'],
  ["the removal of a property that does not exist", '{"a":1}', ["b"], undefined, '{"a":1}'],
  ["a property of a number", '{"a":1}', ["a", "b"], 1, '{"a":1}'],
  ["__proto__", '{"__proto__":{"a":1}}', ["__proto__", "a"], 2, '{"__proto__":{"a":2}}'],
])("edit keeps the text outside of the edited place: %s", (_, text, path, value, expected) => {
  expect(edit(text, [{ path, value }])).toBe(expected);
});

test("several edits in one object leave correct commas", () => {
  const text = '{"a":1, "b":2, "c":3}';
  const of = (...names: string[]) => names.map((name) => ({ path: [name], value: undefined }));
  expect(edit(text, of("a", "b"))).toBe('{"c":3}');
  expect(edit(text, of("b", "c"))).toBe('{"a":1}');
  expect(edit(text, of("c", "b", "a"))).toBe("{}");
  expect(edit(text, [...of("c"), { path: ["d"], value: 4 }])).toBe('{"a":1, "b":2,"d":4}');
  expect(edit(text, [...of("a", "b", "c"), { path: ["d"], value: 4 }])).toBe('{"d":4}');
});

test("edit throws a TypeError for overlapping edits and for an empty path", () => {
  expect(() => edit("{}", [{ path: [], value: 1 }])).toThrow(TypeError);
  const [outer, inner] = [
    { path: ["a"], value: 1 },
    { path: ["a", "b"], value: 1 },
  ];
  expect(() => edit('{"a":{"b":1}}', [outer, inner])).toThrow(TypeError);
  expect(() => edit('{"a":{"b":1}}', [inner, outer])).toThrow(TypeError);
  expect(() => edit('{"a":1}', [outer, outer])).toThrow(TypeError);
});

test("textAt returns a value exactly as it is written, and inexactNumberIn finds a number that a double cannot represent", () => {
  const text =
    '{ "id" : 1.0 , "params":{"arguments":{"n":9007199254740993, "s":"9e999"}}, "x":[ ]}';
  expect(textAt(text, ["id"])).toBe("1.0");
  expect(textAt(text, ["x"])).toBe("[ ]");
  expect(textAt(text, ["params", "arguments", "s"])).toBe('"9e999"');
  expect(textAt(text, ["y"])).toBeUndefined();
  expect(textAt(text, ["x", 0])).toBeUndefined();
  expect(textAt(' {"a":1} ', [])).toBe('{"a":1}');
  expect(inexactNumberIn(text, ["params", "arguments"])).toBe("9007199254740993");
  expect(inexactNumberIn(text, ["params", "arguments", "s"])).toBeUndefined();
  expect(inexactNumberIn(text, ["y"])).toBeUndefined();
});

/** A JSON value and its text, with or without indentation. */
const spaced = fc
  .tuple(fc.jsonValue({ maxDepth: 4 }), fc.constantFrom(undefined, 1, "\t"))
  .map(([value, space]) => ({
    value,
    text: JSON.stringify({ value, last: [value, 0] }, null, space),
  }));

/** Returns all paths in a value. */
function pathsIn(value: unknown, path: Path = []): Path[] {
  if (typeof value !== "object" || value === null) return [path];
  const isArray = Array.isArray(value);
  const inner = Object.entries(value).map(([key, one]) =>
    pathsIn(one, [...path, isArray ? Number(key) : key]),
  );
  return [path, ...inner.flat()];
}

/** Applies edits to a parsed value. Removed array elements are marked first, so that indices stay valid. */
function changed(root: unknown, edits: readonly Edit[]): unknown {
  const copy: unknown = structuredClone(root);
  for (const { path, value } of edits) {
    let at = copy as Record<string | number, unknown>;
    for (const key of path.slice(0, -1)) at = at[key] as Record<string | number, unknown>;
    const last = path.at(-1) ?? "";
    if (value !== undefined) {
      Object.defineProperty(at, last, {
        value,
        writable: true,
        enumerable: true,
        configurable: true,
      });
    } else if (Array.isArray(at)) at[Number(last)] = REMOVED;
    else delete at[last];
  }
  return withoutRemoved(copy);
}

const REMOVED = Symbol("removed");

function withoutRemoved(value: unknown): unknown {
  if (Array.isArray(value)) return value.filter((one) => one !== REMOVED).map(withoutRemoved);
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, one]) => [key, withoutRemoved(one)]));
}

const isWithin = (inner: Path, outer: Path): boolean => outer.every((key, at) => inner[at] === key);

test("an edited text parses as the edited value, and untouched values keep their text", () => {
  fc.assert(
    fc.property(
      spaced,
      fc.array(fc.tuple(fc.nat(), fc.option(fc.jsonValue({ maxDepth: 2 }))), { maxLength: 4 }),
      ({ text }, choices) => {
        const root: unknown = JSON.parse(text);
        const paths = pathsIn(root).slice(1);
        const edits: Edit[] = [];
        for (const [choice, value] of choices) {
          const path = paths[choice % paths.length];
          if (path === undefined) continue;
          const overlaps = edits.some(
            (one) => isWithin(one.path, path) || isWithin(path, one.path),
          );
          if (!overlaps)
            edits.push({ path, value: JSON.parse(JSON.stringify(value)) ?? undefined });
        }
        const written = edit(text, edits);
        expect(JSON.parse(written)).toEqual(changed(root, edits));
        if (edits.length === 0) expect(written).toBe(text);
        for (const path of paths) {
          const touched = edits.some((one) => isWithin(path, one.path) || isWithin(one.path, path));
          // Array elements move when an element before them is removed.
          if (!touched && !path.some((key) => typeof key === "number")) {
            expect(textAt(written, path)).toBe(textAt(text, path));
          }
        }
      },
    ),
  );
});

test("replacing an edited value by its old text restores the whole text", () => {
  fc.assert(
    fc.property(spaced, fc.nat(), ({ text }, choice) => {
      const paths = pathsIn(JSON.parse(text)).slice(1);
      const path = paths[choice % paths.length] ?? [];
      const before = textAt(text, path) ?? "";
      const written = edit(text, [{ path, value: "a mark of no other text" }]);
      expect(written.replace('"a mark of no other text"', () => before)).toBe(text);
    }),
  );
});
