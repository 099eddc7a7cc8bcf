import { describe, expect, test } from "vitest";
import { overreaches } from "../../src/caveats/attenuation.js";
import type { ArgumentConstraint, Hop, HopInit } from "../../src/caveats/hop.js";
import type { Overreach } from "../../src/caveats/hop-rule.js";
import { meetOf } from "../../src/caveats/meet.js";
import { mistakesIn } from "../../src/caveats/operation-mistakes.js";
import { normalizeHop } from "../../src/caveats/write-hop.js";

function mistakes(hop: HopInit, operations?: readonly string[]): readonly Overreach[] {
  return mistakesIn(normalizeHop(hop), operations);
}

/** Returns the mistakes in a hop that limits the argument `x` of the operation `get`. */
function mistakesOf(x: ArgumentConstraint): readonly Overreach[] {
  return mistakes({ operationConstraints: { get: { x } } });
}

describe("the mistakes of a hop include a prefix", () => {
  const url = { schemes: ["https"], hosts: ["a.example"] };
  test.each<[string, ArgumentConstraint, string, string]>([
    [
      "if it begins like a path",
      { prefix: "/data" },
      "/data",
      'the "prefix" "/data"; a prefix ends inside a name, so give the folder in "path"',
    ],
    [
      "if it begins like a URL",
      { prefix: "https://a.example/" },
      "https://a.example/",
      'the "prefix" "https://a.example/"; a prefix ends inside a name, so give the folder in "url"',
    ],
    [
      "beside a folder",
      { path: "data", prefix: "data/a" },
      "data/a",
      '"prefix" beside "path"; a prefix ends inside a name, so give the folder in "path"',
    ],
    [
      "beside a URL",
      { url, prefix: "https" },
      "https",
      '"prefix" beside "url"; a prefix ends inside a name, so give the folder in "url"',
    ],
    [
      "for elements, if it begins like a path",
      { each: { prefix: "/data" } },
      "/data",
      'the "prefix" "/data"; a prefix ends inside a name, so give the folder in "path"',
    ],
    [
      "for elements, beside a folder",
      { each: { path: "data", prefix: "data/a" } },
      "data/a",
      '"prefix" beside "path"; a prefix ends inside a name, so give the folder in "path"',
    ],
  ])("%s", (_, constraint, value, why) => {
    const rule = "operationConstraints.get.x";
    expect(mistakesOf(constraint)).toEqual([
      { rule: `${rule}.prefix`, value, allowed: null, message: `"${rule}": ${why}` },
    ]);
  });

  test("that begins like a path, in each argument of each operation", () => {
    const found = mistakes({
      operationConstraints: {
        "*": { a: { prefix: "/a" }, b: { prefix: "b" } },
        get: { "/to/file": { prefix: "/c" }, d: 1 },
      },
    });
    expect(found.map(({ rule }) => rule)).toEqual([
      "operationConstraints.*.a.prefix",
      'operationConstraints.get["/to/file"].prefix',
    ]);
  });
});

describe("the mistakes of a hop do not include a limit", () => {
  test.each<[string, ArgumentConstraint]>([
    ["with a prefix of a name", { prefix: "DE" }],
    ["with a prefix that ends in a slash", { prefix: "data/" }],
    ["with a prefix that has a colon and slashes apart", { prefix: "a:b//" }],
    ["with a prefix beside bounds and excluded values", { prefix: "a", not_in: ["ab"] }],
    [
      "with a prefix for elements beside their number",
      { each: { prefix: "a" }, items: { max: 3 } },
    ],
    ["with a folder and no prefix", { path: "/data" }],
    ["with a folder for elements and no prefix", { each: { path: "/data" } }],
    ["with a value that begins like a path", "/data"],
    ["with the value null", null],
    ["with a number", 5],
  ])("%s", (_, constraint) => {
    expect(mistakesOf(constraint)).toEqual([]);
  });
});

describe("an entry for an operation", () => {
  const one = (operation: string): HopInit => ({ operationConstraints: { [operation]: { x: 1 } } });

  test("that the token does not have is a mistake, reported with the operations that the token has", () => {
    expect(mistakes(one("delete"), ["get", "put"])).toStrictEqual([
      {
        rule: "operationConstraints.delete",
        value: "delete",
        allowed: ["get", "put"],
        message:
          '"operationConstraints.delete": the token does not have the operation "delete"; it has "get", "put"',
      },
    ]);
  });

  test("whose name is misspelt is a mistake, reported with the similar operation", () => {
    expect(mistakes({ arguments: { retreive: ["x"] } }, ["retrieve", "search"])).toEqual([
      {
        rule: "arguments.retreive",
        value: "retreive",
        allowed: ["retrieve", "search"],
        nearest: "retrieve",
        message:
          '"arguments.retreive": the token does not have the operation "retreive"; did you mean "retrieve"?',
      },
    ]);
  });

  test.each<[string, HopInit, readonly string[] | undefined]>([
    ["that the token has is no mistake", one("get"), ["get"]],
    ["is no mistake if the token allows every operation", one("get"), undefined],
    ["for every operation is no mistake", one("*"), ["get"]],
  ])("%s", (_, hop, operations) => {
    expect(mistakes(hop, operations)).toEqual([]);
  });

  test("that the token does not have is reported under each key that has the entry, before mistakes in prefixes", () => {
    const hop: HopInit = {
      operationConstraints: { other: { x: { prefix: "/data" } } },
      arguments: { other: ["x"] },
    };
    expect(mistakes(hop, ["get"]).map(({ rule }) => rule)).toEqual([
      "operationConstraints.other",
      "arguments.other",
      "operationConstraints.other.x.prefix",
    ]);
  });
});

describe("appending a hop with limits on the arguments of an operation", () => {
  /** Returns rule and message of the lint's findings when the last hop is appended to the others. */
  function lint(...hops: readonly HopInit[]): readonly (readonly [string, string])[] {
    const read: readonly Hop[] = hops.map(normalizeHop);
    const found = overreaches(meetOf([read.slice(0, -1)]), read[read.length - 1] ?? {});
    return found.map(({ rule, message }) => [rule, message] as const);
  }

  const token: HopInit = {
    operations: ["get", "list", "put"],
    operationConstraints: { get: { x: { max: 5 } }, put: { "/to/iban": { prefix: "DE" } } },
  };

  test.each<[string, HopInit, readonly (readonly [string, string])[]]>([
    [
      "is refused if its closed list lacks a required argument",
      { arguments: { get: ["y"] } },
      [
        [
          "operationConstraints.get.x",
          '"operationConstraints.get.x": no call of "get" would be left, since "x" is required and has no value left',
        ],
      ],
    ],
    [
      "is refused if its closed list lacks the object around a required argument",
      { arguments: { put: ["x"] } },
      [
        [
          'operationConstraints.put["/to/iban"]',
          '"operationConstraints.put["/to/iban"]": no call of "put" would be left, since "/to/iban" is required and has no value left',
        ],
      ],
    ],
    [
      "is refused if it limits an argument around a limited argument",
      { operationConstraints: { put: { to: "DE02" } } },
      [
        [
          'operationConstraints.put["/to/iban"]',
          '"operationConstraints.put["/to/iban"]": no call of "put" would be left, since "/to/iban" is required and has no value left',
        ],
      ],
    ],
    ["is accepted if its closed list has the required argument", { arguments: { get: ["x"] } }, []],
    [
      "is accepted if an operation that the hop does not name can still be called",
      { arguments: { "*": ["to", "y"] } },
      [],
    ],
  ])("%s", (_, hop, found) => {
    expect(lint(token, hop)).toEqual(found);
  });

  test("is refused with one reason if operationConstraints and arguments together leave no call of the operation", () => {
    const hop: HopInit = {
      operationConstraints: { list: { y: 1 } },
      arguments: { list: [] },
    };
    expect(lint(token, hop).map(([rule]) => rule)).toEqual(["operationConstraints.list.y"]);
  });

  test("is accepted if the token already allowed no call of the operation", () => {
    const dead: HopInit = { arguments: { get: [] } };
    expect(lint(token, dead, { operationConstraints: { get: { y: { absent: true } } } })).toEqual(
      [],
    );
  });
});
