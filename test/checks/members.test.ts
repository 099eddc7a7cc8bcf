import { describe, expect, test } from "vitest";
import { assertKnown, assertMembers, knownMembers, meant } from "../../src/checks/members.js";

test("assertMembers names an unknown property with its path and the nearest known property", () => {
  expect(() => assertMembers({ expires: 1 }, ["expires"], "options")).not.toThrow();
  expect(() => assertMembers({ expire: 1 }, ["expires"], "options")).toThrow(
    new TypeError('options.expire: unknown property; did you mean "expires"?'),
  );
  expect(() => assertMembers({ expire: 1 }, ["expires"], "")).toThrow(
    new TypeError('expire: unknown property; did you mean "expires"?'),
  );
});

test.each([
  ["cmd", ["cwd", "command", "env"], '; did you mean "command"?'],
  ["cmd", ["cwd", "command", "commands"], '; did you mean "cwd"?'],
  ["cmd", ["args", "env"], "; there are args, env"],
])("the hint about an unknown property %j, where %j are known", (name, known, end) => {
  expect(meant(name, known)).toBe(end);
});

test.each<[unknown, string]>([
  [null, "null"],
  [undefined, "undefined"],
  [1, "a number"],
  ["text", "a string"],
  [() => 1, "a function"],
])(
  "assertMembers refuses %j, which is not an object, and names the known properties",
  (value, kind) => {
    expect(() => assertMembers(value, ["name", "keys"], "options")).toThrow(
      new TypeError(`options must be a plain object with name, keys, not ${kind}`),
    );
    expect(() => assertMembers(value, [], "")).toThrow(
      new TypeError(`it must be a plain object, not ${kind}`),
    );
  },
);

describe("assertMembers refuses an object whose properties would be lost", () => {
  class Options {
    get name(): string {
      return "a";
    }
  }

  test.each<[string, object, string]>([
    ["by inheritance", Object.create({ name: 1 }), "an object that inherits from another"],
    ["because it is of a class with getters", new Options(), "an Options"],
    [
      "because an await is missing",
      Promise.resolve({ name: 1 }),
      "a Promise: is an await missing?",
    ],
    ["because it is a Map", new Map([["name", 1]]), "a Map"],
    ["because it is a Date", new Date(), "a Date"],
    ["because it is an array", [], "an array"],
  ])("%s", (_, value, kind) => {
    expect(() => assertMembers(value, ["name"], "options")).toThrow(
      new TypeError(`options must be a plain object, not ${kind}`),
    );
  });
});

test("knownMembers keeps option values by identity, and its copy holds the values of the first read", () => {
  const [clock, date, map] = [() => 0, new Date(), new Map()];
  let looks = 0;
  const options = {
    clock,
    date,
    map,
    get size(): number {
      looks++;
      return looks;
    },
  };
  const own = knownMembers(options, ["clock", "date", "map", "size"], "options");
  expect([own.clock, own.date, own.map]).toEqual([clock, date, map]);
  expect([own.size, own.size, looks]).toEqual([1, 1, 1]);
});

test("assertKnown accepts an object of a class, and refuses an own property that is not known", () => {
  class Skill {
    readonly id = "a";
    run(): void {}
  }
  expect(() => assertKnown(new Skill(), ["id", "run"], "skills[0]")).not.toThrow();
  expect(() => assertKnown(new Skill(), ["run"], "skills[0]")).toThrow("skills[0].id: unknown");
  expect(() => assertKnown(null, [], "skills[0]")).toThrow("skills[0] must be an object, not null");
});

test("meant() lists all known names if none is similar, and returns an empty string without known names", () => {
  expect(meant("colour", ["expires", "operations"])).toBe("; there are expires, operations");
  expect(meant("colour", [])).toBe("");
});
