import { afterEach, beforeEach, describe, expect, type MockInstance, test, vi } from "vitest";
import { type AuthenticationContext, authenticate } from "../../src/capability/authenticate.js";
import { KeyedDigest } from "../../src/capability/keyed-digest.js";
import { CAPABILITY_LIMITS } from "../../src/capability/limits.js";
import { type CacheBounds, VerificationCache } from "../../src/capability/verification-cache.js";
import { createIssuer } from "../../src/issuer/issuer.js";
import { createKeyring, importKeyring, type Keyring } from "../../src/issuer/keyring.js";
import { CompactMacaroon } from "../../src/macaroon/compact.js";
import { RootKey } from "../../src/macaroon/root-key.js";
import { createRevocationList } from "../../src/revocation/list.js";
import type { RevocationQuery, RevocationSource } from "../../src/revocation/source.js";
import { append, fixture, GET, mint, misuse, NOW } from "./support.js";

// What no decision shows: how much is verified again, what is kept, what leaves. A whole verification
// computes one tag under the root key, and one that rests on the cache computes none.

let tag: MockInstance<RootKey["tagInto"]>;
beforeEach(() => {
  tag = vi.spyOn(RootKey.prototype, "tagInto");
});
afterEach(() => tag.mockRestore());

function kit(bounds: CacheBounds = {}, kind: "native" | "plain" = "native") {
  const { issuer, keys } = fixture();
  const state: { now: number; keys: Keyring } = { now: NOW, keys };
  const digest = new KeyedDigest(kind);
  const cache = new VerificationCache(bounds, () => state.now, digest);
  const find = (kid: string): RootKey | undefined => {
    cache.follow(state.keys);
    return state.keys.find(kid);
  };
  const context: AuthenticationContext = {
    ...{ issuer: "agent", keys: { find }, limits: CAPABILITY_LIMITS, cache },
  };
  const check = (text: string): boolean => authenticate(text, context).ok;
  /** Whether the token was authentic without one tag under the root key. */
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

describe.each(["native", "plain"] as const)("with a %s digest", (kind) => {
  test("a token, its children and its siblings are known once it has been verified", () => {
    const { check, known, parent } = kit({}, kind);
    const [a, b] = [child(parent, "a"), child(parent, "b")];
    check(a);
    expect([a, b, child(a, "c"), child(b, "d")].map(known)).toEqual([true, true, true, true]);
    expect([parent, parent, child(parent, "e")].map(known)).toEqual([true, true, true]);
  });

  test("a digest is of so many links, and differs by process key", () => {
    const [one, other] = [new KeyedDigest(kind), new KeyedDigest(kind)];
    const { parent } = kit({}, kind);
    const at = new CompactMacaroon(CAPABILITY_LIMITS);
    const digests = (text: string): string[] => {
      expect(at.read(text, CAPABILITY_LIMITS)).toBe(true);
      return Array.from({ length: at.caveats + 1 }, (_, caveats) => one.of(at, caveats));
    };
    const [a, b] = [digests(child(parent, "a")), digests(child(parent, "b"))];
    expect(a.slice(0, 2)).toEqual(b.slice(0, 2));
    expect(new Set([...a, ...b]).size).toBe(4);
    expect(b).not.toContain(other.of(at, 2));
    expect(digests(child(parent, "b"))).toEqual(b);
  });
});

describe("bounds", () => {
  test("the least recently used leaves first, and only use by an authentic token counts", () => {
    const { check, known, issuer, cache } = kit({ entries: 2 });
    const [one, two, three] = [mint(issuer), mint(issuer), mint(issuer)];
    for (const text of [one, two]) check(text);
    expect(cache.size).toBe(2);
    for (let i = 0; i < 9; i++) check(signedAs(child(one, "x"), two));
    check(three);
    // Had the forgeries counted, the links of the first would have outlived those of the second.
    expect([known(child(two, "y")), known(one)]).toEqual([true, false]);
  });

  test("a known token that is used again stays", () => {
    const { check, known, issuer } = kit({ entries: 2 });
    const [one, two, three] = [mint(issuer), mint(issuer), mint(issuer)];
    for (const text of [one, two, one]) check(text);
    check(three);
    expect([known(one), known(three), known(two)]).toEqual([true, true, false]);
  });

  test("in bytes hold whatever the tokens are, and what is larger than all is not kept", () => {
    const { check, issuer, cache } = kit({ bytes: 12_000 });
    for (let i = 0; i < 20; i++) {
      check(child(mint(issuer), "x".repeat(i * 60)));
      expect(cache.bytes).toBeLessThanOrEqual(12_000);
    }
    expect(cache.size).toBeGreaterThan(0);
    const small = kit({ bytes: 100 });
    small.check(small.parent);
    expect([small.cache.size, small.cache.bytes]).toEqual([0, 0]);
  });

  test("nothing that is refused enters or changes what is kept", () => {
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

describe("an entry dies", () => {
  test("when its expiry has come", () => {
    const { check, known, parent, state, cache } = kit();
    const brief = append(parent, '{"expires":"2026-01-01T00:00:10Z"}');
    const until = Date.parse("2026-01-01T00:00:10Z");
    state.now = until - 1;
    check(brief);
    expect(known(brief)).toBe(true);
    expect(cache.size).toBe(2);
    state.now = until;
    expect(check(brief)).toBe(true);
    // What is left is its parent, which has not expired.
    expect([cache.size, known(child(parent, "a"))]).toEqual([1, true]);
  });

  test("when its own expiry has come, not that of the child it was seen with", () => {
    const { check, known, parent, state } = kit();
    const brief = append(parent, '{"expires":"2026-01-01T00:00:10Z"}');
    state.now = Date.parse("2026-01-01T00:00:09Z");
    check(brief);
    state.now = Date.parse("2026-01-01T00:00:10Z");
    expect([known(brief), known(child(parent, "a"))]).toEqual([true, true]);
    const { known: alsoKnown, parent: another } = kit();
    expect(alsoKnown(append(another, '{"expires":"2020-01-01T00:00:00Z"}'))).toBe(false);
    expect(alsoKnown(child(another, "a"))).toBe(true);
  });

  test("with its key: at the next look-up of any, if a key was retired or its id given to another", () => {
    for (const next of [
      (keys: Keyring) => keys.rotate().retire(keys.minting.kid),
      (keys: Keyring) => {
        const [jwk] = keys.exportJwkSet().keys;
        const k = createKeyring().exportJwkSet().keys[0]?.k;
        return importKeyring({ keys: [{ ...jwk, k }] });
      },
    ]) {
      const { check, state, cache, parent } = kit();
      check(child(parent, "a"));
      expect(cache.size).toBe(2);
      state.keys = next(state.keys);
      expect(check(parent)).toBe(false);
      expect([cache.size, cache.bytes]).toEqual([0, 0]);
      expect(check(child(parent, "a"))).toBe(false);
    }
  });

  test("not when the same keys are read again", () => {
    const { check, known, state, parent } = kit();
    check(parent);
    state.keys = importKeyring(state.keys.rotate().exportJwkSet());
    expect([parent, child(parent, "a")].map(known)).toEqual([true, true]);
  });
});

describe("the option", () => {
  test("is on unless it is false", () => {
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

  test("is refused if it is not valid", () => {
    expect(misuse(() => fixture({ cache: { entries: 0 } }))).toContain("cache.entries");
    expect(misuse(() => fixture({ cache: { bytes: 1.5 } }))).toContain("cache.bytes");
    // @ts-expect-error: not a bound
    expect(misuse(() => fixture({ cache: { size: 1 } }))).toContain("cache.size");
    // @ts-expect-error: neither bounds nor false
    expect(misuse(() => fixture({ cache: true }))).toContain("cache");
  });

  test("a decision cannot be changed into what a later one rests on", () => {
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

describe("what a caller is given", () => {
  test("changes no later decision", () => {
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

  test("is the same, and as fixed, with a cache and without one", () => {
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
