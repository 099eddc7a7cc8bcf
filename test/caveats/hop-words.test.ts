import { describe, expect, test } from "vitest";
import type { Authority } from "../../src/caveats/authority.js";
import type { Hop } from "../../src/caveats/hop.js";
import { HOP_KEYS, HOP_RULES, overHop } from "../../src/caveats/hop-rules.js";

const HOP: Hop = {
  operations: ["retrieve"],
  resourceHandles: ["rh_a"],
  constraints: { amount: { max: 5 } },
  expires: "2026-01-01T01:00:00Z",
  notBefore: "2026-01-01T00:00:00Z",
  audience: ["shop"],
  invokers: ["agent"],
  maxFurtherHops: 2,
  purpose: "a summary",
  nonce: "AAAAAAAAAAAAAAAA",
};

test("each key of a hop has its words, of its kind", () => {
  expect(overHop(HOP, (rule, value) => rule.words(value))).toEqual([
    { kind: "set", items: ["retrieve"] },
    { kind: "set", items: ["rh_a"] },
    { kind: "limits", limits: { amount: { max: 5 } } },
    { kind: "time", time: "2026-01-01T01:00:00Z" },
    { kind: "time", time: "2026-01-01T00:00:00Z" },
    { kind: "set", items: ["shop"] },
    { kind: "set", items: ["agent"] },
    { kind: "count", count: 2 },
    { kind: "text", text: "a summary" },
    { kind: "text", text: "AAAAAAAAAAAAAAAA" },
  ]);
});

describe("what hops leave of a key", () => {
  const left = (authority: Authority): object =>
    Object.fromEntries(
      HOP_KEYS.flatMap((key) => {
        const words = HOP_RULES[key].left(authority);
        return words === undefined ? [] : [[key, words]];
      }),
    );

  test("is absent where no hop limits it", () => {
    expect(left({})).toEqual({});
  });

  test("is of the same kind as the key's words", () => {
    const domains = { amount: { types: ["number"] as const, max: 5 } };
    const { operations, expires, notBefore, audience, invokers, resourceHandles } = HOP;
    const limits = { operations, resourceHandles, expires, notBefore, audience, invokers };
    const authority = { ...limits, constraints: domains, furtherHops: 2 } as unknown as Authority;
    expect(left(authority)).toEqual({
      operations: { kind: "set", items: ["retrieve"] },
      resourceHandles: { kind: "set", items: ["rh_a"] },
      constraints: { kind: "domains", domains },
      expires: { kind: "time", time: "2026-01-01T01:00:00Z" },
      notBefore: { kind: "time", time: "2026-01-01T00:00:00Z" },
      audience: { kind: "set", items: ["shop"] },
      invokers: { kind: "set", items: ["agent"] },
      maxFurtherHops: { kind: "count", count: 2 },
    });
  });
});
