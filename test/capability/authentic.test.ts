import { inspect } from "node:util";
import { describe, expect, test } from "vitest";
import { attenuate } from "../../src/capability/attenuate.js";
import type { AuthenticToken } from "../../src/capability/authentic-token.js";
import type { Invocation } from "../../src/caveats/invocation.js";
import { createIssuer, type Issuer } from "../../src/issuer/issuer.js";
import { createKeyring, importKeyring, type Keyring } from "../../src/issuer/keyring.js";
import {
  addThirdPartyCaveat,
  bindDischarge,
  createMacaroon,
  createRootKey,
  parseMacaroon,
  writeMacaroons,
} from "../../src/macaroon/index.js";
import { RevocationList } from "../../src/revocation/list.js";
import { misuse, NOW } from "../caveats/support.js";

// A token is authenticated once. Later calls with the authentic token give the same answers as calls with the token's
// string.

const READ: Invocation = { grant: "documents:read", operation: "read" };

function world() {
  const revocations = new RevocationList();
  const clock = { now: NOW };
  const keys: { ring: Keyring } = { ring: createKeyring() };
  const issuer = createIssuer({
    name: "documents",
    keys: () => keys.ring,
    revocations,
    clock: () => clock.now,
  });
  const { token } = issuer.mint({ grant: "documents:read", operations: ["read", "search"] });
  return { revocations, clock, keys, issuer, token, authentic: authentic(issuer, token) };
}

function authentic(issuer: Issuer, text: string): AuthenticToken {
  const result = issuer.authenticate(text);
  if (!result.ok) throw new Error(result.denial.message);
  return result.token;
}

/** Returns the denial codes. The decisions for the authentic token and for the string must be equal. */
function codes(issuer: Issuer, text: string, token: AuthenticToken, asked = READ): string[] {
  const decision = issuer.authorize(token, asked);
  expect(decision).toEqual(issuer.authorize(text, asked));
  const standing = issuer.standing(token, {});
  expect(standing).toEqual(issuer.standing(text, {}));
  return decision.allowed ? [] : decision.denials.map(({ code }) => code);
}

describe("an authentic token", () => {
  test("gets the same decisions as the string from which it was authenticated", () => {
    const { issuer, token, authentic: known } = world();
    expect(codes(issuer, token, known)).toEqual([]);
    const write = { ...READ, operation: "write" };
    expect(codes(issuer, token, known, write)).toEqual(["operation_denied"]);
    expect(issuer.revocationOf(known, "done")).toEqual(issuer.revocationOf(token, "done"));
  });

  test("is refused once it is revoked or expired, or the issuer no longer has its key", () => {
    const { issuer, token, authentic: known, revocations, clock, keys } = world();
    const revocation = issuer.revocationOf(known);
    if (!revocation.ok) throw new Error("it is not revocable");
    revocations.add(revocation.entry);
    expect(codes(issuer, token, known)).toEqual(["revoked"]);
    clock.now += 3_600_000;
    expect(codes(issuer, token, known)).toEqual(["revoked", "expired"]);
    keys.ring = createKeyring();
    expect(codes(issuer, token, known)).toEqual(["unknown_key"]);
  });

  test("is refused by another issuer", () => {
    const { token, authentic: known } = world();
    const revocations = new RevocationList();
    const namesake = createIssuer({ name: "documents", keys: createKeyring(), revocations });
    expect(codes(namesake, token, known)).toEqual(["unknown_key"]);
    const stranger = createIssuer({ name: "another", keys: createKeyring(), revocations });
    expect(codes(stranger, token, known)).toEqual(["foreign_issuer"]);
  });

  test("is not returned by authenticate for a string that is no token or was altered", () => {
    const { issuer, token } = world();
    const altered = `${token.slice(0, -2)}${token.endsWith("AA") ? "BB" : "AA"}`;
    for (const [text, code] of [
      ["noise", "token_malformed"],
      [altered, "signature_mismatch"],
    ] as const) {
      expect(issuer.authenticate(text)).toMatchObject({ ok: false, denial: { code } });
    }
  });

  test.each([
    ["a copy", (known: AuthenticToken) => ({ ...known })],
    ["a deep copy", (known: AuthenticToken) => structuredClone(known)],
    ["an object that inherits from the token", (known: AuthenticToken) => Object.create(known)],
    ["a proxy", (known: AuthenticToken) => new Proxy(known, {})],
  ])("cannot be replaced by %s: every method of the issuer throws a TypeError", (_, made) => {
    const { issuer, authentic: known } = world();
    const forged = made(known);
    for (const use of [
      () => issuer.authorize(forged, READ),
      () => issuer.standing(forged),
      () => issuer.revocationOf(forged),
      () => issuer.extend(forged, { operations: ["read"] }),
      () => issuer.isStillValid(forged),
    ]) {
      expect(use).toThrow(TypeError);
    }
  });

  test("does not show its signature in its properties or in util.inspect", () => {
    const { authentic: known } = world();
    expect(Object.keys(known)).toEqual(["identifier", "chains"]);
    expect(Reflect.ownKeys(known)).toEqual(["identifier", "chains"]);
    expect(Object.getPrototypeOf(known)).toBe(Object.prototype);
    expect(inspect(known, { depth: 9, showHidden: true })).not.toMatch(/macaroon|key:/);
  });
});

describe("issuer.extend", () => {
  test("returns the same authentic child as authenticating the child's string", () => {
    const { issuer, token, authentic: known } = world();
    const child = issuer.extend(known, { operations: ["read"] });
    if (!child.ok) throw new Error("it was not extended");
    const again = authentic(issuer, child.token);
    expect(child.authentic.identifier).toEqual(again.identifier);
    expect(child.authentic.chains).toEqual(again.chains);
    expect(child.revocationId).toBe(again.chains[0].revocationIds.at(-1));
    // `extend` rebuilds the bytes of the parent from its parsed form.
    const attenuated = attenuate(token, { operations: ["read"] }, { nonce: false });
    if (!attenuated.ok) throw new Error("it was not attenuated");
    const twin = issuer.extend(known, { operations: ["read"] }, { nonce: false });
    expect(twin).toMatchObject({ token: attenuated.token });
    const search = { ...READ, operation: "search" };
    expect(codes(issuer, child.token, child.authentic, search)).toEqual(["operation_denied"]);
    expect(codes(issuer, child.token, child.authentic)).toEqual([]);
  });

  test("refuses a hop beyond the token, and throws a TypeError for an invalid hop", () => {
    const { issuer, authentic: known } = world();
    const wider = issuer.extend(known, { operations: ["write"] });
    expect(wider).toMatchObject({ ok: false, overreaches: [{ rule: "operations" }] });
    expect(misuse(() => issuer.extend(known, { operations: [] }))).toContain("operations");
  });
});

describe("authentic tokens", () => {
  test("are frozen, and so are the values of a decision about them", () => {
    const { issuer, authentic: known } = world();
    const decision = issuer.authorize(known, READ);
    if (!decision.allowed) throw new Error("it was refused");
    const { capability } = decision;
    for (const change of [
      () => Reflect.apply(Array.prototype.pop, capability.revocationIds, []),
      () => Reflect.apply(Array.prototype.push, capability.hops[0]?.hop?.operations, ["write"]),
      () => Object.assign(known.identifier, { principal: "mallory" }),
      () => Object.assign(known.chains[0], { links: [] }),
      () => Object.assign(known, { chains: [] }),
    ]) {
      expect(change).toThrow(TypeError);
    }
    const child = issuer.extend(known, { operations: ["read"] });
    if (!child.ok) throw new Error("it was not extended");
    expect(Object.isFrozen(child.authentic.chains[0].revocationIds)).toBe(true);
  });

  test("are extended only within the limits of the issuer", () => {
    const options = { name: "documents", keys: createKeyring(), revocations: new RevocationList() };
    const issuer = createIssuer({ ...options, limits: { caveats: 2 } });
    const { token } = issuer.mint({ grant: "documents:read", operations: ["read"] });
    const once = issuer.extend(authentic(issuer, token), { purpose: "one" });
    if (!once.ok) throw new Error("it was not extended");
    expect(() => issuer.extend(once.authentic, { purpose: "two" })).toThrow(/caveats/);
  });

  test("are extended only if all their hops are within the limits of the issuer, even if another issuer authenticated them", () => {
    const options = { name: "documents", keys: createKeyring(), revocations: new RevocationList() };
    const wide = createIssuer(options);
    const { token } = wide.mint({ grant: "documents:read", operations: ["list", "read"] });
    const narrow = createIssuer({ ...options, limits: { setMembers: 1 } });
    expect(() => narrow.extend(authentic(wide, token), { purpose: "one" })).toThrow(
      "hop 1 has a set of more than 1 elements",
    );
  });

  test("are refused if they exceed the limits of the judging issuer, even if authenticated by an issuer with wider limits", () => {
    const options = { name: "documents", keys: createKeyring(), revocations: new RevocationList() };
    const wide = createIssuer(options);
    const { token } = wide.mint({ grant: "documents:read", operations: ["read"] });
    const child = attenuate(token, { purpose: "x".repeat(300) });
    if (!child.ok) throw new Error("it was not attenuated");
    const known = authentic(wide, child.token);
    for (const limits of [{ caveats: 1 }, { bytes: 300 }, { caveatBytes: 200 }]) {
      const narrow = createIssuer({ ...options, limits });
      expect(codes(narrow, child.token, known)).toEqual(["token_too_large"]);
      expect(narrow.isStillValid(known)).toBe(false);
      expect(narrow.revocationOf(known)).toEqual(narrow.revocationOf(child.token));
    }
    expect(codes(createIssuer({ ...options, limits: { caveats: 2 } }), child.token, known)).toEqual(
      [],
    );
  });

  test("are refused if their discharges exceed the judging issuer's limits on number or nesting", () => {
    const options = { name: "documents", keys: createKeyring(), revocations: new RevocationList() };
    const wide = createIssuer(options);
    const { token } = wide.mint({ grant: "documents:read", operations: ["read"] });
    const secret = (fill: number): Uint8Array => new Uint8Array(32).fill(fill);
    const root = addThirdPartyCaveat(parseMacaroon(token), { key: secret(1), identifier: "first" });
    const first = addThirdPartyCaveat(
      createMacaroon(createRootKey(secret(1)), { identifier: "first" }),
      { key: secret(2), identifier: "second" },
    );
    const second = createMacaroon(createRootKey(secret(2)), { identifier: "second" });
    const bound = [first, second].map((discharge) => bindDischarge(root, discharge));
    const text = writeMacaroons([root, ...bound], "v2");
    const known = authentic(wide, text);
    expect(codes(wide, text, known)).toEqual([]);
    const few = createIssuer({ ...options, limits: { discharges: 1 } });
    expect(codes(few, text, known)).toEqual(["token_too_large"]);
    const flat = createIssuer({ ...options, limits: { nesting: 1 } });
    expect(codes(flat, text, known)).toEqual(["discharge_invalid"]);
  });

  test("are refused by an issuer whose key of the same id has another secret", () => {
    const options = { name: "documents", revocations: new RevocationList() };
    const ring = createKeyring();
    const issuer = createIssuer({ ...options, keys: ring });
    const { token } = issuer.mint({ grant: "documents:read", operations: ["read"] });
    const known = authentic(issuer, token);
    const [jwk] = ring.exportJwkSet().keys;
    const same = importKeyring({ keys: [jwk] });
    const other = importKeyring({
      keys: [{ ...jwk, k: createKeyring().exportJwkSet().keys[0]?.k }],
    });
    expect(codes(createIssuer({ ...options, keys: same }), token, known)).toEqual([]);
    const namesake = createIssuer({ ...options, keys: other });
    expect(codes(namesake, token, known)).toEqual(["signature_mismatch"]);
  });
});
