import { describe, expect, test } from "vitest";
import type { Denial } from "../../src/capability/denial.js";
import type { HopInit } from "../../src/caveats/hop.js";
import type { Invocation } from "../../src/caveats/invocation.js";
import { encodeHop } from "../../src/caveats/write-hop.js";
import { createMacaroon, macaroonToText, parseMacaroon } from "../../src/macaroon/index.js";
import { append, denials, fixture, GET, mint } from "./support.js";

const { issuer, keys } = fixture();
const token = mint(issuer);

describe("a rule of a token's second hop refuses", () => {
  test.each<[string, HopInit, Partial<Invocation>, Omit<Denial, "message" | "hop">]>([
    [
      "an operation",
      { operations: ["gut"] },
      {},
      {
        code: "operation_denied",
        rule: "operations",
        expected: ["gut"],
        actual: "get",
        nearest: "gut",
      },
    ],
    [
      "a handle",
      { resourceHandles: ["rh_1"] },
      { resourceHandles: ["rh_2"] },
      {
        code: "resource_denied",
        rule: "resourceHandles",
        expected: ["rh_1"],
        actual: "rh_2",
      },
    ],
    [
      "a call without handle",
      { resourceHandles: ["rh_1"] },
      {},
      { code: "resource_denied", rule: "resourceHandles", expected: ["rh_1"] },
    ],
    [
      "an argument",
      { constraints: { amount: { max: 10 } } },
      { arguments: { amount: 500 } },
      {
        code: "constraint_violated",
        rule: "constraints.amount.max",
        expected: 10,
        actual: 500,
        nearest: 10,
      },
    ],
    [
      "a call without the argument",
      { constraints: { to: "acc_1" } },
      {},
      { code: "constraint_violated", rule: "constraints.to", expected: "acc_1", nearest: "acc_1" },
    ],
    [
      "a call after the hop has expired",
      { expires: "2029-12-31T23:59:59Z" },
      {},
      {
        code: "expired",
        rule: "expires",
        expected: "2029-12-31T23:59:59Z",
        actual: "2030-01-01T00:00:00Z",
      },
    ],
    [
      "a call before the hop starts",
      { notBefore: "2030-01-01T00:00:01Z" },
      {},
      {
        code: "not_yet_valid",
        rule: "notBefore",
        expected: "2030-01-01T00:00:01Z",
        actual: "2030-01-01T00:00:00Z",
      },
    ],
    [
      "a check with another audience",
      { audience: ["files"] },
      { audience: "file" },
      {
        code: "audience_denied",
        rule: "audience",
        expected: ["files"],
        actual: "file",
        nearest: "files",
      },
    ],
    [
      "a check without an audience",
      { audience: ["files"] },
      {},
      { code: "audience_denied", rule: "audience", expected: ["files"] },
    ],
    [
      "a call by another agent",
      { invokers: ["agent-a"] },
      { invoker: "agent-b" },
      {
        code: "invoker_denied",
        rule: "invokers",
        expected: ["agent-a"],
        actual: "agent-b",
        nearest: "agent-a",
      },
    ],
  ])("%s", (_, hop, call, denial) => {
    const child = append(token, encodeHop(hop));
    const found = denials(issuer.authorize(child, { ...GET, ...call }));
    // remedies.test.ts tests the remedies.
    expect(found.map(({ remedy: _, ...rest }) => rest)).toEqual([
      { ...denial, hop: 2, message: expect.any(String) },
    ]);
  });

  test("one hop more than maxFurtherHops allows", () => {
    const sealed = append(token, '{"maxFurtherHops":0}');
    expect(denials(issuer.authorize(append(sealed, '{"purpose":"x"}'), GET))).toEqual([
      {
        code: "too_many_hops",
        hop: 2,
        rule: "maxFurtherHops",
        expected: 0,
        actual: 1,
        message: "1 link follows this hop, which allows 0",
      },
    ]);
  });
});

describe("authorize refuses a token that has a caveat that is not a valid hop:", () => {
  test.each<[string, string, Partial<Denial>]>([
    ["a predicate that is not JSON", "time < 2040", { code: "caveat_unknown" }],
    ["an unknown key", '{"scopes":["a"]}', { code: "caveat_unknown", rule: "scopes" }],
    ["a misspelt key", '{"operation":["a"]}', { code: "caveat_unknown", nearest: "operations" }],
    ["a reserved key", '{"cnf":{}}', { code: "caveat_unknown", rule: "cnf" }],
    ["an empty hop", "{}", { code: "caveat_malformed" }],
    ["a hop in a non-canonical spelling", '{"operations": ["get"]}', { code: "caveat_malformed" }],
    [
      "a hop with a wrong value",
      '{"operations":[]}',
      { code: "caveat_malformed", rule: "operations" },
    ],
  ])("%s", (_, caveat, denial) => {
    const child = append(token, caveat);
    expect(denials(issuer.authorize(child, GET))).toMatchObject([{ ...denial, hop: 2 }]);
  });
});

describe("authorize gives the reason expiry_missing", () => {
  const { identifier } = parseMacaroon(token);
  const bare = macaroonToText(createMacaroon(keys.minting.root, { identifier }));

  test.each<[string, string, string[]]>([
    ["for a token without any hop", bare, ["expiry_missing"]],
    [
      "for a token whose hops have no expires",
      append(bare, '{"operations":["get"]}'),
      ["expiry_missing"],
    ],
    [
      "for a token whose expires cannot be read",
      append(bare, '{"expires":"2040-01-01"}'),
      ["caveat_malformed", "expiry_missing"],
    ],
    [
      "but not for a token whose later hop has an expires",
      append(append(bare, '{"purpose":"x"}'), '{"expires":"2030-01-01T00:01:00Z"}'),
      [],
    ],
  ])("%s", (_, text, expected) => {
    expect(denials(issuer.authorize(text, GET)).map(({ code }) => code)).toEqual(expected);
  });

  test("with a rule and a message, and without a hop number", () => {
    expect(denials(issuer.authorize(bare, GET))).toEqual([
      {
        code: "expiry_missing",
        rule: "expires",
        message: "no hop of the token says when it expires",
      },
    ]);
  });
});

test("a refusal lists the first 16 unmet limits of a hop, and the last denial counts the other unmet limits", () => {
  const names = Array.from({ length: 760 }, (_, at) => `a${at.toString(36).padStart(2, "0")}`);
  const limits = (count: number): string =>
    JSON.stringify({ constraints: Object.fromEntries(names.slice(0, count).map((n) => [n, 1])) });
  const of = (count: number): readonly Denial[] =>
    denials(issuer.authorize(append(token, limits(count)), GET));
  const found = of(760);
  expect(found).toHaveLength(16);
  expect(found.at(0)).not.toHaveProperty("more");
  expect(found.at(-1)).toMatchObject({ code: "constraint_violated", hop: 2, more: 744 });
  expect(found.at(-1)?.message).toMatch(/ \(744 more limits are not met\)$/);
  expect(JSON.stringify(found).length).toBeLessThan(4000);
  expect(of(17).at(-1)?.message).toMatch(/ \(1 more limit is not met\)$/);
  expect(of(16)).toHaveLength(16);
  expect(of(16).at(-1)).not.toHaveProperty("more");
});

test("a refusal lists every failure of every hop, in the order of the hops", () => {
  const child = [
    { operations: ["set"], invokers: ["agent-a"] },
    { expires: "2029-01-01T00:00:00Z", constraints: { n: { max: 1, min: 0 } } },
  ].reduce((text, hop) => append(text, encodeHop(hop)), token);
  const call = { grant: "files", operation: "delete", arguments: { n: "many" } };
  const found = denials(issuer.authorize(append(child, "?"), call));
  expect(found.map(({ hop, code, rule }) => [hop, code, rule])).toEqual([
    [1, "operation_denied", "operations"],
    [2, "operation_denied", "operations"],
    [2, "invoker_denied", "invokers"],
    [3, "constraint_violated", "constraints.n.max"],
    [3, "constraint_violated", "constraints.n.min"],
    [3, "expired", "expires"],
    [4, "caveat_unknown", undefined],
  ]);
});

test.each(["constraints", "operationConstraints"])(
  "a denial for a limit in %s has the full name of the failed rule, however long",
  (key) => {
    const name = `${"a ".repeat(60)}b`;
    const limits = { [name]: { max: 1 } };
    const hop = key === "constraints" ? { constraints: limits } : { [key]: { get: limits } };
    const [denial] = denials(issuer.authorize(append(token, encodeHop(hop)), GET));
    const rule = key === "constraints" ? key : `${key}.get`;
    expect(denial?.rule).toBe(`${rule}["${name}"].max`);
  },
);
