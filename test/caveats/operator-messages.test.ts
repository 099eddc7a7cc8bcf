import { describe, expect, test } from "vitest";
import type { ArgumentConstraint, HopInit } from "../../src/caveats/hop.js";
import { judgeHop } from "../../src/caveats/judge.js";
import { readHop } from "../../src/caveats/read-hop.js";
import { normalizeHop } from "../../src/caveats/write-hop.js";
import { asked, problemsIn, utf8 } from "./support.js";

// The complete text of each message about the operators of `operationConstraints`.

const RULE = "operationConstraints.get.x";

describe("the argument of a call", () => {
  const failures = (x: ArgumentConstraint, given: { [name: string]: unknown }) => {
    const hop = normalizeHop({ operationConstraints: { get: { x } } });
    return judgeHop(hop, asked({ operation: "get", arguments: given }), 0);
  };
  const url = { schemes: ["https"], hosts: ["a.example"] };
  const inOrder = { hosts: ["a.example"], schemes: ["https"] };

  test.each<[string, ArgumentConstraint, unknown, string, unknown]>([
    [
      'must be a plain path under "/data"; it is "/etc"',
      { path: "/data" },
      "/etc",
      ".path",
      "/data",
    ],
    ['must begin with "DE"; it is "FR"', { prefix: "DE" }, "FR", ".prefix", "DE"],
    ['must begin with "1"; it is 12', { prefix: "1" }, 12, ".prefix", "1"],
    [
      'must be a plain URL of scheme https, host "a.example"; it is "https://b.example/"',
      { url },
      "https://b.example/",
      ".url",
      inOrder,
    ],
    [
      'must be a plain URL of scheme http or https, host ".a.example", "b.example", port "443", "8443", path under "/v1"; it is 1',
      {
        url: {
          schemes: ["http", "https"],
          hosts: [".a.example", "b.example"],
          ports: ["443", "8443"],
          path: "/v1",
        },
      },
      1,
      ".url",
      {
        hosts: [".a.example", "b.example"],
        path: "/v1",
        ports: ["443", "8443"],
        schemes: ["http", "https"],
      },
    ],
    [
      "must be an array of 1 to 2 elements; it is an array",
      { items: { min: 1, max: 2 } },
      [1, 2, 3],
      ".items",
      { min: 1, max: 2 },
    ],
    [
      'must be an array of 0 to 2 elements; it is "ab"',
      { items: { max: 2 } },
      "ab",
      ".items",
      { min: 0, max: 2 },
    ],
    [
      "must be an array of 3 to 256 elements; it is an array",
      { items: { min: 3 } },
      [1, 2],
      ".items",
      { min: 3, max: 256 },
    ],
    ["must be an array; it is 1", { each: { max: 5 } }, 1, ".each", { max: 5 }],
    [
      "must be an array; element 1 must be a number of at most 5; it is an array",
      { each: { max: 5 } },
      [5, 6, 7],
      ".each",
      { max: 5 },
    ],
    ["must be left out; it is null", { absent: true }, null, ".absent", true],
    ["must be a number of at most 5; it is an object", { max: 5, optional: true }, {}, ".max", 5],
  ])("is refused with the message that it %s", (why, constraint, x, below, expected) => {
    const [failure, ...others] = failures(constraint, { x });
    expect(others).toEqual([]);
    expect(failure).toMatchObject({
      code: "constraint_violated",
      rule: `${RULE}${below}`,
      expected,
      message: `argument "x" ${why}`,
    });
  });

  test.each<[string, ArgumentConstraint, unknown]>([
    ["is within the number of elements", { items: { min: 1, max: 2 } }, [1, 2]],
    ["has the greatest number of elements", { items: { min: 256 } }, new Array(256).fill(0)],
    ["has elements that all satisfy the limit", { each: { in: ["a", "b"] } }, ["b", "a", "b"]],
    ["is the empty array", { each: { max: 1 } }, []],
  ])("is accepted if it %s", (_, constraint, x) => {
    expect(failures(constraint, { x })).toEqual([]);
  });

  test("is refused with the message that it has 257 elements, too many to be judged", () => {
    const [failure] = failures({ each: { max: 1 } }, { x: new Array(257).fill(0) });
    expect(failure?.message).toBe(
      'argument "x" must be an array; it has 257 elements, too many to be judged',
    );
  });
});

describe("a caveat cannot be read, since", () => {
  const messages = (caveat: string): readonly string[] => {
    const reading = readHop(utf8(caveat));
    return reading.ok ? [] : reading.problems.map(({ message }) => message);
  };
  const host = '"hosts":["a.example"]';
  const HOSTS =
    "a non-empty array of hosts such as api.example.com, .example.com or 192.0.2.1, strictly ascending";

  test.each<[string, string]>([
    [`"${RULE}.prefix" must be a non-empty string, not ""`, '{"prefix":""}'],
    [`"${RULE}.items" must be an object with "min" or "max", not {}`, '{"items":{}}'],
    [`"${RULE}.items" must be an object with "min" or "max", not 3`, '{"items":3}'],
    [`unknown bound "maxx" in "${RULE}.items"; did you mean "max"?`, '{"items":{"maxx":3}}'],
    [`"${RULE}.items.max" must be a whole number from 0 to 256, not 257`, '{"items":{"max":257}}'],
    [`"${RULE}.items.min" must be a whole number from 0 to 256, not -1`, '{"items":{"min":-1}}'],
    [`"${RULE}.items.min" must be a whole number from 0 to 256, not 0.5`, '{"items":{"min":0.5}}'],
    [`"${RULE}.each" must be an object with at least one operator, not {}`, '{"each":{}}'],
    [`"${RULE}.each" must be an object with at least one operator, not "a"`, '{"each":"a"}'],
    [`"${RULE}.each" must not have "each"`, '{"each":{"each":{"max":1}}}'],
    [`"${RULE}.each" must not have "optional"`, '{"each":{"max":1,"optional":true}}'],
    [`"${RULE}.each.max" must be a number, not "1"`, '{"each":{"max":"1"}}'],
    [`"${RULE}": "absent" must be the only operator`, '{"absent":true,"max":1}'],
    [`"${RULE}": "optional" must stand beside another operator`, '{"optional":true}'],
    [`"${RULE}.absent" must be true, not false`, '{"absent":false}'],
    [`"${RULE}.optional" must be true, not 1`, '{"max":1,"optional":1}'],
    [
      `"${RULE}.url" must be an object with "schemes" and "hosts", not "https:"`,
      '{"url":"https:"}',
    ],
    [`"${RULE}.url" must have "schemes"`, `{"url":{${host}}}`],
    [`"${RULE}.url" must have "hosts"`, '{"url":{"schemes":["https"]}}'],
    [
      `unknown part of a URL "port" in "${RULE}.url"; did you mean "ports"?`,
      `{"url":{${host},"port":["1"],"schemes":["https"]}}`,
    ],
    [
      `"${RULE}.url.path" must be a folder such as /v1 or /a%20b, in the strict form of a URL's path and without a final /, not "/v1/"`,
      `{"url":{${host},"path":"/v1/","schemes":["https"]}}`,
    ],
    [
      `"${RULE}.url.path" must be a folder such as /v1 or /a%20b, in the strict form of a URL's path and without a final /, not 1`,
      `{"url":{${host},"path":1,"schemes":["https"]}}`,
    ],
    [`"${RULE}.url.hosts" must be ${HOSTS}, not []`, '{"url":{"hosts":[],"schemes":["https"]}}'],
    [
      `"${RULE}.url.hosts" must be ${HOSTS}, not ["A.example","a.example"]`,
      '{"url":{"hosts":["A.example","a.example"],"schemes":["https"]}}',
    ],
    [
      `"${RULE}.url.ports" must be a non-empty array of ports such as "443", strictly ascending, not ["0443"]`,
      `{"url":{${host},"ports":["0443"],"schemes":["https"]}}`,
    ],
    [
      `"${RULE}.url.schemes" must be a non-empty array of http, https, ws, wss, strictly ascending, not ["ftp"]`,
      `{"url":{${host},"schemes":["ftp"]}}`,
    ],
  ])("%s", (message, constraint) => {
    expect(messages(`{"operationConstraints":{"get":{"x":${constraint}}}}`)).toEqual([message]);
  });

  test.each<[string, string]>([
    [
      '"operationConstraints" must be an object with at least one operation, or *, not {}',
      '{"operationConstraints":{}}',
    ],
    [
      '"operationConstraints" must be an object with at least one operation, or *, not []',
      '{"operationConstraints":[]}',
    ],
    [
      '"operationConstraints.get" must be an object with at least one argument, not {}',
      '{"operationConstraints":{"get":{}}}',
    ],
    ['"arguments" must be an object with at least one operation, or *, not {}', '{"arguments":{}}'],
    ['"arguments" must be an object with at least one operation, or *, not 1', '{"arguments":1}'],
    [
      '"arguments.get" must be an array of names of arguments, strictly ascending, each string once, not ["b","a"]',
      '{"arguments":{"get":["b","a"]}}',
    ],
    [
      '"operationConstraints.get["/x"]" must have a name, or a JSON Pointer such as /to/iban to an argument inside another, not "/x"',
      '{"operationConstraints":{"get":{"/x":1}}}',
    ],
  ])("%s", (message, caveat) => {
    expect(messages(caveat)).toEqual([message]);
  });
});

test("readHop names the faulty operator inside each in the rule of a problem", () => {
  const caveat = '{"operationConstraints":{"get":{"x":{"each":{"absent":true,"maxx":1}}}}}';
  expect(problemsIn(caveat)).toEqual([
    `caveat_malformed ${RULE}.each.absent`,
    `caveat_unknown ${RULE}.each.maxx → max`,
  ]);
});

test("a caveat with 20 problems in one key is refused with the first 16", () => {
  const wrong = Array.from({ length: 20 }, (_, at) => [`a${at + 10}`, {}]);
  const caveat = JSON.stringify({ operationConstraints: { get: Object.fromEntries(wrong) } });
  const found = problemsIn(caveat);
  expect(found).toHaveLength(16);
  expect(found[15]).toBe("caveat_malformed operationConstraints.get.a25");
});

describe("the failures of a hop", () => {
  const calling = (count: number, hop: HopInit) => {
    const given = Object.fromEntries(Array.from({ length: count }, (_, at) => [`a${at}`, at]));
    return judgeHop(normalizeHop(hop), asked({ operation: "get", arguments: given }), 0);
  };
  const closed: HopInit = { arguments: { get: ["b"] } };

  test.each<[string, number, number | undefined, string]>([
    ["are all listed if there are 16", 16, undefined, ""],
    [
      "are cut to 16 of 17, and the last says that 1 more limit is not met",
      17,
      1,
      " (1 more limit is not met)",
    ],
    [
      "are cut to 16 of 18, and the last says that 2 more limits are not met",
      18,
      2,
      " (2 more limits are not met)",
    ],
  ])("%s", (_, count, more, end) => {
    const found = calling(count, closed);
    expect(found).toHaveLength(16);
    expect(found.slice(0, 15).map((one) => one.more)).toEqual(new Array(15).fill(undefined));
    expect(found[15]?.more).toBe(more);
    expect(found[15]?.message).toBe(`argument "a15" is not allowed; allowed: "b"${end}`);
  });

  test("suggest a similar name from a closed list for an argument outside the list", () => {
    const [failure] = judgeHop(
      normalizeHop({ arguments: { get: ["amount", "to"] } }),
      asked({ operation: "get", arguments: { amuont: 1 } }),
      0,
    );
    expect(failure).toStrictEqual({
      code: "constraint_violated",
      rule: "arguments.get",
      expected: ["amount", "to"],
      actual: "amuont",
      nearest: "amount",
      message: 'argument "amuont" is not allowed; allowed: "amount", "to"; did you mean "amount"?',
    });
    const [other] = calling(1, { arguments: { get: ["amount"] } });
    expect(Object.hasOwn(other ?? {}, "nearest")).toBe(false);
  });

  test("repeat only the first 256 characters of a value", () => {
    const actual = (length: number) => {
      const hop = normalizeHop({ operationConstraints: { get: { x: 1 } } });
      const given = { x: "x".repeat(length) };
      return judgeHop(hop, asked({ operation: "get", arguments: given }), 0)[0]?.actual;
    };
    expect(actual(256)).toBe("x".repeat(256));
    expect(actual(257)).toBe(`${"x".repeat(256)}...`);
  });
});
