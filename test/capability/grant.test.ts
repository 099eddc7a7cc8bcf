import { describe, expect, test } from "vitest";
import type { Invocation } from "../../src/caveats/invocation.js";
import type { Grant } from "../../src/issuer/index.js";
import { createKeyring, createRevocationList } from "../../src/issuer/index.js";
import {
  append,
  attenuated,
  codes,
  denials,
  fixture,
  mint,
  mintOpen,
  misuse,
  NOW,
} from "./support.js";

// The grant under which a service acts is part of the check: a token of another grant is refused. If the issuer knows
// its grants, operations outside the token's own grant are refused too.

const GRANTS: readonly Grant[] = [
  { id: "files", operations: ["get", "put"] },
  { id: "weather:read", operations: ["get", "forecast"] },
  { id: "mail:send", operations: ["send"] },
];

const keys = createKeyring();
const { issuer: blind } = fixture({ keys });
const { issuer: knowing } = fixture({ keys, grants: GRANTS });
const files = mintOpen(blind);
const weather = mintOpen(blind, { grant: "weather:read" });

describe("an issuer without a list of grants", () => {
  test.each<[string, string, Invocation["grant"], string[]]>([
    ["allows a call under the token's own grant", files, "files", []],
    ["allows a call under an array with the token's grant", files, ["files"], []],
    [
      "allows a call under several grants with the token's among them",
      files,
      ["weather:read", "files"],
      [],
    ],
    ["refuses a call under another grant", weather, "files", ["grant_denied"]],
    [
      "refuses a call under several other grants",
      weather,
      ["files", "mail:send"],
      ["grant_denied"],
    ],
    ["refuses a call under the grant in another case", files, "Files", ["grant_denied"]],
    ["refuses a call under a longer name", files, "files ", ["grant_denied"]],
    ["refuses a call under a part of the name", weather, "weather", ["grant_denied"]],
    ["refuses a call under *", files, "*", ["grant_denied"]],
    ["refuses a call under an inherited property's name", files, "toString", ["grant_denied"]],
  ])("%s", (_, token, grant, expected) => {
    const asked = { grant, operation: "get" };
    expect(codes(blind.authorize(token, asked))).toEqual(expected);
  });

  test("gives a denial that names the call's grants and the token's grant, and no hop", () => {
    expect(denials(blind.authorize(weather, { grant: ["files", "a"], operation: "get" }))).toEqual([
      {
        code: "grant_denied",
        rule: "grant",
        expected: ["files", "a"],
        actual: "weather:read",
        message: 'the token is for "weather:read", and this call is under "files", "a"',
      },
    ]);
  });

  test("throws a TypeError for a call without a grant, whatever the token", () => {
    for (const token of [files, weather, "noise", ""]) {
      expect(misuse(() => blind.authorize(token, { operation: "get" }))).toBe(
        'invocation.grant must say under which grant this service acts, such as "documents:read": this issuer does not know its grants',
      );
    }
  });
});

describe("an issuer with a list of grants", () => {
  test("refuses an operation that the token's grant does not have", () => {
    expect(denials(knowing.authorize(files, { grant: "files", operation: "delete" }))).toEqual([
      {
        code: "grant_denied",
        rule: "operations",
        expected: ["get", "put"],
        actual: "delete",
        message: 'the grant "files" does not have the operation "delete"; it has "get", "put"',
      },
    ]);
  });

  test("refuses an operation outside the token's grant even if a hop names the operation", () => {
    const wider = append(files, '{"operations":["delete","get"]}');
    expect(codes(knowing.authorize(wider, { grant: "files", operation: "delete" }))).toEqual([
      "grant_denied",
    ]);
    expect(codes(knowing.authorize(wider, { grant: "files", operation: "get" }))).toEqual([]);
    const minted = mint(blind, { operations: ["delete"] });
    expect(codes(knowing.authorize(minted, { grant: "files", operation: "delete" }))).toEqual([
      "grant_denied",
    ]);
  });

  test("lists two reasons if both the grant and the operation are wrong", () => {
    const decision = knowing.authorize(weather, { grant: "mail:send", operation: "send" });
    expect(denials(decision).map(({ code, rule }) => [code, rule])).toEqual([
      ["grant_denied", "grant"],
      ["grant_denied", "operations"],
    ]);
  });

  test("needs no grant in the call if exactly one grant has the operation", () => {
    expect(codes(knowing.authorize(files, { operation: "put" }))).toEqual([]);
    expect(codes(knowing.authorize(weather, { operation: "forecast" }))).toEqual([]);
    expect(
      denials(knowing.authorize(weather, { operation: "put" })).map(({ rule }) => rule),
    ).toEqual(["grant", "operations"]);
  });

  test.each<[string, Invocation, string]>([
    [
      "for an operation of two grants",
      { operation: "get" },
      'invocation.grant must say under which grant this service acts: the operation "get" belongs to "files", "weather:read"',
    ],
    [
      "for an operation of no grant",
      { operation: "delete" },
      'invocation.operation: no grant has "delete"; known operations: "get", "put", "forecast", "send"',
    ],
    [
      "for an unknown grant",
      { grant: "fils", operation: "get" },
      'this issuer has no grant "fils"; it has "files", "weather:read", "mail:send"',
    ],
    [
      "for an unknown grant beside a known grant",
      { grant: ["files", "calendar"], operation: "get" },
      'this issuer has no grant "calendar"; it has "files", "weather:read", "mail:send"',
    ],
    [
      "for a grant named like an inherited property",
      { grant: "constructor", operation: "get" },
      'this issuer has no grant "constructor"; it has "files", "weather:read", "mail:send"',
    ],
  ])(
    "throws a TypeError that lists the known grants or operations: %s",
    (_, invocation, message) => {
      for (const token of [files, "noise"]) {
        expect(misuse(() => knowing.authorize(token, invocation))).toBe(message);
      }
    },
  );

  test("refuses the capabilities of a grant that was removed, or that lost the operation", () => {
    const fewer = fixture({ keys, grants: [{ id: "weather:read", operations: ["forecast"] }] });
    const at = (token: string): string[] =>
      codes(fewer.issuer.authorize(token, { grant: "weather:read", operation: "get" }));
    expect(at(files)).toEqual(["grant_denied"]);
    expect(at(weather)).toEqual(["grant_denied"]);
  });

  test("copies the list: later changes of the caller's arrays have no effect", () => {
    const operations = ["get"];
    const grants = [{ id: "files", operations }];
    const { issuer } = fixture({ keys, grants });
    operations.push("delete");
    grants.push({ id: "weather:read", operations: ["get"] });
    expect(codes(issuer.authorize(files, { operation: "delete", grant: "files" }))).toEqual([
      "grant_denied",
    ]);
    expect(codes(issuer.authorize(files, { operation: "get" }))).toEqual([]);
    const inside = issuer.grants?.get("files")?.operations as string[];
    expect(() => inside.push("delete")).toThrow(TypeError);
  });
});

describe("the denial grant_denied", () => {
  const at = "2030-01-01T00:00:00Z";

  test("comes after revoked and revocation_stale, and before the denials of hops", () => {
    const revocations = createRevocationList({ version: 1, trustedUntil: at, entries: [] });
    const { issuer } = fixture({ keys, grants: GRANTS, revocations });
    const minted = blind.issue(() => ({ grant: "files", operations: ["get"] })).capability;
    const entries = [{ kind: "capability", id: minted.id, at } as const];
    revocations.replace({ version: 2, trustedUntil: at, entries });
    const token = append(append(minted.token, '{"expires":"2029-01-01T00:00:00Z"}'), "?");
    const decision = issuer.authorize(token, { grant: "mail:send", operation: "send" });
    expect(denials(decision).map(({ code, rule, hop }) => [code, rule, hop])).toEqual([
      ["revoked", "capability", undefined],
      ["revocation_stale", "trustedUntil", undefined],
      ["grant_denied", "grant", undefined],
      ["grant_denied", "operations", undefined],
      ["operation_denied", "operations", 1],
      ["expired", "expires", 2],
      ["caveat_unknown", undefined, 3],
    ]);
    for (const denial of denials(decision).slice(2, 4)) expect(denial).not.toHaveProperty("hop");
  });

  test.each<[string, string, string]>([
    ["altered", `${weather.slice(0, -4)}AAAA`, "signature_mismatch"],
    [
      "another issuer's",
      mint(fixture({ name: "other", keys }).issuer, { grant: "a" }),
      "foreign_issuer",
    ],
    ["under another key", mint(fixture({ keys: createKeyring() }).issuer), "unknown_key"],
    ["cut short", weather.slice(0, -8), "token_truncated"],
    ["too large", append(weather, "x".repeat(8193)), "token_too_large"],
  ])("is not given for a token that is %s", (_, token, code) => {
    for (const issuer of [blind, knowing]) {
      const decision = issuer.authorize(token, { grant: "mail:send", operation: "send" });
      expect(codes(decision)).toEqual([code]);
      expect(JSON.stringify(decision)).not.toContain("weather");
    }
  });

  test("comes in a decision that names the grant of the presented capability", () => {
    const decision = knowing.authorize(weather, { grant: "files", operation: "put" });
    expect(decision).toMatchObject({ allowed: false, capability: { grant: "weather:read" } });
  });
});

describe("no grant is needed", () => {
  test.each([["knows", knowing] as const, ["does not know", blind] as const])(
    "for standing and revocationOf, at an issuer that %s its grants",
    (_, issuer) => {
      for (const token of [files, weather, mintOpen(blind, { grant: "gone" })]) {
        expect(codes(issuer.standing(token))).toEqual([]);
        expect(issuer.revocationOf(token)).toMatchObject({ ok: true });
      }
    },
  );

  test("for attenuate", () => {
    const child = attenuated(weather, { operations: ["get"] });
    const call = { grant: "weather:read", operation: "get", time: new Date(NOW) };
    expect(codes(knowing.authorize(child, call))).toEqual([]);
  });
});

test("the TypeError for an operation that no grant has suggests the nearest operation", () => {
  const start = "invocation.operation: no grant has";
  expect(misuse(() => knowing.authorize(files, { operation: "forcast" }))).toBe(
    `${start} "forcast"; did you mean "forecast"? Known operations: "get", "put", "forecast", "send"`,
  );
  expect(misuse(() => knowing.authorize(files, { operation: "xyz" }))).toContain(
    `${start} "xyz"; known operations:`,
  );
});
