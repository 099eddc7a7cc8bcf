import { afterEach, beforeEach, describe, expect, type MockInstance, test, vi } from "vitest";
import { type AuthenticationContext, authenticate } from "../../src/capability/authenticate.js";
import { CAPABILITY_LIMITS } from "../../src/capability/limits.js";
import { type CacheBounds, VerificationCache } from "../../src/capability/verification-cache.js";
import { createIssuer } from "../../src/issuer/issuer.js";
import { createKeyring, importKeyring, type Keyring } from "../../src/issuer/keyring.js";
import { RootKey } from "../../src/macaroon/root-key.js";
import { createRevocationList } from "../../src/revocation/list.js";
import type { RevocationQuery, RevocationSource } from "../../src/revocation/source.js";
import { append, fixture, GET, mint, misuse, NOW } from "./support.js";

// These tests check what decisions do not show: the amount of verification, and the contents of the cache. A full
// verification computes one tag with the root key; for a cached token, no tag is computed.

let tag: MockInstance<RootKey["tag"]>;
beforeEach(() => {
  tag = vi.spyOn(RootKey.prototype, "tag");
});
afterEach(() => tag.mockRestore());

function kit(bounds: CacheBounds = {}) {
  const { issuer, keys } = fixture();
  const state: { now: number; keys: Keyring } = { now: NOW, keys };
  const cache = new VerificationCache(bounds, () => state.now);
  const context: AuthenticationContext = {
    issuer: "agent",
    keys: { find: (kid) => state.keys.find(kid) },
    limits: CAPABILITY_LIMITS,
    cache,
  };
  const check = (text: string): boolean => authenticate(text, context).ok;
  /** Returns whether the token was verified without computing a tag with the root key. */
  const known = (text: string): boolean => {
    tag.mockClear();
    return check(text) && tag.mock.calls.length === 0;
  };
  return { issuer, state, cache, check, known, parent: mint(issuer) };
}

const child = (parent: string, purpose: string): string =>
  append(parent, `{"purpose":"${purpose}"}`);

function signedAs(content: string, other: string): string {
  const [from, to] = [other, content].map((text) => Buffer.from(text, "base64url"));
  if (from === undefined || to === undefined) throw new Error("two texts");
  from.copy(to, to.length - 32, from.length - 32);
  return to.toString("base64url");
}

describe("the verification cache is keyed by the whole string", () => {
  test("verifying a token caches the token alone, not its parent, child or sibling", () => {
    const { check, known, parent } = kit();
    const [a, b] = [child(parent, "a"), child(parent, "b")];
    check(a);
    expect([a, parent, b, child(a, "c")].map(known)).toEqual([true, false, false, false]);
  });

  test("a string with another signature or with base64 padding has another key", () => {
    const { check, known, parent } = kit();
    const a = child(parent, "a");
    check(a);
    expect(check(signedAs(a, parent))).toBe(false);
    expect(known(`${a}=`.length % 4 === 0 ? `${a}=` : `${a}==`)).toBe(false);
    expect(known(a)).toBe(true);
  });
});

describe("the size of the verification cache", () => {
  test("stays within the maximum number of entries, since the least recently used entry is evicted", () => {
    const { check, known, issuer, cache } = kit({ entries: 2 });
    const [one, two, three] = [mint(issuer), mint(issuer), mint(issuer)];
    for (const text of [one, two, one]) check(text);
    expect(cache.size).toBe(2);
    check(three);
    expect([known(one), known(three), known(two)]).toEqual([true, true, false]);
  });

  test("never exceeds its byte limit, since an entry larger than the limit is not stored", () => {
    const { check, issuer, cache } = kit({ bytes: 60_000 });
    for (let i = 0; i < 20; i++) {
      check(child(mint(issuer), "x".repeat(i * 60)));
      expect(cache.bytes).toBeLessThanOrEqual(60_000);
    }
    expect(cache.size).toBeGreaterThan(0);
    const small = kit({ bytes: 100 });
    small.check(small.parent);
    expect([small.cache.size, small.cache.bytes]).toEqual([0, 0]);
  });

  test("does not change when a refused token is checked", () => {
    const { check, known, parent, cache } = kit();
    const foreign = mint(fixture({ name: "another" }).issuer);
    const namesake = mint(fixture({ keys: createKeyring() }).issuer);
    check(child(parent, "a"));
    const { size, bytes } = cache;
    const forged = signedAs(child(parent, "b"), child(parent, "a"));
    for (const text of [forged, foreign, namesake, "", "noise", parent.slice(0, -9)]) {
      expect(check(text)).toBe(false);
      expect(check(text)).toBe(false);
    }
    expect([cache.size, cache.bytes]).toEqual([size, bytes]);
    expect(known(child(parent, "a"))).toBe(true);
  });
});

describe("a cache entry ends", () => {
  test("at the earliest expiry among its token's hops", () => {
    const { check, known, parent, state, cache } = kit();
    const brief = append(parent, '{"expires":"2026-01-01T00:00:10Z"}');
    const until = Date.parse("2026-01-01T00:00:10Z");
    state.now = until - 1;
    check(brief);
    expect(known(brief)).toBe(true);
    expect(cache.size).toBe(1);
    state.now = until;
    expect(known(brief)).toBe(false);
    expect([cache.size, cache.bytes]).toEqual([0, 0]);
  });

  test.each([
    ["is retired", (keys: Keyring) => keys.rotate().retire(keys.minting.kid)],
    [
      "has another secret",
      (keys: Keyring) => {
        const [jwk] = keys.exportJwkSet().keys;
        const k = createKeyring().exportJwkSet().keys[0]?.k;
        return importKeyring({ keys: [{ ...jwk, k }] });
      },
    ],
  ])("when the key of its token %s", (_, next) => {
    const { check, state, cache, parent } = kit();
    check(parent);
    expect(cache.size).toBe(1);
    state.keys = next(state.keys);
    expect(check(parent)).toBe(false);
    expect([cache.size, cache.bytes]).toEqual([0, 0]);
  });

  test("but not when the same keys are read again", () => {
    const { check, known, state, parent } = kit();
    check(parent);
    state.keys = importKeyring(state.keys.rotate().exportJwkSet());
    expect(known(parent)).toBe(true);
  });
});

describe("the option cache", () => {
  test("is on unless its value is false", () => {
    for (const [cache, tags] of [
      [undefined, 0],
      [{ entries: 5 }, 0],
      [false, 1],
    ] as const) {
      const { issuer } = fixture({ cache });
      const token = mint(issuer);
      issuer.authorize(token, GET);
      tag.mockClear();
      expect(issuer.authorize(token, GET).allowed).toBe(true);
      expect(tag).toHaveBeenCalledTimes(tags);
    }
  });

  test("is refused if its value is invalid", () => {
    expect(misuse(() => fixture({ cache: { entries: 0 } }))).toContain("cache.entries");
    expect(misuse(() => fixture({ cache: { bytes: 1.5 } }))).toContain("cache.bytes");
    // @ts-expect-error: not a bound
    expect(misuse(() => fixture({ cache: { size: 1 } }))).toContain("cache.size");
    // @ts-expect-error: neither bounds nor false
    expect(misuse(() => fixture({ cache: true }))).toContain("cache");
  });

  test("does not let a caller change later decisions, since changing a returned decision throws", () => {
    const { issuer } = fixture();
    const token = mint(issuer, { operations: ["get"] });
    const decision = issuer.authorize(token, GET);
    if (!decision.allowed) throw new Error("it was refused");
    const operations = decision.capability.hops[0]?.hop?.operations;
    expect(() => Reflect.apply(Array.prototype.push, operations, ["put"])).toThrow(TypeError);
    const refused = issuer.authorize(mint(issuer, { operations: ["get"] }), {
      ...GET,
      operation: "put",
    });
    const expected = refused.allowed ? undefined : refused.denials[0]?.expected;
    expect(() => Reflect.apply(Array.prototype.push, expected, ["put"])).toThrow(TypeError);
    expect(issuer.authorize(token, { ...GET, operation: "put" }).allowed).toBe(false);
  });
});

describe("a decision returned to a caller", () => {
  test("does not affect later decisions, even if the caller changes it", () => {
    const queries: RevocationQuery[] = [];
    const revoked = new Set<string>();
    const revocations: RevocationSource = {
      find: (query) => {
        queries.push(query);
        return query.links
          .filter((id) => revoked.has(id))
          .map((id) => ({ kind: "link", id, at: "2026-01-01T00:00:00Z" }));
      },
      isCurrent: () => true,
    };
    const issuer = createIssuer({ name: "an agent", keys: createKeyring(), revocations });
    const { token, revocationId } = issuer.mint({ grant: "g", operations: ["read"] });
    const call = { grant: "g", operation: "read" };
    const first = issuer.authorize(token, call);
    for (const query of queries) expect(() => Object.assign(query.links, { 0: "" })).toThrow();
    Object.assign(first, { capability: undefined });
    expect(issuer.authorize(token, call)).toMatchObject({
      allowed: true,
      capability: { grant: "g" },
    });
    revoked.add(revocationId);
    expect(issuer.authorize(token, call).allowed).toBe(false);
    const forged = issuer.authorize(
      signedAs(token, issuer.mint({ grant: "g", operations: ["read"] }).token),
      call,
    );
    const denial = forged.allowed ? undefined : forged.denials[0];
    expect(denial?.code).toBe("signature_mismatch");
    expect(() => Object.assign(denial ?? {}, { code: "discharge_missing" })).toThrow(TypeError);
  });

  test("has a frozen capability, with a cache and without", () => {
    for (const cache of [undefined, false] as const) {
      const options = {
        name: "an agent",
        keys: createKeyring(),
        revocations: createRevocationList(),
      };
      const issuer = createIssuer(cache === undefined ? options : { ...options, cache });
      const { token } = issuer.mint({ grant: "g", operations: ["read"] });
      const decision = issuer.authorize(token, { grant: "g", operation: "read" });
      if (!decision.allowed) throw new Error("refused");
      const [hop] = decision.capability.hops;
      expect(Object.isFrozen(decision.capability)).toBe(true);
      expect(Object.isFrozen(hop?.hop?.operations)).toBe(true);
      expect(Object.isFrozen(decision.capability.authority.operations)).toBe(true);
    }
  });
});
