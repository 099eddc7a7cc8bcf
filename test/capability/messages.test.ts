import { describe, expect, test } from "vitest";
import { diff } from "../../src/index.js";
import { createRevocationList } from "../../src/issuer/index.js";
import { canonical, issuer, needing, PARTS, TOKEN, withIdentifier } from "./made.js";
import { append, attenuated, denials, fixture, GET, mint, NOW } from "./support.js";

// The complete message of each denial that people read.

/** Returns the message of the only denial of a call; `allowed` if there is none. */
function reason(token: string, by = issuer): string {
  const [first, ...others] = denials(by.authorize(token, GET));
  expect(others).toEqual([]);
  return first?.message ?? "allowed";
}

describe("a denial's message", () => {
  test.each<[string, () => string]>([
    ["the token is empty", () => ""],
    [
      "the token ends inside the identifier (at 27); it was cut short, copy the whole token",
      () => TOKEN.slice(0, 36),
    ],
    [
      "the signature does not match: the token was altered, or is not this issuer's",
      () => `${TOKEN.slice(0, -4)}AAAA`,
    ],
    ["no discharge was presented for caveat 2", () => needing(TOKEN, "ask")],
    [
      "this macaroon is not a capability: its identifier is not a JSON object",
      () => withIdentifier("id"),
    ],
    ["the identifier is not JSON that has a canonical form", () => withIdentifier("{")],
    ["the identifier is not in canonical form (RFC 8785)", () => withIdentifier('{"v": 1}')],
    [
      "the identifier's version is not 1; a newer checker may know it",
      () => withIdentifier('{"v":2}'),
    ],
    [
      'the identifier has an unknown property "x"',
      () => withIdentifier(canonical({ ...PARTS, x: 1 })),
    ],
    [
      '"grant" in the identifier must be a non-empty string',
      () => withIdentifier(canonical({ ...PARTS, grant: "" })),
    ],
    [
      '"id" in the identifier must be cap_ and at least 16 base64url characters',
      () => withIdentifier(canonical({ ...PARTS, id: "cap_A" })),
    ],
    [
      '"issued" in the identifier must be a time such as 2026-01-31T23:59:59Z',
      () => withIdentifier(canonical({ ...PARTS, issued: "now" })),
    ],
    ["no hop of the token says when it expires", () => withIdentifier(canonical(PARTS))],
    [
      "the token was issued by someone else",
      () => withIdentifier(canonical({ ...PARTS, iss: "other" })),
    ],
    [
      "the token was made under a key that this issuer does not have, or has retired",
      () => withIdentifier(canonical({ ...PARTS, kid: "other" })),
    ],
    [
      "the identifier has 2049 bytes; at most 2048 are allowed",
      () => withIdentifier("x".repeat(2049)),
    ],
    ["a caveat has 8193 bytes; at most 8192 are allowed", () => append(TOKEN, "x".repeat(8193))],
    ["hop 2 is nested more than 7 deep", () => append(TOKEN, "{[[[[[[[")],
    [
      "hop 2 has a set of more than 256 elements",
      () => append(TOKEN, `{"a":[${"1,".repeat(256)}1]}`),
    ],
    ["the caveat is empty", () => append(TOKEN, "{}")],
  ])("is: %s", (expected, make) => {
    expect(reason(make())).toBe(expected);
  });

  test.each(["capability", "key", "principal"] as const)(
    "says that the token's %s is revoked",
    (kind) => {
      const one = fixture();
      const { token, id } = one.issuer.mint({
        grant: "files",
        operations: ["get"],
        principal: "user:alice",
      });
      const ids = { capability: id, key: one.keys.minting.kid, principal: "user:alice" };
      const at = "2030-01-01T00:00:00Z";
      const before = kind === "principal" ? { before: "2030-01-02T00:00:00Z" } : {};
      one.revocations.add({ kind, id: ids[kind], at, ...before });
      expect(reason(token, one.issuer)).toBe(`this token's ${kind} is revoked`);
    },
  );

  test("names the revoked link", () => {
    const one = fixture();
    const token = mint(one.issuer);
    const child = attenuated(token, { operations: ["get"] });
    const revocation = one.issuer.revocationOf(child);
    if (revocation.ok) one.revocations.add(revocation.entry);
    expect(reason(child, one.issuer)).toBe("link 2 and all that descends from it is revoked");
    expect(reason(token, one.issuer)).toBe("allowed");
  });

  test("says that the revocation list is too old", () => {
    const at = "2030-01-01T00:00:00Z";
    const revocations = createRevocationList({ version: 1, trustedUntil: at, entries: [] });
    const one = fixture({ revocations });
    expect(reason(mint(one.issuer), one.issuer)).toBe(
      "the revocation list is too old to be relied on; refresh it and ask again",
    );
  });
});

describe("the message of diff", () => {
  const child = attenuated(TOKEN, { operations: ["get"], maxFurtherHops: 0 });
  const sibling = attenuated(TOKEN, { operations: ["put"] });

  test.each<[string, string, string]>([
    [
      "these are two different capabilities: neither was narrowed from the other",
      TOKEN,
      mint(issuer),
    ],
    ["the second token has fewer links than the first; give the parent first", child, TOKEN],
    ["the second token is on another branch: it was not narrowed from the first", child, sibling],
    [
      "the links match but the signatures do not: at least one token was altered",
      TOKEN,
      `${child.slice(0, -4)}AAAA`,
    ],
  ])("is: %s", (message, parent, other) => {
    const result = diff(parent, other);
    expect(result.derived ? "derived" : result.message).toBe(message);
  });

  test("says what was taken away", () => {
    const limited = attenuated(TOKEN, { constraints: { n: { max: 9 } }, audience: ["mail"] });
    const result = diff(
      limited,
      attenuated(limited, { constraints: { n: 5 }, expires: new Date(NOW + 60_000) }),
    );
    const messages = result.derived ? result.changes.map((change) => change.message) : [];
    expect(messages).toEqual([
      'constraints.n: {"max":9}, now 5',
      'expires: "2030-01-01T00:15:00Z", now "2030-01-01T00:01:00Z"',
    ]);
    const first = diff(TOKEN, limited);
    expect(first.derived ? first.changes.map((change) => change.message) : []).toEqual([
      'constraints.n: no limit, now {"max":9}',
      'audience: any, now only "mail"',
    ]);
    const less = diff(TOKEN, child);
    expect(less.derived ? less.changes.map((change) => change.message) : []).toEqual([
      'operations: "put" taken away, "get" left',
      "maxFurtherHops: no limit, now 0",
    ]);
  });
});
