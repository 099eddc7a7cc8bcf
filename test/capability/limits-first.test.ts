import { describe, expect, test } from "vitest";
import { overreaches } from "../../src/caveats/attenuation.js";
import { readHop } from "../../src/caveats/read-hop.js";
import { attenuate, inspect } from "../../src/index.js";
import { append, codes, fixture, GET, mint, mintOpen, tokenError, utf8 } from "./support.js";

// Limits are checked first: an oversized value is refused for its size, before any comparison. At most 16 faults are
// reported.

const { issuer } = fixture();
const token = mint(issuer);
const MOST = 16;

const many = (count: number, name = "v"): string[] =>
  Array.from({ length: count }, (_, at) => `${name}${at}`);

function limitsOn(count: number, limit: object): { [argument: string]: object } {
  return Object.fromEntries(many(count, "argument_").map((name) => [name, limit]));
}

describe("attenuate refuses a hop past a limit with one TokenError", () => {
  const long = "x".repeat(1000);
  const large = { constraints: limitsOn(242, { in: [long] }) };

  test("for 242 kB of limits on arguments, without listing overreaches", () => {
    expect(JSON.stringify(large).length).toBeGreaterThan(242_000);
    const parent = mint(issuer, { constraints: limitsOn(100, { max: 1 }) });
    const run = (): unknown => attenuate(parent, large);
    expect(tokenError(run)).toBe("caveat_too_large");
    expect(tokenError(() => attenuate(parent, large, { intersect: true }))).toBe(
      "caveat_too_large",
    );
    try {
      run();
    } catch (error) {
      expect(String(error).length).toBeLessThan(200);
    }
  });

  test("even if the hop would otherwise be a TypeError", () => {
    const wrong = { operations: many(10_000), expires: "someday" };
    expect(tokenError(() => attenuate(token, wrong))).toBe("caveat_too_large");
  });

  test.each<[string, object, string]>([
    ["too many members", { operations: many(257) }, "too_many_members"],
    ["too many bytes", { purpose: "x".repeat(8192) }, "caveat_too_large"],
    [
      "values that are nested too deep",
      { constraints: { a: { in: [[[[[[[1]]]]]]] } } },
      "too_deep",
    ],
  ])("for %s, even if the token allows none of the hop", (_, hop, code) => {
    expect(tokenError(() => attenuate(token, hop))).toBe(code);
  });

  test("counting the nonce that attenuate adds", () => {
    const purpose = "x".repeat(8192 - '{"purpose":""}'.length);
    expect(tokenError(() => attenuate(token, { purpose }))).toBe("caveat_too_large");
    expect(tokenError(() => attenuate(token, { purpose }, { nonce: false }))).toBe("accepted");
  });

  test("also if intersecting makes the hop too large", () => {
    const values = (from: number): string[] => many(150, `${from}`);
    const parent = mint(issuer, { constraints: { a: { not_in: values(1) } } });
    const hop = { constraints: { a: { not_in: values(2) } } };
    expect(tokenError(() => attenuate(parent, hop))).toBe("accepted");
    expect(tokenError(() => attenuate(parent, hop, { intersect: true }))).toBe("too_many_members");
  });
});

describe("at most 16 reasons are reported", () => {
  test("for operations beyond the token", () => {
    const refused = attenuate(token, { operations: many(256) });
    expect(refused.ok || refused.overreaches.length).toBe(MOST);
  });

  test("for operations, constraints and invokers together: the first 16 in this order", () => {
    const parent = mint(issuer, { invokers: ["a"], constraints: limitsOn(90, { max: 1 }) });
    const refused = attenuate(parent, {
      operations: ["delete"],
      constraints: limitsOn(90, { max: 2, min: 2 }),
      invokers: many(90),
    });
    const rules = refused.ok ? [] : refused.overreaches.map(({ rule }) => rule.split(".")[0]);
    expect(rules).toEqual(["operations", ...Array<string>(15).fill("constraints")]);
  });

  test("for a token that allows no further hop, and maxFurtherHops is among them", () => {
    const sealed = append(token, '{"maxFurtherHops":0}');
    const refused = attenuate(sealed, { operations: many(256) });
    expect(refused.ok || refused.overreaches.length).toBeLessThanOrEqual(MOST);
    expect(refused.ok || refused.overreaches.some(({ rule }) => rule === "maxFurtherHops")).toBe(
      true,
    );
  });

  test("for arguments whose limits leave no value", () => {
    const hop = (value: number): string => {
      const limits = many(200, "a")
        .sort()
        .map((name) => [name, value]);
      return JSON.stringify({ constraints: Object.fromEntries(limits) });
    };
    const nothing = append(append(mintOpen(issuer), hop(1)), hop(2));
    const refused = attenuate(nothing, { purpose: "why" });
    expect(refused.ok || refused.overreaches.length).toBeLessThanOrEqual(MOST);
  });

  test("by overreaches() alone", () => {
    expect(overreaches({ operations: ["a"] }, { operations: many(5000) })).toHaveLength(MOST);
  });

  test("for a caveat that is not a hop, by readHop, authorize, inspect and attenuate", () => {
    const names = many(200, "k").sort();
    const caveat = JSON.stringify(Object.fromEntries(names.map((name) => [name, 1])));
    const reading = readHop(utf8(caveat));
    expect(reading.ok || reading.problems.length).toBe(MOST);
    const broken = append(token, caveat);
    expect(codes(issuer.authorize(broken, GET))).toEqual(Array(MOST).fill("caveat_unknown"));
    expect(inspect(broken).links[1]?.problems).toHaveLength(MOST);
    const refused = attenuate(broken, { purpose: "why" });
    expect(refused.ok || refused.overreaches.length).toBe(MOST);
  });

  test("15 of 15, 16 of 16, and 16 of 17", () => {
    const told = (count: number): unknown => {
      const refused = attenuate(token, { operations: many(count) });
      return refused.ok || refused.overreaches.length;
    };
    expect([told(15), told(16), told(17)]).toEqual([15, 16, 16]);
  });
});

test.each([
  ["nested too deep", { a: [[[[[[[1]]]]]]] }, "too_deep"],
  ["with too many members", { operations: many(257).sort() }, "too_many_members"],
])("attenuate refuses a token that has a caveat %s", (_, caveat, code) => {
  const parent = append(token, JSON.stringify(caveat));
  expect(tokenError(() => attenuate(parent, { operations: ["get"] }))).toBe(code);
});
