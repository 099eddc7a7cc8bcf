import { createCipheriv, hkdfSync } from "node:crypto";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { decodeBase64, encodeBase64url } from "../../src/bytes/base64.js";
import { HandleKey, isHandle } from "../../src/issuer/handle.js";
import { createIssuer, type Issuer } from "../../src/issuer/issuer.js";
import { createKeyring, type Keyring } from "../../src/issuer/keyring.js";
import { RevocationList } from "../../src/revocation/list.js";
import { misuse } from "../caveats/support.js";
import { anyCharacter } from "../support/any-character.js";
import { sized } from "../support/size.js";

const SECRET = new Uint8Array(32).fill(7);
const key = new HandleKey(SECRET);
const SCOPE = "cap_AAAAAAAAAAAAAAAA";
const MOST = Number.MAX_SAFE_INTEGER;

function sealed(number: number, scope = SCOPE): string {
  return key.seal(scope, [number]).get(number) ?? "";
}

function opened(handle: string, scope = SCOPE): number | undefined {
  return key.open(scope, [handle]).get(handle);
}

/** Returns a validly encrypted handle of a block that need not be a number. */
function sealedBlock(block: Uint8Array): string {
  const derived = hkdfSync("sha256", SECRET, new Uint8Array(0), `proviso-handle-v1 ${SCOPE}`, 32);
  const cipher = createCipheriv("aes-256-ecb", new Uint8Array(derived), null);
  return `rh_${encodeBase64url(cipher.setAutoPadding(false).update(block))}`;
}

describe("a handle", () => {
  test("is the same for the same number and scope, even from another HandleKey with the same secret", () => {
    const handle = sealed(7);
    expect(isHandle(handle)).toBe(true);
    expect(new HandleKey(SECRET).seal(SCOPE, [7]).get(7)).toBe(handle);
    expect(sealed(8)).not.toBe(handle);
    expect(opened(handle)).toBe(7);
  });

  test("has 25 characters whatever its number, and is unlike the handle of the next number", () => {
    const handles = [0, 1, 2, 255, 2 ** 32 - 1, 2 ** 32, MOST].map((number) => sealed(number));
    for (const handle of handles) expect(handle).toMatch(/^rh_[A-Za-z0-9_-]{22}$/);
    // Two random characters are equal in 1 of 64 cases: 8 equal characters of 22 happen by chance once in 10^9.
    for (const [at, handle] of handles.entries()) {
      const next = handles[at + 1] ?? "";
      const same = [...handle.slice(3)].filter((one, place) => one === next[place + 3]);
      expect(same.length).toBeLessThan(8);
    }
  });

  test("does not open in another scope or under another key", () => {
    const handle = sealed(7);
    expect(opened(handle, "cap_BBBBBBBBBBBBBBBB")).toBeUndefined();
    expect(opened(handle, "")).toBeUndefined();
    expect(new HandleKey(new Uint8Array(32).fill(8)).open(SCOPE, [handle]).size).toBe(0);
    expect(sealed(7, "cap_BBBBBBBBBBBBBBBB")).not.toBe(handle);
  });

  test("with any bit changed, or one character more or less, does not open", () => {
    const handle = sealed(7);
    const bytes = decodeBase64(handle.slice(3));
    for (let bit = 0; bit < 128; bit++) {
      const other = Uint8Array.from(bytes);
      other[bit >> 3] = (other[bit >> 3] ?? 0) ^ (1 << (bit & 7));
      expect(opened(`rh_${encodeBase64url(other)}`)).toBeUndefined();
    }
    for (let at = 0; at < handle.length; at++) {
      expect(opened(handle.slice(0, at) + handle.slice(at + 1))).toBeUndefined();
      expect(opened(handle.slice(0, at))).toBeUndefined();
    }
    for (const more of ["A", "=", " ", "\n", "AAAA"]) {
      expect(opened(handle + more)).toBeUndefined();
      expect(opened(more + handle)).toBeUndefined();
    }
  });

  test("has one accepted spelling, whose unused last bits are zero", () => {
    const handle = sealed(7);
    const alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
    const spellings = [...alphabet].map((last) => handle.slice(0, -1) + last);
    expect(spellings.filter((one) => opened(one) !== undefined)).toEqual([handle]);
    expect(spellings.filter(isHandle)).toHaveLength(4);
  });

  test("with any of its 75 zero bits set does not open", () => {
    for (let bit = 0; bit < 75; bit++) {
      const block = new Uint8Array(16);
      block[15] = 7;
      expect(opened(sealedBlock(block))).toBe(7);
      block[bit >> 3] = 0x80 >> (bit & 7);
      expect(opened(sealedBlock(block))).toBeUndefined();
    }
    expect(opened(sealedBlock(new Uint8Array(16).fill(0xff)))).toBeUndefined();
  });

  test("can be sealed for whole numbers from 0 to 2^53 - 1; other numbers are a TypeError", () => {
    for (const wrong of [-1, 1.5, 2 ** 53, Number.NaN, Number.POSITIVE_INFINITY]) {
      expect(misuse(() => key.seal(SCOPE, [1, wrong]))).toBe(
        `a resource's number must be 0 to 2^53 - 1, not ${wrong}`,
      );
    }
    for (const number of [0, 1, 2 ** 32, MOST]) expect(opened(sealed(number))).toBe(number);
  });

  test("among many opens to its own number, and strings that are no handles are left out", () => {
    const numbers = [5, MOST, 0, 5, 2 ** 40];
    const handles = key.seal(SCOPE, numbers);
    expect([...handles.keys()]).toEqual([5, MOST, 0, 2 ** 40]);
    const texts = [...handles.values()];
    expect([...key.open(SCOPE, ["rh_x", ...texts, ...texts, "noise"]).entries()]).toEqual(
      [...handles].map(([number, handle]) => [handle, number]),
    );
    expect(key.seal(SCOPE, []).size).toBe(0);
    expect(key.open(SCOPE, []).size).toBe(0);
  });
});

describe("for random numbers, scopes and keys", () => {
  const number = fc.maxSafeNat();
  const secret = fc.uint8Array({ minLength: 32, maxLength: 32 });

  test("a handle opens in its own scope and under its own key only", () => {
    fc.assert(
      fc.property(number, fc.string(), fc.string(), secret, (value, scope, other, foreign) => {
        const handle = sealed(value, scope);
        expect(handle).toMatch(/^rh_[A-Za-z0-9_-]{22}$/);
        expect(opened(handle, scope)).toBe(value);
        if (scope !== other) expect(opened(handle, other)).toBeUndefined();
        if (foreign.some((byte) => byte !== 7)) {
          expect(new HandleKey(foreign).open(scope, [handle]).size).toBe(0);
        }
      }),
      { numRuns: sized(500) },
    );
  });

  test("a handle with flipped bits does not open", () => {
    const flips = fc.uint8Array({ minLength: 16, maxLength: 16 });
    fc.assert(
      fc.property(number, flips, (value, mask) => {
        const handle = sealed(value);
        const bytes = decodeBase64(handle.slice(3)).map((byte, at) => byte ^ (mask[at] ?? 0));
        const flipped = mask.some((byte) => byte !== 0);
        expect(opened(`rh_${encodeBase64url(bytes)}`)).toBe(flipped ? undefined : value);
      }),
      { numRuns: sized(500) },
    );
  });

  test("opening a random string never throws, and never finds a number", () => {
    const characters = [..."ABab01-_=+/. \n\u{1f600}"];
    const handleLike = fc.string({ unit: fc.constantFrom(...characters), maxLength: 30 });
    const exact = fc.string({
      unit: fc.constantFrom(..."ABab01-_gwQ"),
      minLength: 22,
      maxLength: 30,
    });
    const anything = fc.oneof(fc.string({ unit: anyCharacter }), handleLike, exact);
    fc.assert(
      fc.property(anything, fc.boolean(), (text, prefixed) => {
        expect(opened(prefixed ? `rh_${text}` : text)).toBeUndefined();
        expect(opened(`rh_${text.slice(0, 22)}`)).toBeUndefined();
      }),
      { numRuns: sized(1000) },
    );
  });
});

describe("an issuer's handles", () => {
  function issuerWith(ring: { keys: Keyring }): Issuer {
    const revocations = new RevocationList();
    return createIssuer({ name: "agent", keys: () => ring.keys, revocations });
  }

  test("open after a key rotation and a restart, and do not open after their key is retired", () => {
    const ring = { keys: createKeyring() };
    const first = ring.keys.minting.kid;
    const { capability } = issuerWith(ring).issue((draft) => ({
      grant: "g",
      operations: ["get"],
      resourceHandles: [...draft.handles([7]).values()],
    }));
    const [handle = ""] = capability.hop.resourceHandles ?? [];
    const of = { id: capability.id, keyId: first };

    ring.keys = ring.keys.rotate();
    const later = issuerWith(ring);
    expect(later.openHandles(of, [handle]).get(handle)).toBe(7);
    expect(later.sealHandles(of, [7]).get(7)).toBe(handle);
    // The same id under the new key is another scope.
    const renewed = { ...of, keyId: ring.keys.minting.kid };
    expect(later.openHandles(renewed, [handle]).size).toBe(0);

    ring.keys = ring.keys.retire(first);
    expect(later.openHandles(of, [handle]).size).toBe(0);
    expect(later.sealHandles(of, [7]).size).toBe(0);
  });

  test("sealed for ambient authority open for their principal only, and in no capability", () => {
    const ring = { keys: createKeyring() };
    const issuer = issuerWith(ring);
    const alice = { ambient: "alice" };
    const handle = issuer.sealHandles(alice, [7]).get(7) ?? "";
    expect(issuer.openHandles(alice, [handle]).get(handle)).toBe(7);
    expect(issuer.openHandles({ ambient: "bob" }, [handle]).size).toBe(0);
    expect(issuer.openHandles({ ambient: "" }, [handle]).size).toBe(0);
    const keyId = ring.keys.minting.kid;
    expect(issuer.openHandles({ id: "alice", keyId }, [handle]).size).toBe(0);
    const ofCapability = issuer.sealHandles({ id: SCOPE, keyId }, [7]).get(7) ?? "";
    expect(issuer.openHandles({ ambient: SCOPE }, [ofCapability]).size).toBe(0);

    ring.keys = ring.keys.rotate();
    const younger = issuer.sealHandles(alice, [7]).get(7) ?? "";
    expect(younger).not.toBe(handle);
    // One call opens handles sealed with different keys.
    expect([...issuer.openHandles(alice, [handle, younger]).values()]).toEqual([7, 7]);
    ring.keys = ring.keys.retire(keyId);
    expect([...issuer.openHandles(alice, [handle, younger])]).toEqual([[younger, 7]]);
  });
});

test("HandleKey gives the handles that AES-256 and HKDF-SHA256 of OpenSSL give", () => {
  for (const number of [0, 1, 7, 2 ** 32 - 1, 2 ** 32, 2 ** 40 + 5, MOST]) {
    const block = Buffer.alloc(16);
    block.writeBigUInt64BE(BigInt(number), 8);
    expect(sealed(number)).toBe(sealedBlock(block));
  }
});
