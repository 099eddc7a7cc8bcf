import { describe, expect, test } from "vitest";
import type { MintRequest } from "../../src/capability/mint.js";
import { inspect } from "../../src/index.js";
import { createIssuer, createKeyring, createRevocationList } from "../../src/issuer/index.js";
import { fixture, misuse, NOW } from "./support.js";

describe("a minted capability", () => {
  test("has the grant, the issuer, the principal, the key, the operations and the times", () => {
    const { issuer, keys } = fixture();
    const minted = issuer.mint({ grant: "files", principal: "alice", operations: ["put", "get"] });
    expect(minted).toMatchObject({
      grant: "files",
      principal: "alice",
      issued: "2030-01-01T00:00:00Z",
      expires: "2030-01-01T00:15:00Z",
      hop: { operations: ["get", "put"], expires: "2030-01-01T00:15:00Z" },
    });
    const inspection = inspect(minted.token, { now: NOW });
    expect(inspection).toMatchObject({
      format: "v2",
      grant: "files",
      capability: { v: 1, iss: "agent", kid: keys.minting.kid, id: minted.id, grant: "files" },
      links: [{ hop: minted.hop }],
      revocationId: minted.revocationId,
      warnings: [],
    });
    expect(inspection).not.toHaveProperty("location");
  });

  test("has a distinct id of 16 base64url characters", () => {
    const issuer = createIssuer({
      name: "agent",
      keys: createKeyring(),
      revocations: createRevocationList(),
    });
    const ids = Array.from(
      { length: 200 },
      () => issuer.mint({ grant: "files", operations: ["get"] }).id,
    );
    expect(new Set(ids).size).toBe(200);
    for (const id of ids) expect(id).toMatch(/^cap_[\w-]{16}$/);
  });

  test("lives for 15 minutes by default, shorter if the issuer's maximum is lower, and longer if the request says so", () => {
    const expires = (options: object, request: object = {}): string =>
      fixture(options).issuer.mint({ grant: "files", operations: ["get"], ...request }).expires;
    expect(expires({})).toBe("2030-01-01T00:15:00Z");
    expect(expires({ maxLifetime: 60 })).toBe("2030-01-01T00:01:00Z");
    expect(expires({}, { expires: "2030-01-02T00:00:00Z" })).toBe("2030-01-02T00:00:00Z");
    expect(expires({}, { expires: new Date(NOW + 1999) })).toBe("2030-01-01T00:00:01Z");
    const longest = { maxLifetime: 90 * 86_400 };
    expect(expires(longest, { expires: "2030-04-01T00:00:00Z" })).toBe("2030-04-01T00:00:00Z");
  });
});

describe("mint and createIssuer throw a TypeError", () => {
  test.each<[string, unknown, string]>([
    ["no grant", {}, "request.grant must be a non-empty string, not undefined"],
    ["an empty grant", { grant: "" }, "request.grant must be a non-empty string"],
    ["a grant with a lone surrogate", { grant: "\ud800" }, "lone surrogate"],
    ["an empty principal", { grant: "g", principal: "" }, '"principal" in the identifier'],
    ["a misspelt key", { grant: "g", operation: ["get"] }, 'did you mean "operations"?'],
    ["an empty array of operations", { grant: "g", operations: [] }, '"operations" must be'],
    [
      "a lifetime past the maximum",
      { grant: "g", expires: "2030-01-02T00:00:01Z" },
      "the latest is 2030-01-02",
    ],
    ["a lifetime of zero", { grant: "g", expires: "2030-01-01T00:00:00Z" }, "is not after now"],
    [
      "a lifetime that rounds to zero",
      { grant: "g", expires: new Date(NOW + 999) },
      "is not after",
    ],
    ["an expiry in the past", { grant: "g", expires: "2029-01-01T00:00:00Z" }, "is not after now"],
    [
      "a start at the expiry",
      { grant: "g", notBefore: "2030-01-01T00:15:00Z" },
      "is not before expires",
    ],
    ["a hop too large", { grant: "g", purpose: "x".repeat(8192) }, "at most 8192 are allowed"],
    ["an identifier too large", { grant: "g".repeat(2048) }, "at most 2048 are allowed"],
    [
      "a set too large",
      { grant: "g", operations: Array.from({ length: 257 }, (_, at) => at.toString(36)) },
      "a set of more than 256 elements",
    ],
  ])("mint, for %s", (_, request, message) => {
    const complete = { operations: ["get"], ...(request as MintRequest) };
    expect(misuse(() => fixture().issuer.mint(complete))).toContain(message);
  });

  test.each<[string, object, string]>([
    ["without a name", { name: "" }, "name must be a non-empty string"],
    ["with keys of another kind", { keys: {} }, "keys must be a Keyring"],
    ["without revocations", { revocations: undefined }, "revocations must be a RevocationList, "],
    ["with a maxLifetime of 0", { maxLifetime: 0 }, "maxLifetime must be 1 to"],
    [
      "with a maxLifetime of more than 90 days",
      { maxLifetime: 90 * 86_400 + 1 },
      "maxLifetime must be 1 to",
    ],
    ["with a fractional maxLifetime", { maxLifetime: 1.5 }, "maxLifetime must be 1 to"],
  ])("createIssuer, for an issuer %s", (_, options, message) => {
    const valid = { name: "agent", keys: createKeyring(), revocations: createRevocationList() };
    expect(misuse(() => createIssuer({ ...valid, ...options }))).toContain(message);
  });
});
