import { describe, expect, test } from "vitest";
import { attenuate, createNonce, inspect, revocationId } from "../../src/index.js";
import {
  addThirdPartyCaveat,
  macaroonToText,
  parseMacaroon,
  writeMacaroons,
} from "../../src/macaroon/index.js";
import {
  append,
  attenuated,
  codes,
  fixture,
  GET,
  mint,
  mintOpen,
  misuse,
  tokenError,
  utf8,
} from "./support.js";

const { issuer } = fixture();
const token = mint(issuer);
const NONCE = "AAAAAAAAAAAAAAAA";
const GENERIC = "AgIBYQAABiDy1zQRnrm14nj2Sbcnq5xpVI7Hw9j8NPgiov7aWHLqzA";

describe("a child made by attenuate", () => {
  test("is returned with the appended hop and the child's revocation id", () => {
    const child = attenuate(token, {
      operations: ["put", "get", "put"],
      purpose: "why",
      nonce: NONCE,
    });
    expect(child).toEqual({
      ok: true,
      token: expect.any(String),
      hop: { operations: ["get", "put"], purpose: "why", nonce: NONCE },
      revocationId: child.ok ? revocationId(child.token) : "",
      note: "nothing is taken away; the child can be revoked on its own",
    });
    expect(child.ok && inspect(child.token).links[1]).toMatchObject({ hop: child.ok && child.hop });
  });

  test("allows only what both the parent and the hop allow, and does not change what the parent allows", () => {
    const child = attenuated(token, { operations: ["get"] });
    expect(codes(issuer.authorize(child, GET))).toEqual([]);
    expect(codes(issuer.authorize(child, { ...GET, operation: "put" }))).toEqual([
      "operation_denied",
    ]);
    expect(codes(issuer.authorize(token, { ...GET, operation: "put" }))).toEqual([]);
  });

  test("keeps a third-party caveat of the parent, before the appended hop", () => {
    const asking = macaroonToText(
      addThirdPartyCaveat(parseMacaroon(token), { key: utf8("k"), identifier: "q" }),
    );
    expect(
      inspect(attenuated(asking, { operations: ["get"] })).links.map(({ kind }) => kind),
    ).toEqual(["hop", "third-party", "hop"]);
  });

  test("gets the intersection of the hop and the token as its appended hop if the option intersect is set", () => {
    const hop = { operations: ["delete", "get"], expires: "2031-01-01T00:00:00Z" };
    expect(attenuate(token, hop)).toMatchObject({ ok: false });
    expect(attenuate(token, hop, { intersect: true })).toMatchObject({
      ok: true,
      hop: { operations: ["get"], expires: "2030-01-01T00:15:00Z" },
    });
  });
});

test("if the token allows every operation, attenuate returns a note that lists the operations with limits in the hop, since nothing checks their names", () => {
  const open = mintOpen(issuer);
  const hop = {
    operationConstraints: { gte: { size: { max: 1 } }, "*": { force: { absent: true } } },
    arguments: { gte: ["size"], put: [] },
  } as const;
  expect(attenuate(open, hop)).toMatchObject({
    note: 'the token allows every operation, so nothing checks the names "gte", "put"',
  });
  expect(attenuate(open, { arguments: { "*": [] } })).not.toHaveProperty("note");
  const named = { operations: ["get"], arguments: { get: [] } };
  expect(attenuate(open, named)).not.toHaveProperty("note");
});

describe("attenuate refuses a hop", () => {
  test("and gives one reason for each value beyond the token", () => {
    const refused = attenuate(token, { operations: ["gat"], expires: "2031-01-01T00:00:00Z" });
    expect(refused.ok || refused.overreaches.map(({ rule, nearest }) => [rule, nearest])).toEqual([
      ["operations", "get"],
      ["expires", "2030-01-01T00:15:00Z"],
    ]);
  });

  test("with the option intersect, if no operation would be left", () => {
    expect(attenuate(token, { operations: ["delete"] }, { intersect: true })).toMatchObject({
      ok: false,
      overreaches: [{ rule: "operations", value: "delete" }],
    });
  });

  describe("if the hop limits the arguments of an operation that the child would not have", () => {
    const LIMITS = {
      operationConstraints: { Get: { amount: { max: 50 } } },
      arguments: { Get: ["amount"] },
    };

    test.each([
      ["and has no other restriction", token, LIMITS],
      ["and names operations too", token, { ...LIMITS, operations: ["get"] }],
      ["and has a correct limit too", token, { ...LIMITS, arguments: { get: ["amount"] } }],
      [
        "and is the first hop of the token to name operations",
        mintOpen(issuer),
        { ...LIMITS, operations: ["get"] },
      ],
    ])("%s", (_, parent, hop) => {
      for (const intersect of [false, true]) {
        const refused = attenuate(parent, hop, { intersect });
        expect(refused.ok || refused.overreaches[0]).toMatchObject({
          rule: "operationConstraints.Get",
          nearest: "get",
          message: expect.stringContaining('did you mean "get"?'),
        });
      }
    });

    test("unless the option intersect is set and the hop itself takes the operation away", () => {
      const hop = { operations: ["get"], operationConstraints: { put: { size: { max: 1 } } } };
      expect(attenuate(token, hop)).toMatchObject({ ok: false });
      const child = attenuate(token, hop, { intersect: true, nonce: false });
      expect(child.ok && child.hop).toEqual({ operations: ["get"] });
    });
  });

  test("if the token allows no further hop", () => {
    const sealed = attenuated(token, { maxFurtherHops: 0 });
    expect(attenuate(sealed, { purpose: "x" }, { intersect: true })).toMatchObject({
      ok: false,
      overreaches: [{ rule: "maxFurtherHops" }],
    });
  });

  test("if caveats of the token cannot be read, and gives the number of each such caveat", () => {
    const broken = append(append(append(token, "?"), '{"purpose":"fine"}'), '{"a":1,"b":2}');
    const refused = attenuate(broken, { purpose: "x" });
    expect(refused.ok || refused.overreaches.map(({ rule, value }) => [rule, value])).toEqual([
      ["caveats", 2],
      ["caveats", 4],
      ["caveats", 4],
    ]);
    expect(refused.ok || refused.overreaches[0]?.message).toMatch(
      /^hop 2 cannot be read, so every/,
    );
  });
});

describe("attenuate throws a TokenError for a hop past a limit:", () => {
  const full = Array.from({ length: 31 }).reduce<string>(
    (text, _, at) => attenuated(text, { purpose: `${at}` }),
    token,
  );
  const heavy = attenuated(token, { purpose: "x".repeat(8000) });
  const wide = { operations: Array.from({ length: 257 }, (_, at) => at.toString(36)) };

  test("the hop would be the 33rd link", () => {
    expect(inspect(full).links).toHaveLength(32);
    expect(tokenError(() => attenuate(full, { purpose: "x" }))).toBe("too_many_caveats");
    expect(codes(issuer.authorize(full, GET))).toEqual([]);
  });

  test("the hop has more than 8 KiB", () => {
    const purpose = "x".repeat(8192 - '{"purpose":""}'.length);
    const appending = (more: string): string =>
      tokenError(() => attenuate(token, { purpose: purpose + more }, { nonce: false }));
    expect(appending("")).toBe("accepted");
    expect(appending("x")).toBe("caveat_too_large");
  });

  test("the token would have more than 10 KiB", () => {
    const room = 10_240 - inspect(heavy).bytes;
    // The size of a caveat with an empty purpose: its JSON, and four bytes for the field type, the length and the end
    // of the section.
    const overhead = 4 + '{"purpose":""}'.length;
    const purpose = "x".repeat(room - overhead);
    const child = attenuated(heavy, { purpose }, { nonce: false });
    expect(inspect(child).bytes).toBe(10_240);
    expect(codes(issuer.authorize(child, GET))).toEqual([]);
    const more = { purpose: `${purpose}x` };
    expect(tokenError(() => attenuate(heavy, more, { nonce: false }))).toBe("too_large");
  });

  test("a set has more than 256 elements", () => {
    const open = mintOpen(issuer);
    expect(tokenError(() => attenuate(open, wide))).toBe("too_many_members");
    const fewer = { operations: wide.operations.slice(1) };
    expect(tokenError(() => attenuate(open, fewer))).toBe("accepted");
  });
});

const withDischarge = writeMacaroons([parseMacaroon(token), parseMacaroon(GENERIC)], "v2");

describe("attenuate throws a TokenError for a string that is not exactly one capability", () => {
  test.each<[string, string, string]>([
    ["an empty string", "", "empty"],
    ["half a token", token.slice(0, 40), "truncated"],
    ["another kind of macaroon", GENERIC, "identifier_malformed"],
    ["a token with a discharge", withDischarge, "has_discharges"],
  ])("%s", (_, text, code) => {
    expect(tokenError(() => attenuate(text, { purpose: "x" }))).toBe(code);
  });
});

test.each<[string, unknown, string]>([
  ["undefined", undefined, "hop must be a plain object with operations, "],
  ["an empty hop with the option nonce: false", {}, "a hop must have at least one of operations, "],
  ["a misspelt key", { operation: ["get"] }, 'did you mean "operations"?'],
  [
    "an expiry that is not a time",
    { expires: "soon" },
    '"expires" must be a time such as 2026-01-31T23:59:59Z, a Date, or a duration such as 90s, 15m, 2h or 1d, not "soon"',
  ],
  [
    "an unknown operator",
    { constraints: { amount: { lte: 5 } } },
    'unknown operator "lte" in "constraints.amount"; there are in, max, min, not_in',
  ],
  [
    "operations as a string",
    { operations: "get" },
    '"operations" must be a non-empty array of strings, not',
  ],
])("attenuate throws a TypeError for a wrong hop: %s", (_, hop, message) => {
  expect(misuse(() => attenuate(token, hop as object, { nonce: false }))).toContain(message);
});

test("createNonce returns distinct strings of 16 base64url characters", () => {
  const nonces = Array.from({ length: 100 }, createNonce);
  expect(new Set(nonces).size).toBe(100);
  for (const nonce of nonces) expect(nonce).toMatch(/^[\w-]{16}$/);
});
