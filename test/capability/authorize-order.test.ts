import { describe, expect, test } from "vitest";
import { createKeyring, type RevocationEntry } from "../../src/issuer/index.js";
import { append, codes, fixture, GET, mint, NOW } from "./support.js";

const AT = "2030-01-01T00:00:00Z";
const EXPIRED = '{"expires":"2029-01-01T00:00:00Z"}';
const BROKEN = '{"operations": ["get"]}';

/** Returns a token with one character of its signature changed. */
function altered(token: string): string {
  const at = token.length - 5;
  return `${token.slice(0, at)}${token[at] === "A" ? "B" : "A"}${token.slice(at + 1)}`;
}

describe("authorize lists no reason from a token's contents before the signatures are verified", () => {
  const { issuer, keys, revocations } = fixture();
  const token = append(append(mint(issuer), EXPIRED), BROKEN);
  const revocation = issuer.revocationOf(token);
  if (revocation.ok) revocations.add(revocation.entry);

  test("but lists every reason if the signatures are valid", () => {
    expect(codes(issuer.authorize(token, { grant: "files", operation: "delete" }))).toEqual([
      "revoked",
      "operation_denied",
      "expired",
      "caveat_malformed",
    ]);
  });

  test.each<[string, string, string]>([
    ["too large", append(token, "x".repeat(8193)), "token_too_large"],
    ["cut short", token.slice(0, -8), "token_truncated"],
    ["altered", altered(token), "signature_mismatch"],
    [
      "someone else's, altered and expired",
      altered(append(mint(fixture({ name: "other", keys }).issuer), EXPIRED)),
      "foreign_issuer",
    ],
    [
      "under an unknown key, altered and expired",
      altered(append(mint(fixture({ keys: createKeyring() }).issuer), EXPIRED)),
      "unknown_key",
    ],
    [
      "someone else's under an unknown key",
      mint(fixture({ name: "other", keys: createKeyring() }).issuer),
      "foreign_issuer",
    ],
  ])("and gives only one reason for a token that is %s", (_, text, code) => {
    const decision = issuer.authorize(text, { grant: "files", operation: "delete" });
    expect(codes(decision)).toEqual([code]);
    expect(decision).not.toHaveProperty("capability");
  });
});

describe("a refusal for both revocations and failed rules", () => {
  const { issuer, keys, revocations } = fixture();
  const minted = issuer.mint({ grant: "files", principal: "alice", operations: ["get"] });
  const entries: RevocationEntry[] = [
    { kind: "link", id: minted.revocationId, at: AT },
    { kind: "capability", id: minted.id, at: AT },
    { kind: "key", id: keys.minting.kid, at: AT },
    { kind: "principal", id: "alice", before: "2030-01-02T00:00:00Z", at: AT },
  ];
  for (const entry of entries) revocations.add(entry);

  test("lists the revocations first, one for each entry that revokes the token", () => {
    const decision = issuer.authorize(minted.token, {
      grant: "files",
      operation: "put",
      time: new Date(NOW + 3_600_000),
    });
    expect(codes(decision)).toEqual([
      "revoked",
      "revoked",
      "revoked",
      "revoked",
      "operation_denied",
      "expired",
    ]);
  });

  test("names the capability", () => {
    const decision = issuer.authorize(minted.token, GET);
    expect(decision).toMatchObject({
      capability: { id: minted.id, grant: "files", principal: "alice" },
    });
  });

  test("never shows the reason of a revocation", () => {
    revocations.add({ kind: "key", id: keys.minting.kid, at: AT, reason: "key found in a log" });
    expect(JSON.stringify(issuer.authorize(minted.token, GET))).not.toContain("found in a log");
  });
});
