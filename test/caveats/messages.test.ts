import { describe, expect, test } from "vitest";
import { overreaches } from "../../src/caveats/attenuation.js";
import type { Hop } from "../../src/caveats/hop.js";
import type { RuleFailure } from "../../src/caveats/hop-rule.js";
import { judgeHop } from "../../src/caveats/judge.js";
import { meetOf } from "../../src/caveats/meet.js";
import { readHop } from "../../src/caveats/read-hop.js";
import { normalizeHop } from "../../src/caveats/write-hop.js";
import { asked, misuse, utf8 } from "./support.js";

// The complete text of each message, since people and agents act on it.

const JAN_1 = "2030-01-01T00:00:00Z";
const JAN_2 = "2030-01-02T00:00:00Z";

const KEYS =
  "there are operations, resourceHandles, constraints, operationConstraints, arguments, expires, notBefore, audience, invokers, " +
  "maxFurtherHops, purpose, nonce";

describe("the message of a failed rule", () => {
  const failures = (hop: Hop, furtherLinks = 0): readonly RuleFailure[] =>
    judgeHop(
      hop,
      asked({ operation: "get", resourceHandles: ["rh_1"], arguments: { n: 5 } }),
      furtherLinks,
    );

  test.each<[string, Hop]>([
    [
      'operation "get" is not allowed; allowed: "got"; did you mean "got"?',
      { operations: ["got"] },
    ],
    ['resource handle "rh_1" is not allowed; allowed: "other"', { resourceHandles: ["other"] }],
    ['no audience is given; allowed: "mail"', { audience: ["mail"] }],
    ['no invoker is given; allowed: "agent:a"', { invokers: ["agent:a"] }],
    [`not valid before ${JAN_2}; it is ${JAN_1}`, { notBefore: JAN_2 }],
    [`expired at ${JAN_1}; it is ${JAN_1}`, { expires: JAN_1 }],
    ['argument "n" must be a number of at most 4; it is 5', { constraints: { n: { max: 4 } } }],
    ['argument "n" must be a number of at least 6; it is 5', { constraints: { n: { min: 6 } } }],
    ['argument "n" must be one of 4, 6; it is 5', { constraints: { n: { in: [4, 6] } } }],
    ['argument "n" must not be one of 5; it is 5', { constraints: { n: { not_in: [5] } } }],
    ['argument "n" must be of type string; it is 5', { constraints: { n: { not_in: ["a"] } } }],
    ['argument "n" must be "5"; it is 5', { constraints: { n: "5" } }],
    ['argument "m" must be 1; it is missing', { constraints: { m: 1 } }],
  ])("is: %s", (message, hop) => {
    expect(failures(hop).map((failure) => failure.message)).toEqual([message]);
  });

  test("says that 2 links follow this hop, which allows 1", () => {
    const [failure] = failures({ maxFurtherHops: 1 }, 2);
    expect(failure).toStrictEqual({
      code: "too_many_hops",
      rule: "maxFurtherHops",
      expected: 1,
      actual: 2,
      message: "2 links follow this hop, which allows 1",
    });
    expect(failures({ maxFurtherHops: 2 }, 2)).toEqual([]);
  });

  test("says that no handle is given", () => {
    const [failure] = judgeHop({ resourceHandles: ["a"] }, asked(), 0);
    expect(failure?.rule).toBe("resourceHandles");
    expect(failure?.message).toBe('no resource handle is given; allowed: "a"');
  });

  test("shows an array or object argument only by its type", () => {
    const had = [[], {}, null].map((n) => {
      const [failure] = judgeHop({ constraints: { n: 1 } }, asked({ arguments: { n } }), 0);
      return failure?.message;
    });
    expect(had).toEqual([
      'argument "n" must be 1; it is an array',
      'argument "n" must be 1; it is an object',
      'argument "n" must be 1; it is null',
    ]);
  });

  test("is given for only the first few of 500 refused handles", () => {
    const resourceHandles = Array.from({ length: 500 }, (_, at) => `rh_${at}`);
    const told = judgeHop({ resourceHandles: ["other"] }, asked({ resourceHandles }), 0);
    expect(told.map(({ actual }) => actual)).toEqual(resourceHandles.slice(0, told.length));
    expect(told.length).toBeLessThan(resourceHandles.length);
  });

  test("suggests nothing if no name is near", () => {
    for (const hop of [{ resourceHandles: ["other"] }, { constraints: { n: { in: ["a"] } } }]) {
      const [failure] = failures(hop);
      expect(failure?.rule).toMatch(/^(resourceHandles|constraints\.n\.in)$/);
      expect(Object.keys(failure ?? {})).not.toContain("nearest");
    }
  });
});

describe("the message for a caveat that is not a hop", () => {
  test.each<[string, string]>([
    ["the caveat is not a hop: it is not a JSON object", "account = 1"],
    ["the caveat is not in canonical form (RFC 8785)", '{"purpose": "a"}'],
    ["the caveat is not JSON that has a canonical form", '{"purpose":'],
    ["the caveat is empty", "{}"],
    ['"purpose" must be a string, not 1', '{"purpose":1}'],
    ['"expires" must be a time such as 2026-01-31T23:59:59Z, not 1', '{"expires":1}'],
    [`unknown key "colour" in a hop; ${KEYS}`, '{"colour":1}'],
    [`reserved key "cnf" in a hop; ${KEYS}`, '{"cnf":1}'],
    [`reserved key "handover" in a hop; ${KEYS}`, '{"handover":1}'],
    [
      'unknown operator "lte" in "constraints.a"; there are in, max, min, not_in',
      '{"constraints":{"a":{"lte":1}}}',
    ],
    [
      'unknown operator "path" in "constraints.a"; "operationConstraints" has "path", for one operation or, under "*", for every operation',
      '{"constraints":{"a":{"path":"/d"}}}',
    ],
    [
      'unknown operator "maxx" in "operationConstraints.pay.amount"; did you mean "max"?',
      '{"operationConstraints":{"pay":{"amount":{"maxx":1}}}}',
    ],
    ['"operations" must be a non-empty array of strings, not "get"', '{"operations":"get"}'],
    [
      '"operations" must be strictly ascending, each string once, not ["b","a"]',
      '{"operations":["b","a"]}',
    ],
    ['"constraints.a.max" must be a number, not "1"', '{"constraints":{"a":{"max":"1"}}}'],
    [
      '"constraints.a.in" must be a non-empty array of strings, numbers, booleans or null, not [1,{}]',
      '{"constraints":{"a":{"in":[1,{}]}}}',
    ],
    [
      '"constraints.a.in" must be strictly ascending by canonical text, each value once, not [2,1]',
      '{"constraints":{"a":{"in":[2,1]}}}',
    ],
  ])("is: %s", (message, caveat) => {
    const reading = readHop(utf8(caveat));
    const [problem, ...others] = reading.ok ? [] : reading.problems;
    expect(problem?.message).toBe(message);
    expect(others).toEqual([]);
    // No property is undefined.
    expect(Object.values(problem ?? {})).not.toContain(undefined);
  });
});

describe("the message of an overreach", () => {
  test.each<[string, Hop[]]>([
    ['"notBefore" would leave nothing', [{ expires: JAN_1 }, { notBefore: JAN_1 }]],
    [
      `"notBefore": "${JAN_1}" goes beyond the token; it is not valid before ${JAN_2}`,
      [{ notBefore: JAN_2 }, { notBefore: JAN_1 }],
    ],
    ["the token is sealed: no hop may follow (maxFurtherHops)", [{ maxFurtherHops: 0 }, {}]],
    [
      '"maxFurtherHops": 3 goes beyond the token; after this hop at most 2 may follow',
      [{ maxFurtherHops: 3 }, { maxFurtherHops: 3 }],
    ],
    [
      '"constraints.a": {"not_in":["x"]} would leave no value; still allowed: "x"',
      [{ constraints: { a: "x" } }, { constraints: { a: { not_in: ["x"] } } }],
    ],
  ])("is: %s", (message, hops) => {
    const found = overreaches(meetOf([hops.slice(0, -1)]), hops[hops.length - 1] ?? {});
    expect(found.map((one) => one.message)).toEqual([message]);
  });
});

describe("the error of normalizeHop for an invalid hop", () => {
  const nested: unknown[] = [];
  nested.push(nested);

  test.each<[string, unknown]>([
    [`hop must be a plain object with ${KEYS.slice("there are ".length)}, not a string`, "get"],
    ["hop.purpose must be nested at most 256 deep, and not hold itself", { purpose: nested }],
    ['"purpose" must be a string, not ["b","a"]', { purpose: ["b", "a"] }],
    // Only limits are put in order; an invalid value is quoted as given.
    [
      '"purpose" must be a string, not {"a":{"in":["b","a"]}}',
      { purpose: { a: { in: ["b", "a"] } } },
    ],
    [
      '"constraints.a.in" must be a non-empty array of strings, numbers, booleans or null, not [{},"a"]',
      { constraints: { a: { in: [{}, "a"] } } },
    ],
    [
      "hop.operations.a is undefined; leave it out, or give it a value",
      { operations: { a: undefined } },
    ],
    ['"constraints" must be an object with at least one argument, not "x"', { constraints: "x" }],
    ['"constraints" must be an object with at least one argument, not null', { constraints: null }],
  ])("is: %s", (message, hop) => {
    expect(misuse(() => normalizeHop(hop as object))).toBe(message);
  });

  test.each<[string, object]>([
    ["a property", { maxFurtherHops: 0, operations: undefined }],
    ["a limit", { constraints: { a: 1, to: undefined } }],
    ["an operator", { constraints: { a: { max: 1, min: undefined } } }],
  ])(
    "says that the value of %s is undefined, since that could be taken for no restriction",
    (_, hop) => {
      expect(misuse(() => normalizeHop(hop))).toMatch(/undefined/);
    },
  );

  test("is not thrown for a constraint of null, which is valid", () => {
    expect(normalizeHop({ constraints: { b: null } })).toStrictEqual({ constraints: { b: null } });
  });
});
