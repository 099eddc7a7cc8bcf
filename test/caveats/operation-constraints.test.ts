import { describe, expect, test } from "vitest";
import { intersectHop, overreaches } from "../../src/caveats/attenuation.js";
import type { Hop, HopInit } from "../../src/caveats/hop.js";
import { judgeHop } from "../../src/caveats/judge.js";
import { emptyRules, meetOf } from "../../src/caveats/meet.js";
import {
  authorityOver,
  leftOfArgument,
  limitsArguments,
} from "../../src/caveats/operation-authority.js";
import { normalizeHop } from "../../src/caveats/write-hop.js";
import { asked, misuse, problemsIn } from "./support.js";

function entry(
  operation: string,
  constraints: NonNullable<HopInit["operationConstraints"]>[string],
): Hop {
  return normalizeHop({ operationConstraints: { [operation]: constraints } });
}

/** Returns the rules that the lint reports when the last of `hops` is appended to the others. */
function lint(...hops: readonly Hop[]): string[] {
  const last = hops[hops.length - 1] ?? {};
  return overreaches(meetOf([hops.slice(0, -1)]), last).map(({ rule }) => rule);
}

const TOOLS: Hop = normalizeHop({
  operations: ["list", "read_file", "send_money"],
  operationConstraints: {
    list: { limit: { max: 100, optional: true } },
    read_file: { path: { path: "/data" } },
    send_money: { amount: { max: 50 }, bcc: { absent: true }, "/to/iban": { prefix: "DE" } },
  },
  arguments: { read_file: ["path"] },
});

describe("the denials of a call by limits on its operation's arguments", () => {
  const denied = (operation: string, given: { [name: string]: unknown }) =>
    judgeHop(TOOLS, asked({ operation, arguments: given }), 0);

  test.each<[string, string, { [name: string]: unknown }, string, string]>([
    [
      ...(["beyond a bound", "send_money", { amount: 51, to: { iban: "DE1" } }] as const),
      "operationConstraints.send_money.amount.max",
      'argument "amount" must be a number of at most 50; it is 51',
    ],
    [
      ...(["missing", "send_money", { to: { iban: "DE1" } }] as const),
      "operationConstraints.send_money.amount.max",
      'argument "amount" must be a number of at most 50; it is missing',
    ],
    [
      ...([
        "given although it must be absent",
        "send_money",
        { amount: 1, bcc: "x", to: { iban: "DE1" } },
      ] as const),
      "operationConstraints.send_money.bcc.absent",
      'argument "bcc" must be left out; it is "x"',
    ],
    [
      ...([
        "inside a value that is not an object",
        "send_money",
        { amount: 1, to: "DE1" },
      ] as const),
      'operationConstraints.send_money["/to/iban"].prefix',
      'argument "/to/iban" must begin with "DE"; "to" is no object',
    ],
    [
      ...(["outside its folder", "read_file", { path: "/data/../etc" }] as const),
      "operationConstraints.read_file.path.path",
      'argument "path" must be a plain path under "/data"; it is "/data/../etc"',
    ],
    [
      ...(["too long", "read_file", { path: `/data/${"x".repeat(4096)}` }] as const),
      "operationConstraints.read_file.path.path",
      'argument "path" must be a plain path under "/data"; it has 4102 UTF-16 code units, too many to be judged',
    ],
    [
      ...(["not listed", "read_file", { path: "/data/x", pat: 1 }] as const),
      "arguments.read_file",
      'argument "pat" is not allowed; allowed: "path"; did you mean "path"?',
    ],
  ])(
    "have the rule and the message for an argument that is %s",
    (_, operation, given, rule, message) => {
      expect(denied(operation, given)).toEqual([
        expect.objectContaining({ code: "constraint_violated", rule, message }),
      ]);
    },
  );

  test("have a scalar as the actual value if a pointer leads into the scalar, and no actual value for a missing argument", () => {
    const actual = (to: object): readonly unknown[] =>
      denied("send_money", { amount: 1, ...to }).map((one) => [
        Object.hasOwn(one, "actual"),
        one.actual,
      ]);
    expect(actual({ to: "DE1" })).toEqual([[true, "DE1"]]);
    expect(actual({ to: ["DE1"] })).toEqual([[true, "an array"]]);
    expect(actual({ to: null })).toEqual([[true, null]]);
    expect(actual({ to: {} })).toEqual([[false, undefined]]);
    expect(actual({})).toEqual([[false, undefined]]);
  });

  test("have the rule operationConstraints.*.n for the entry *, and quote an operation that contains a dot", () => {
    const hop = entry("*", { n: 1 });
    expect(judgeHop(hop, asked({ operation: "a.b" }), 0)[0]?.rule).toBe("operationConstraints.*.n");
    const odd = entry("a.b", { n: 1 });
    expect(judgeHop(odd, asked({ operation: "a.b" }), 0)[0]?.rule).toBe(
      'operationConstraints["a.b"].n',
    );
  });

  test("list 16 failures, and the last denial counts the others", () => {
    const given = Object.fromEntries(Array.from({ length: 20 }, (_, at) => [`a${at}`, at]));
    const found = denied("read_file", { path: "/data", ...given });
    expect(found).toHaveLength(16);
    expect(found[15]).toMatchObject({ more: 4, rule: "arguments.read_file" });
  });
});

describe("attenuation with limits on operations", () => {
  test.each<[string, Hop]>([
    ["a lower bound", entry("send_money", { amount: { max: 5 } })],
    ["a value within a bound", entry("send_money", { amount: 5 })],
    ["a deeper folder", entry("read_file", { path: { path: "/data/a" } })],
    ["an additional operator", entry("read_file", { path: { prefix: "/data/x" } })],
    ["the same limit again", TOOLS],
    [
      "an argument required where the token makes it optional",
      entry("list", { limit: { max: 100 } }),
    ],
    [
      "an argument absent where the token makes it optional",
      entry("list", { limit: { absent: true } }),
    ],
    ["a new argument", entry("list", { cursor: { in: ["a"] } })],
    ["a limit on every operation", entry("*", { amount: { max: 5 } })],
    ["a shorter closed list", normalizeHop({ arguments: { read_file: ["path"] } })],
  ])("accepts %s", (_, hop) => {
    expect(lint(TOOLS, hop)).toEqual([]);
  });

  test.each<[string, Hop, string]>([
    [
      ...(["a higher bound", entry("send_money", { amount: { max: 60 } })] as const),
      "operationConstraints.send_money.amount.max",
    ],
    [
      ...(["another folder", entry("read_file", { path: { path: "/etc" } })] as const),
      "operationConstraints.read_file.path.path",
    ],
    [
      ...(["the folder above", entry("read_file", { path: { path: "/" } })] as const),
      "operationConstraints.read_file.path.path",
    ],
    [
      ...(["a value outside the folder", entry("read_file", { path: "/etc/passwd" })] as const),
      "operationConstraints.read_file.path",
    ],
    [
      ...(["a value where it is absent", entry("send_money", { bcc: "me" })] as const),
      "operationConstraints.send_money.bcc",
    ],
    [
      ...(["a shorter prefix", entry("send_money", { "/to/iban": { prefix: "D" } })] as const),
      'operationConstraints.send_money["/to/iban"].prefix',
    ],
    [
      ...([
        "a required argument that is absent",
        entry("send_money", { amount: { absent: true } }),
      ] as const),
      "operationConstraints.send_money.amount",
    ],
    [
      ...(["an argument that the list leaves out", entry("read_file", { mode: "r" })] as const),
      "operationConstraints.read_file.mode",
    ],
    [
      ...([
        "a name that the list does not have",
        normalizeHop({ arguments: { read_file: ["mode"] } }),
      ] as const),
      "arguments.read_file",
    ],
    [
      ...([
        "a list without a required argument",
        normalizeHop({ arguments: { read_file: [] } }),
      ] as const),
      "operationConstraints.read_file.path",
    ],
    [
      ...([
        "an operation that the token does not have",
        entry("send_mony", { amount: 1 }),
      ] as const),
      "operationConstraints.send_mony",
    ],
    [
      "an operation that this hop takes away",
      normalizeHop({ operations: ["list"], arguments: { read_file: ["path"] } }),
      "arguments.read_file",
    ],
  ])("refuses %s", (_, hop, rule) => {
    expect(lint(TOOLS, hop)).toEqual([rule]);
  });

  test("refuses a limit that leaves no value for an argument only if no call of any operation is left", () => {
    const two = normalizeHop({
      operations: ["a", "b"],
      operationConstraints: { a: { x: 1 } },
      arguments: { b: [] },
    });
    const x = normalizeHop({ constraints: { x: 1 } });
    expect(emptyRules(meetOf([[two, x]]))).toEqual([]);
    expect(lint(two, x)).toEqual([]);
    const y = normalizeHop({ constraints: { x: 2 } });
    expect(lint(two, y)).toEqual(["operationConstraints.a.x", "operationConstraints.b.x"]);
  });

  test("compares the schemes, hosts, ports and paths of URLs one by one", () => {
    const url = (parts: object): Hop =>
      entry("get", {
        u: { url: { hosts: [".example.com"], schemes: ["https"], path: "/v1", ...parts } },
      });
    const rule = "operationConstraints.get.u.url";
    expect(lint(url({}), url({ hosts: ["a.example.com"], path: "/v1/a" }))).toEqual([]);
    expect(lint(url({}), url({ hosts: ["example.com"] }))).toEqual([`${rule}.hosts`]);
    expect(lint(url({}), url({ schemes: ["http", "https"] }))).toEqual([`${rule}.schemes`]);
    expect(lint(url({}), url({ ports: ["8443"] }))).toEqual([`${rule}.ports`]);
    expect(lint(url({ ports: ["443", "8443"] }), url({}))).toEqual([]);
    expect(lint(url({}), url({ path: "/" }))).toEqual([`${rule}.path`]);
  });
});

test("leftOfArgument says whether an argument may still be missing", () => {
  const optional = (value: number): Hop => entry("get", { n: { in: [value], optional: true } });
  const left = (...hops: readonly Hop[]) =>
    leftOfArgument(authorityOver("get", meetOf([hops])), "n");
  expect(left(optional(1), optional(2))).toEqual({ missing: true, types: [] });
  expect(left(optional(1), entry("get", { n: { max: 5 } }))).toMatchObject({
    missing: false,
    in: [1],
  });
  expect(left(entry("get", { n: { absent: true } }), entry("get", { n: 1 }))).toEqual({
    missing: false,
    types: [],
  });
  expect(left(entry("get", { n: { max: 5 } }), normalizeHop({ arguments: { get: [] } }))).toEqual({
    missing: false,
    types: [],
  });
  expect(left(entry("get", { n: { max: 5 }, "/n/m": { max: 1, optional: true } }))).toEqual({
    missing: false,
    types: [],
  });
});

test("limitsArguments is true for an operation with an entry, and for every operation if there are constraints or an entry for *", () => {
  const limited = (hop: HopInit, operation?: string): boolean =>
    limitsArguments(meetOf([[normalizeHop(hop)]]), operation);
  const own = { operationConstraints: { get: { n: 1 } } };
  expect([limited(own, "get"), limited(own, "put"), limited(own)]).toEqual([true, false, true]);
  const list = { arguments: { get: ["n"] } };
  expect([limited(list, "get"), limited(list, "put"), limited(list)]).toEqual([true, false, true]);
  expect(limited({ arguments: { "*": ["n"] } }, "put")).toBe(true);
  expect(limited({ constraints: { n: 1 } }, "put")).toBe(true);
  expect(limited({ operations: ["get"] })).toBe(false);
});

test("intersectHop lowers each entry of a hop to what the token leaves for the operation", () => {
  const wanted = normalizeHop({
    operationConstraints: {
      read_file: { path: { path: "/" } },
      send_money: { amount: { max: 60, min: 1 } },
      other: { n: 1 },
    },
    arguments: { list: ["cursor", "limit"], read_file: ["mode", "path"] },
  });
  expect(intersectHop(meetOf([[TOOLS]]), wanted)).toEqual({
    operationConstraints: {
      read_file: { path: { path: "/data" } },
      send_money: { amount: { max: 50, min: 1 } },
    },
    arguments: { list: ["cursor", "limit"], read_file: ["path"] },
  });
});

describe("a caveat with limits on operations", () => {
  test("that is malformed is refused with the problems of every entry", () => {
    expect(
      problemsIn(
        '{"arguments":{"a":["b","a"]},"operationConstraints":{"a":{"/x":1,"y":{"maxx":1}}}}',
      ),
    ).toEqual([
      "caveat_malformed arguments.a",
      'caveat_malformed operationConstraints.a["/x"]',
      "caveat_unknown operationConstraints.a.y.maxx → max",
    ]);
  });

  test("is written with sets and lists sorted", () => {
    const hop = {
      operationConstraints: {
        a: {
          u: { each: { url: { hosts: ["b.example", "a.example"], schemes: ["https", "http"] } } },
        },
        b: { n: { in: [10, 9] } },
      },
      arguments: { a: ["v", "u", "u"] },
    };
    expect(normalizeHop(hop)).toEqual({
      operationConstraints: {
        a: {
          u: { each: { url: { hosts: ["a.example", "b.example"], schemes: ["http", "https"] } } },
        },
        b: { n: { in: [10, 9] } },
      },
      arguments: { a: ["u", "v"] },
    });
  });

  test("is refused if a program passes a wrong value, and the error names the expected form", () => {
    const path = (folder: string): Hop => ({
      operationConstraints: { a: { p: { path: folder } } },
    });
    expect(misuse(() => normalizeHop(path("/data/")))).toBe(
      '"operationConstraints.a.p.path" must be a folder such as /data or reports/2026, without a final / and without .. segments, not "/data/"',
    );
    expect(misuse(() => normalizeHop({ operationConstraints: { a: { "/p": 1 } } }))).toContain(
      "a name, or a JSON Pointer such as /to/iban to an argument inside another",
    );
  });
});
