import { describe, expect, test } from "vitest";
import { judge } from "../../cli/vectors/answer.js";
import type { DiscoveryCode } from "../../src/discovery/denial.js";
import { discoveryVectors } from "./support.js";

/** `false` for codes about fetching and about signatures, which these vectors do not cover. */
const CODES: Readonly<Record<DiscoveryCode, boolean>> = {
  card_malformed: true,
  interface_unsupported: true,
  version_incompatible: true,
  capability_undeclared: true,
  capability_deprecated: true,
  capability_removed: true,
  grant_missing: true,
  grant_operation_missing: true,
  grant_not_attenuable: true,
  legacy_only: true,
  chain_unknown: true,
  chain_cycle: true,
  chain_too_deep: true,
  delegate_undeclared: true,
  signature_invalid: false,
  signature_missing: false,
  signature_untrusted: false,
  card_unreachable: false,
  card_timeout: false,
  card_too_large: false,
  card_not_json: false,
  redirect_refused: false,
  address_invalid: false,
  address_refused: false,
};

function sorted(texts: Iterable<string>): string[] {
  return [...new Set(texts)].sort();
}

function rulesOf(value: object): readonly number[] {
  const rules: unknown = Reflect.get(value, "rules");
  return Array.isArray(rules) ? rules : [];
}

describe("the vector file capability-discovery.json", () => {
  test("has at least 60 tests, and every operation", () => {
    expect(discoveryVectors.length).toBeGreaterThanOrEqual(60);
    const operations = discoveryVectors.map(({ op }) => op);
    expect(sorted(operations)).toEqual(["chain", "discover", "registry"]);
  });

  test("has every code that a card alone can cause", () => {
    const codes = discoveryVectors.flatMap(({ test: { denials = [] } }) =>
      denials.map(({ code }) => code),
    );
    const wanted = Object.entries(CODES).flatMap(([code, occurs]) => (occurs ? [code] : []));
    expect(sorted(codes)).toEqual(sorted(wanted));
  });

  test("has, for every rule of a registry, a test that breaks only that rule", () => {
    const alone = discoveryVectors
      .map(({ test: one }) => rulesOf(one))
      .filter((r) => r.length === 1);
    expect([...new Set(alone.flat())].sort()).toEqual([1, 2, 3, 4, 5, 6, 7]);
  });

  test.each(
    [
      [
        "Declaration",
        "Places",
        "VersionRange",
        "Interface",
        "OfferedGrant",
        "Legacy",
        "Deprecation",
      ],
      ["MalformedCard", "Limit", "Chain", "ChainBounds", "Propagation", "Reliance", "Stability"],
    ].flat(),
  )("has accepted and refused tests with the flag %s", (flag) => {
    const results = discoveryVectors.flatMap(({ test: { flags, result } }) =>
      flags.includes(flag) ? [result === "usable" || result === "valid"] : [],
    );
    expect(results).toContain(true);
    expect(results).toContain(false);
  });

  test("has the flag AllReported in every test that expects several reasons", () => {
    const silent = discoveryVectors.filter(
      ({ test: { denials = [], flags, ...rest } }) =>
        Math.max(denials.length, rulesOf(rest).length) > 1 && !flags.includes("AllReported"),
    );
    expect(silent.map(({ test: { tcId, comment } }) => `${tcId} ${comment}`)).toEqual([]);
  });
});

describe("judge() of an answer to a discovery test", () => {
  const malformed = discoveryVectors.find(
    ({ op, test: { denials } }) => op === "discover" && denials?.[0]?.code === "card_malformed",
  );
  const valid = discoveryVectors.find(
    ({ op, test: { result } }) => op === "chain" && result === "valid",
  );
  const invalid = discoveryVectors.find(({ test: { result } }) => result === "invalid");
  const usable = discoveryVectors.find(({ test: { result } }) => result === "usable");

  function statusOf(vector: typeof malformed, value: { readonly [name: string]: unknown }): string {
    if (vector === undefined) throw new Error("no such vector");
    return judge(vector, { kind: "answer", value }).status;
  }

  test("passes the refusal of a malformed card if the answer lists card_malformed, whatever else it lists", () => {
    const denials = [{ code: "interface_unsupported" }, { code: "card_malformed", path: "/name" }];
    expect(statusOf(malformed, { result: "refused", denials })).toBe("passed");
    expect(statusOf(malformed, { result: "refused", denials: denials.slice(0, 1) })).toBe("failed");
  });

  test.each([
    [
      "a refused chain without the link",
      valid,
      { result: "refused", denials: [{ code: "chain_cycle" }] },
    ],
    ["the result usable for a chain", valid, { result: "usable" }],
    ["an invalid registry without the broken rules", invalid, { result: "invalid", rules: [] }],
    [
      "a usable card without an interface",
      usable,
      { result: "usable", version: "1.0", warnings: [] },
    ],
    [
      "a usable card without warnings",
      usable,
      {
        result: "usable",
        version: "1.0",
        interface: { url: "https://a.example/", binding: "GRPC" },
      },
    ],
    ["an answer without a result", usable, {}],
  ])("finds the fault garbage in %s", (_, vector, value) => {
    if (vector === undefined) throw new Error("no such vector");
    expect(judge(vector, { kind: "answer", value })).toMatchObject({ fault: "garbage" });
  });
});
