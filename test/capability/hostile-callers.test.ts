import { describe, expect, test } from "vitest";
import { attenuate } from "../../src/capability/attenuate.js";
import { CAPABILITY_LIMITS } from "../../src/capability/limits.js";
import type { Invocation } from "../../src/caveats/invocation.js";
import { encodeHop } from "../../src/caveats/write-hop.js";
import { createIssuer } from "../../src/issuer/issuer.js";
import { createKeyring, importKeyring } from "../../src/issuer/keyring.js";
import {
  addFirstPartyCaveat,
  createMacaroon,
  createRootKey,
  macaroonsFromBytes,
  macaroonToBytes,
  macaroonToText,
  parseMacaroon,
} from "../../src/macaroon/index.js";
import { RevocationList } from "../../src/revocation/list.js";
import { fixture, GET, mint, NOW } from "./support.js";

// Hostile objects of calling code: inherited properties, getters, shared memory, huge lists.

describe("an invocation", () => {
  const { issuer } = fixture();
  const bound = mint(issuer, { invokers: ["admin"] });

  test("with inherited properties is a TypeError", () => {
    const inherited: Invocation = Object.create({ ...GET, invoker: "admin" });
    expect(() => issuer.authorize(bound, inherited)).toThrow(TypeError);
    const half: Invocation = Object.assign(Object.create({ invoker: "admin" }), GET);
    expect(() => issuer.authorize(bound, half)).toThrow("invocation must be a plain object");
  });

  test("is a TypeError if other code has set its property time on Object.prototype", () => {
    const expired = mint(issuer, { expires: "2030-01-01T00:00:01Z" });
    const later = createIssuer({
      name: issuer.name,
      keys: fixture().keys,
      revocations: new RevocationList(),
      clock: () => NOW + 2000,
    });
    const bare: Invocation = Object.assign(Object.create(null), GET);
    expect(later.authorize(expired, bare).allowed).toBe(false);
    Object.assign(Object.prototype, { time: new Date(NOW) });
    try {
      for (const asked of [bare, GET]) {
        expect(() => later.authorize(expired, asked)).toThrow("invocation.time must be");
      }
    } finally {
      Reflect.deleteProperty(Object.prototype, "time");
    }
  });

  test("with an argument whose getter later returns another value is judged by the first value", () => {
    const limited = mint(issuer, { constraints: { amount: { max: 10 } } });
    const child = attenuate(limited, { constraints: { amount: { max: 5 } } });
    let looks = 0;
    const args = {
      get amount(): number {
        looks++;
        return looks === 1 ? 10 : 5;
      },
    };
    const token = child.ok ? child.token : "";
    expect(issuer.authorize(token, { ...GET, arguments: args }).allowed).toBe(false);
    expect(looks).toBe(1);
  });

  test("with a custom iterator on its array of handles is a TypeError", () => {
    const token = mint(issuer, { resourceHandles: ["rh_ok"] });
    const handles = ["rh_secret"];
    handles[Symbol.iterator] = ["rh_ok"][Symbol.iterator].bind(["rh_ok"]);
    const invocation = { ...GET, resourceHandles: handles };
    expect(() => issuer.authorize(token, invocation)).toThrow(
      "invocation.resourceHandles must be an array without holes and without other properties",
    );
  });
});

describe("a refusal", () => {
  const { issuer } = fixture();

  test("for 20,000 wrong handles reports 16 of them", () => {
    const token = mint(issuer, { resourceHandles: ["rh_1"] });
    const resourceHandles = Array.from({ length: 20_000 }, (_, i) => `rh_wrong_${i}`);
    const decision = issuer.authorize(token, { ...GET, resourceHandles });
    expect(decision.allowed ? 0 : decision.denials.length).toBe(16);
  });

  test("does not repeat a long argument in its messages", () => {
    const token = mint(issuer, { constraints: { text: { in: ["a"], max: 1, not_in: ["b"] } } });
    const text = "x".repeat(1_000_000);
    const decision = issuer.authorize(token, { ...GET, arguments: { text } });
    const words = decision.allowed ? "" : decision.denials.map(({ message }) => message).join("");
    expect(words.length).toBeGreaterThan(0);
    expect(words.length).toBeLessThan(1000);
  });
});

test("the properties of a denial do not repeat a long value", () => {
  const { issuer } = fixture();
  const long = "x".repeat(1_000_000);
  const limits = { text: { in: ["a"], max: 1 }, list: { min: 1 }, object: 1, short: { max: 1 } };
  const hop = { constraints: limits, invokers: ["a"], audience: ["b"], resourceHandles: ["rh_1"] };
  const token = mint(issuer, hop);
  const given = { text: long, list: [long], object: { [long]: long }, short: "as it came" };
  const asked = { ...GET, arguments: given, operation: long, invoker: long, audience: long };
  const decision = issuer.authorize(token, { ...asked, resourceHandles: [long, `${long}2`] });
  const told = decision.allowed ? [] : decision.denials;
  expect(told.length).toBeGreaterThan(7);
  expect(JSON.stringify(told).length).toBeLessThan(10_000);
  const actual = (rule: string): unknown => told.find((denial) => denial.rule === rule)?.actual;
  expect(actual("operations")).toBe(`${"x".repeat(256)}...`);
  expect(actual("constraints.list.min")).toBe("an array");
  expect(actual("constraints.object")).toBe("an object");
  expect(actual("constraints.short.max")).toBe("as it came");
  const grants = [{ id: "files", operations: ["get"] }];
  const knowing = fixture({ grants }).issuer;
  const refused = knowing.authorize(mint(knowing, { operations: ["get"] }), {
    grant: "files",
    operation: long,
  });
  expect(JSON.stringify(refused).length).toBeLessThan(3000);
});

describe("properties that other code set on Object.prototype are no part of a hop", () => {
  const { issuer, keys } = fixture();
  const [jwk] = keys.exportJwkSet().keys;
  const key = createRootKey(Buffer.from(jwk?.k ?? "", "base64url"));

  /** Returns a token with one hop, made with the issuer's key. Only a holder of the key can make such a token. */
  function withHop(hop: string): string {
    const { identifier } = parseMacaroon(mint(issuer));
    return macaroonToText(addFirstPartyCaveat(createMacaroon(key, { identifier }), hop));
  }

  test.each<[string, object]>([
    ["expires", { expires: "2099-01-01T00:00:00Z" }],
    ["an undefined expires", { expires: undefined }],
  ])("so a token without expiry is still refused: %s", (_, polluted) => {
    const token = withHop('{"operations":["get"]}');
    Object.assign(Object.prototype, polluted);
    try {
      const decision = issuer.authorize(token, GET);
      expect(decision.allowed ? [] : decision.denials.map(({ code }) => code)).toEqual([
        "expiry_missing",
      ]);
    } finally {
      for (const name of Object.keys(polluted)) Reflect.deleteProperty(Object.prototype, name);
    }
  });

  test("so a token that allows a call still allows the call", () => {
    const token = mint(issuer, { constraints: { amount: { max: 5 } } });
    const asked = { ...GET, arguments: { amount: 3 } };
    const known = issuer.authenticate(token);
    const polluted = { notBefore: "2099-01-01T00:00:00Z", purpose: "x", min: 4, not_in: [3] };
    Object.assign(Object.prototype, polluted);
    try {
      expect(issuer.authorize(token, asked).allowed).toBe(true);
      expect(known.ok && issuer.isStillValid(known.token)).toBe(true);
    } finally {
      for (const name of Object.keys(polluted)) Reflect.deleteProperty(Object.prototype, name);
    }
  });
});

describe("defences against the calling code", () => {
  const key = createRootKey(Uint8Array.of(1));

  test("a macaroon shares no memory with the Buffer that it was read from, or with the parts that its getters return", () => {
    const buffer = Buffer.from(macaroonToBytes(createMacaroon(key, { identifier: "id" }), "v2"));
    const { macaroons } = macaroonsFromBytes(buffer);
    buffer.fill(0x41);
    macaroons[0].identifier.fill(0x42);
    expect(new TextDecoder().decode(macaroons[0].identifier)).toBe("id");
    const given = Buffer.from("own");
    const made = createMacaroon(key, { identifier: given });
    given.fill(0x43);
    expect(new TextDecoder().decode(made.identifier)).toBe("own");
  });

  test("a change of an exported key set changes no key of the keyring", () => {
    const keyring = createKeyring();
    const exported = keyring.exportJwkSet();
    for (const jwk of exported.keys) Object.assign(jwk, { k: "REDACTED" });
    expect(() => importKeyring(keyring.rotate().exportJwkSet())).not.toThrow();
    expect(() => importKeyring(exported)).toThrow(/k must be 32 bytes/);
  });

  test("createKeyring refuses a random source that returns a key of the wrong length", () => {
    expect(() => createKeyring({ random: () => new Uint8Array(1) })).toThrow(/32 bytes/);
  });

  test("CAPABILITY_LIMITS cannot be changed, and createIssuer names a misspelt limit or option", () => {
    expect(() => Object.assign(CAPABILITY_LIMITS, { caveats: 1000 })).toThrow(TypeError);
    const options = { name: "a", keys: createKeyring(), revocations: new RevocationList() };
    const misspelt = JSON.parse('{"caveat":0}');
    expect(() => createIssuer({ ...options, limits: misspelt })).toThrow(/unknown limit "caveat"/);
    const extra = { ...options, revocation: options.revocations };
    expect(() => createIssuer(extra)).toThrow(
      /options\.revocation: unknown property; did you mean "revocations"\?/,
    );
  });

  test("encodeHop writes the values that it checked, even if a getter of the hop later returns another value", () => {
    let looks = 0;
    const hop = {
      get operations(): string[] {
        return looks++ === 0 ? ["get"] : ["get", "delete"];
      },
    };
    expect(new TextDecoder().decode(encodeHop(hop))).toBe('{"operations":["get"]}');
  });
});

describe("revocationOf", () => {
  test('returns needless: "revoked" for a child of a revoked token', () => {
    const { issuer, revocations } = fixture();
    const token = mint(issuer);
    const first = issuer.revocationOf(token);
    expect(first).not.toHaveProperty("needless");
    if (first.ok) revocations.add(first.entry);
    const child = attenuate(token, { operations: ["get"] });
    expect(issuer.revocationOf(child.ok ? child.token : "")).toMatchObject({ needless: "revoked" });
  });

  test('returns needless: "expired" for an expired token', () => {
    let now = Date.parse("2026-01-01T00:00:00Z");
    const options = { name: "a", keys: createKeyring(), revocations: new RevocationList() };
    const issuer = createIssuer({ ...options, clock: () => now });
    const { token } = issuer.mint({ grant: "g", operations: ["get"] });
    now += 3_600_000;
    expect(issuer.revocationOf(token)).toMatchObject({ ok: true, needless: "expired" });
  });
});
