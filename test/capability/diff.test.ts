import { describe, expect, test } from "vitest";
import type { HopInit } from "../../src/caveats/hop.js";
import { type AuthorityChange, diff } from "../../src/index.js";
import {
  addFirstPartyCaveat,
  createMacaroon,
  createRootKey,
  macaroonToText,
  parseMacaroon,
} from "../../src/macaroon/index.js";
import { append, attenuated, fixture, mint, tokenError, utf8 } from "./support.js";

const { issuer } = fixture();
const token = mint(issuer);

function changes(parent: string, child: string): readonly AuthorityChange[] {
  const result = diff(parent, child);
  if (!result.derived) throw new Error(result.message);
  return result.changes;
}

describe("diff of parent and child lists what was taken away", () => {
  test.each<[string, HopInit, HopInit, AuthorityChange[]]>([
    ["nothing, if only a purpose was added", {}, { purpose: "x" }, []],
    ["nothing, if the same limit was repeated", {}, { operations: ["get", "put"] }, []],
    [
      "operations",
      {},
      { operations: ["get"] },
      [
        {
          rule: "operations",
          before: ["get", "put"],
          after: ["get"],
          removed: ["put"],
          message: 'operations: "put" taken away, "get" left',
        },
      ],
    ],
    [
      "all other invokers",
      {},
      { invokers: ["agent-a"] },
      [{ rule: "invokers", after: ["agent-a"], message: 'invokers: any, now only "agent-a"' }],
    ],
    [
      "larger amounts",
      { constraints: { amount: { max: 10 } } },
      { constraints: { amount: { max: 5 } } },
      [
        {
          rule: "constraints.amount",
          before: { max: 10 },
          after: { max: 5 },
          message: 'constraints.amount: {"max":10}, now {"max":5}',
        },
      ],
    ],
    [
      "calls without an argument",
      {},
      { constraints: { "a b": null } },
      [
        {
          rule: 'constraints["a b"]',
          after: null,
          message: 'constraints["a b"]: no limit, now null',
        },
      ],
    ],
    [
      "a part of the lifetime",
      {},
      { expires: "2030-01-01T00:05:00Z", notBefore: "2030-01-01T00:01:00Z" },
      [
        {
          rule: "expires",
          before: "2030-01-01T00:15:00Z",
          after: "2030-01-01T00:05:00Z",
          message: 'expires: "2030-01-01T00:15:00Z", now "2030-01-01T00:05:00Z"',
        },
        {
          rule: "notBefore",
          after: "2030-01-01T00:01:00Z",
          message: 'notBefore: no limit, now "2030-01-01T00:01:00Z"',
        },
      ],
    ],
    [
      "further hops",
      { maxFurtherHops: 5 },
      { purpose: "x" },
      [{ rule: "maxFurtherHops", before: 5, after: 4, message: "maxFurtherHops: 5, now 4" }],
    ],
  ])("%s", (_, first, second, expected) => {
    const parent = attenuated(token, { purpose: "parent", ...first });
    expect(changes(parent, attenuated(parent, second))).toEqual(expected);
  });

  test("one value at the end of a long list", () => {
    const many = Array.from({ length: 50 }, (_, i) => `account-${100 + i}`);
    const parent = attenuated(token, { constraints: { to: { in: many } } });
    const child = attenuated(parent, { constraints: { to: { not_in: ["account-149"] } } });
    expect(changes(parent, child)).toMatchObject([
      { rule: "constraints.to", after: { in: many.slice(0, -1) } },
    ]);
  });

  test("everything, if hops contradict each other", () => {
    const parent = attenuated(token, { constraints: { to: "a" } });
    const child = append(parent, '{"constraints":{"to":"b"},"operations":["x"]}');
    expect(changes(parent, child)).toMatchObject([
      { rule: "operations", after: [], removed: ["get", "put"] },
      { rule: "constraints.to", before: "a", after: "nothing" },
    ]);
  });

  test("and the added hops", () => {
    const child = attenuated(attenuated(token, { operations: ["get"] }), { purpose: "x" });
    expect(diff(token, child)).toMatchObject({
      derived: true,
      added: [{ operations: ["get"] }, { purpose: "x" }],
      changes: [{ rule: "operations" }],
    });
    expect(diff(token, token)).toEqual({ derived: true, added: [], changes: [] });
  });
});

describe("diff of two tokens that are not parent and child", () => {
  const { identifier } = parseMacaroon(token);
  const imitation = macaroonToText(createMacaroon(createRootKey(utf8("x")), { identifier }));
  const [issuerHop] = parseMacaroon(token).caveats;
  const forged = macaroonToText(
    addFirstPartyCaveat(parseMacaroon(imitation), issuerHop?.identifier ?? "missing"),
  );
  const child = attenuated(token, { operations: ["get"] });

  test.each<[string, string, string, string, RegExp]>([
    [
      "of different capabilities",
      token,
      mint(issuer),
      "other_capability",
      /two different capabilities/,
    ],
    ["in the wrong order", child, token, "not_a_descendant", /give the parent first/],
    ["siblings", child, attenuated(token, { purpose: "x" }), "not_a_descendant", /another branch/],
    ["equal except for the signature", token, forged, "signature_mismatch", /was altered/],
    [
      "not parent and child, since the parent's signature differs",
      token,
      append(forged, '{"purpose":"x"}'),
      "signature_mismatch",
      /altered/,
    ],
  ])("gives a reason if the tokens are %s", (_, parent, other, reason, message) => {
    const result = diff(parent, other);
    expect(result).toMatchObject({ derived: false, reason });
    expect(result.derived || result.message).toMatch(message);
  });
});

test("diff throws a TokenError if one of the strings is not a token", () => {
  expect(tokenError(() => diff(token, "?"))).toBe("base64_character");
  expect(tokenError(() => diff("", token))).toBe("empty");
});
