import { inspect } from "node:util";
import { describe, expect, test } from "vitest";
import { createKeyring, importKeyring, type RootJwk } from "../../src/issuer/index.js";
import { LOSSY, mistake } from "../support/lossy.js";

function jwkOf(change: Readonly<Record<string, unknown>> = {}): {
  readonly jwk: Readonly<Record<string, unknown>>;
  readonly secret: string;
} {
  const [jwk] = createKeyring().exportJwkSet().keys;
  if (jwk === undefined) throw new Error("a new keyring has a key");
  return { jwk: { ...jwk, ...change }, secret: jwk.k };
}

function messageOf(action: () => unknown): string {
  try {
    action();
  } catch (error) {
    if (error instanceof TypeError) return error.message;
    throw error;
  }
  throw new Error("nothing was thrown");
}

describe("a keyring whose keys are rotated or retired", () => {
  test("mints with the new key, verifies with older keys, and leaves the previous keyring object unchanged", () => {
    let now = Date.parse("2026-01-01T00:00:00Z");
    const first = createKeyring({ clock: () => now });
    now += 60_000;
    const second = first.rotate();
    expect(first.list()).toEqual([
      { kid: first.minting.kid, mints: true, created: "2026-01-01T00:00:00Z" },
    ]);
    expect(second.list()).toEqual([
      { kid: first.minting.kid, mints: false, created: "2026-01-01T00:00:00Z" },
      { kid: second.minting.kid, mints: true, created: "2026-01-01T00:01:00Z" },
    ]);
    expect(second.find(first.minting.kid)).toBeDefined();
    expect(second.minting.kid).not.toBe(first.minting.kid);
  });

  test("contains no secret of a retired key", () => {
    const first = createKeyring();
    const [jwk] = first.exportJwkSet().keys;
    const second = first.rotate().retire(first.minting.kid);
    expect(second.find(first.minting.kid)).toBeUndefined();
    expect(JSON.stringify(second.exportJwkSet())).not.toContain(jwk?.k);
  });

  test("refuses to retire the minting key or an unknown key", () => {
    const keyring = createKeyring();
    expect(() => keyring.retire(keyring.minting.kid)).toThrow(/rotate first/);
    expect(() => keyring.retire("key_other")).toThrow(/there is no key "key_other"/);
  });
});

describe("a keyring", () => {
  test("as JSON, as a string or in util.inspect shows no secret", () => {
    const keyring = createKeyring().rotate();
    const secrets = keyring.exportJwkSet().keys.map(({ k }) => k);
    const shown = [
      JSON.stringify({ keyring, minting: keyring.minting, keys: keyring.list() }),
      String(keyring),
      inspect(keyring, { depth: 9, showHidden: true }),
      inspect(keyring.minting, { depth: 9, showHidden: true }),
    ].join();
    for (const secret of secrets) expect(shown).not.toContain(secret);
    expect(JSON.stringify(keyring)).toBe('"[keyring, secrets withheld]"');
  });

  test("is the same after its exported set is written as JSON, read and imported", () => {
    const keyring = createKeyring();
    const before = JSON.stringify(keyring.exportJwkSet());
    expect(JSON.stringify(importKeyring(JSON.parse(before)).exportJwkSet())).toBe(before);
  });
});

describe("importing keys", () => {
  test.each<[string, Readonly<Record<string, unknown>>, RegExp]>([
    ["another kty", { kty: "RSA" }, /kty must be "oct"/],
    ["another alg", { alg: "HS512" }, /alg must be "HS256"/],
    ["an empty kid", { kid: "" }, /kid must be a non-empty string/],
    ["a kid that is not a string", { kid: 1 }, /kid must be a non-empty string/],
    ["a time before 1970", { iat: -1 }, /iat must be whole seconds/],
    ["a time in milliseconds", { iat: 1_767_225_600_000 }, /iat must be whole seconds/],
    ["half a second", { iat: 0.5 }, /iat must be whole seconds/],
    ["other key_ops", { key_ops: ["sign"] }, /key_ops must be/],
    ["key_ops as a string", { key_ops: "verify" }, /key_ops must be/],
    ["an unknown property", { use: "sig" }, /keys\[0\]\.use: unknown property; there are /],
    ["no secret", { k: 5 }, /k must be 32 bytes of base64url/],
  ])("refuses a key with %s", (_about, change, message) => {
    const { jwk, secret } = jwkOf(change);
    const text = messageOf(() => importKeyring({ keys: [jwk] }));
    expect(text).toMatch(message);
    expect(text).not.toContain(secret);
  });

  test.each<[string, (secret: string) => string]>([
    ["short", (secret) => secret.slice(0, -4)],
    ["long", (secret) => `${secret}AAAA`],
    ["misspelt", (secret) => `${secret.slice(0, -1)}!`],
  ])("refuses a %s secret without showing it", (_about, damage) => {
    const { jwk, secret } = jwkOf();
    const text = messageOf(() => importKeyring({ keys: [{ ...jwk, k: damage(secret) }] }));
    expect(text).toMatch(/keys\[0\]\.k must be 32 bytes/);
    expect(text).not.toContain(secret.slice(0, 8));
  });

  test.each<[string, unknown]>([
    ["undefined", undefined],
    ["null", null],
    ["an array", []],
    ["an object without keys", {}],
    ["an object whose keys are not an array", { keys: {} }],
    ["an object with a key that is not an object", { keys: ["k"] }],
    ["an object with an empty list of keys", { keys: [] }],
  ])("refuses a set that is %s", (_about, set) => {
    expect(() => importKeyring(set)).toThrow(TypeError);
  });

  test.each(LOSSY)(
    "refuses %s wherever it is in a set, and names the property",
    async (_, make) => {
      const { jwk } = jwkOf();
      const value = make();
      const places: readonly (readonly [string, unknown])[] = [
        ["set", value],
        ["keys", { keys: value }],
        ["keys[0]", { keys: [value] }],
        ["keys[0].k", { keys: [{ ...jwk, k: value }] }],
        ["keys[0].key_ops", { keys: [{ ...jwk, key_ops: value }] }],
        ["keys[0].key_ops[1]", { keys: [{ ...jwk, key_ops: ["sign", value] }] }],
      ];
      for (const [place, set] of places) {
        const message = await mistake(() => importKeyring(set));
        expect(message.startsWith(`${place} must be`), `${place}: ${message}`).toBe(true);
      }
      const inherited = Object.create({ keys: [jwk] });
      expect(await mistake(() => importKeyring(inherited))).toMatch(/^set must be a plain object/);
    },
  );

  test("refuses two minting keys, no minting key, and two keys with one id", () => {
    const { jwk } = jwkOf();
    const { jwk: other } = jwkOf();
    const verifies = { ...other, key_ops: ["verify"] };
    expect(() => importKeyring({ keys: [jwk, other] })).toThrow(/exactly one key/);
    expect(() => importKeyring({ keys: [verifies] })).toThrow(/exactly one key/);
    expect(() => importKeyring({ keys: [jwk, { ...verifies, kid: jwk["kid"] }] })).toThrow(
      /the same kid/,
    );
  });

  test("keeps every property of an exported set", () => {
    const set: { readonly keys: readonly RootJwk[] } = createKeyring().rotate().exportJwkSet();
    expect(importKeyring(set).exportJwkSet()).toEqual(set);
  });
});
