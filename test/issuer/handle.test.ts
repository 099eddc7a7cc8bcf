import { createCipheriv, createDecipheriv, hkdfSync } from "node:crypto";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { decodeBase64 } from "../../src/bytes/base64.js";
import { HandleKey, isHandle } from "../../src/issuer/handle.js";
import { createIssuer } from "../../src/issuer/issuer.js";
import { createKeyring, type Keyring } from "../../src/issuer/keyring.js";
import { RevocationList } from "../../src/revocation/list.js";
import { misuse } from "../caveats/support.js";
import { sized } from "../support/size.js";

const SECRET = new Uint8Array(32).fill(7);
const key = new HandleKey(SECRET);
const SCOPE = "cap_AAAAAAAAAAAAAAAA";

describe("a handle", () => {
  test("is the same for the same name in the same scope, also from another instance", () => {
    const handle = key.seal(SCOPE, "reports/q1.md");
    expect(isHandle(handle)).toBe(true);
    expect(new HandleKey(SECRET).seal(SCOPE, "reports/q1.md")).toBe(handle);
    expect(key.seal(SCOPE, "reports/q2.md")).not.toBe(handle);
    expect(key.open(SCOPE, handle)).toBe("reports/q1.md");
  });

  test("is noise in another scope and under another key", () => {
    const handle = key.seal(SCOPE, "reports/q1.md");
    expect(key.open("cap_BBBBBBBBBBBBBBBB", handle)).toBeUndefined();
    expect(key.open("", handle)).toBeUndefined();
    expect(new HandleKey(new Uint8Array(32).fill(8)).open(SCOPE, handle)).toBeUndefined();
    expect(key.seal("cap_BBBBBBBBBBBBBBBB", "reports/q1.md")).not.toBe(handle);
  });

  test("changed in any character, or cut or longer by one, is noise", () => {
    const handle = key.seal(SCOPE, "reports/2025/quarterly/q1.md");
    for (let at = 0; at < handle.length; at++) {
      const other = handle[at] === "A" ? "B" : "A";
      const changed = handle.slice(0, at) + other + handle.slice(at + 1);
      expect(key.open(SCOPE, changed)).toBeUndefined();
      expect(key.open(SCOPE, handle.slice(0, at) + handle.slice(at + 1))).toBeUndefined();
      expect(key.open(SCOPE, handle.slice(0, at))).toBeUndefined();
    }
    for (const more of ["A", "=", " ", "\n", "AAAA"]) {
      expect(key.open(SCOPE, handle + more)).toBeUndefined();
      expect(key.open(SCOPE, more + handle)).toBeUndefined();
    }
  });

  test("tells the length of the name only to within 12 bytes", () => {
    const lengths = Array.from(
      { length: 36 },
      (_, at) => key.seal(SCOPE, "a".repeat(at + 1)).length,
    );
    // The byte that ends the name counts, so blocks end at 11, 23 and 35 bytes.
    expect(new Set(lengths.slice(0, 11)).size).toBe(1);
    expect(new Set(lengths.slice(11, 23)).size).toBe(1);
    expect(new Set(lengths.slice(23, 35)).size).toBe(1);
    expect(new Set(lengths).size).toBe(4);
  });

  test("takes names of 1 to 512 bytes of UTF-8, and says so otherwise", () => {
    const limits = "a resource's name must have 1 to 512 bytes of UTF-8";
    expect(misuse(() => key.seal(SCOPE, ""))).toBe(limits);
    expect(misuse(() => key.seal(SCOPE, "a".repeat(513)))).toBe(limits);
    expect(misuse(() => key.seal(SCOPE, "é".repeat(257)))).toBe(limits);
    for (const name of ["a".repeat(512), "é".repeat(256), "a"]) {
      const handle = key.seal(SCOPE, name);
      expect(isHandle(handle)).toBe(true);
      expect(key.open(SCOPE, handle)).toBe(name);
    }
  });

  test("of two names that only look alike is not the same", () => {
    const names = [
      "caf\u00e9",
      "cafe\u0301",
      "\u0441af\u00e9",
      "café\u200b",
      "\ufeffcafé",
      "café\0",
    ];
    expect(new Set(names.map((name) => key.seal(SCOPE, name))).size).toBe(names.length);
    for (const name of names) expect(key.open(SCOPE, key.seal(SCOPE, name))).toBe(name);
  });

  test("is not made of half a surrogate pair, which UTF-8 would make another name of", () => {
    expect(misuse(() => key.seal(SCOPE, "a\ud800"))).toBe(
      "a resource's name must have a UTF-8 form",
    );
  });
});

describe("for any input", () => {
  const name = fc
    .string({ unit: "binary", minLength: 1, maxLength: 120 })
    .filter((text) => Buffer.byteLength(text) <= 512);

  test("what is sealed opens again, in its own scope only", () => {
    fc.assert(
      fc.property(name, fc.string(), fc.string(), (text, scope, other) => {
        const handle = key.seal(scope, text);
        expect(isHandle(handle)).toBe(true);
        expect(key.open(scope, handle)).toBe(text);
        if (scope !== other) expect(key.open(other, handle)).toBeUndefined();
      }),
      { numRuns: sized(500) },
    );
  });

  test("opening never throws, and never finds a name in what was not sealed", () => {
    const characters = [..."ABab01-_=+/. \n\u{1f600}"];
    const handleLike = fc.string({ unit: fc.constantFrom(...characters), maxLength: 800 });
    const anything = fc.oneof(fc.string({ unit: "binary" }), handleLike);
    fc.assert(
      fc.property(anything, fc.boolean(), (text, prefixed) => {
        expect(key.open(SCOPE, prefixed ? `rh_${text}` : text)).toBeUndefined();
      }),
      { numRuns: sized(1000) },
    );
  });
});

describe("an issuer's handles", () => {
  function issuerWith(ring: { keys: Keyring }): ReturnType<typeof createIssuer> {
    const revocations = new RevocationList();
    return createIssuer({ name: "agent", keys: () => ring.keys, revocations });
  }

  test("open after a rotation and a restart, and not after their key is retired", () => {
    const ring = { keys: createKeyring() };
    const first = ring.keys.minting.kid;
    const { capability } = issuerWith(ring).issue((draft) => ({
      grant: "g",
      operations: ["get"],
      resourceHandles: [draft.handle("reports/q1.md")],
    }));
    const [handle = ""] = capability.hop.resourceHandles ?? [];
    const of = { id: capability.id, keyId: first };

    ring.keys = ring.keys.rotate();
    const later = issuerWith(ring);
    expect(later.openHandle(of, handle)).toBe("reports/q1.md");
    expect(later.sealHandle(of, "reports/q1.md")).toBe(handle);
    // The same id under the new key is another scope.
    expect(later.openHandle({ ...of, keyId: ring.keys.minting.kid }, handle)).toBeUndefined();

    ring.keys = ring.keys.retire(first);
    expect(later.openHandle(of, handle)).toBeUndefined();
    expect(later.sealHandle(of, "reports/q1.md")).toBeUndefined();
  });

  test("outside capabilities are one principal's, and no capability's", () => {
    const ring = { keys: createKeyring() };
    const issuer = issuerWith(ring);
    const handle = issuer.sealAmbient("alice", "reports/q1.md");
    expect(issuer.openAmbient("alice", handle)).toBe("reports/q1.md");
    expect(issuer.openAmbient("bob", handle)).toBeUndefined();
    expect(issuer.openAmbient("", handle)).toBeUndefined();
    const keyId = ring.keys.minting.kid;
    expect(issuer.openHandle({ id: "alice", keyId }, handle)).toBeUndefined();
    const sealed = issuer.sealHandle({ id: SCOPE, keyId }, "reports/q1.md") ?? "";
    expect(issuer.openAmbient(SCOPE, sealed)).toBeUndefined();

    ring.keys = ring.keys.rotate();
    expect(issuer.openAmbient("alice", handle)).toBe("reports/q1.md");
    ring.keys = ring.keys.retire(keyId);
    expect(issuer.openAmbient("alice", handle)).toBeUndefined();
  });
});

// RFC 5297 once more, from AES of OpenSSL alone.
const ZERO = Buffer.alloc(16);

function ecb(secret: Buffer, block: Buffer): Buffer {
  const cipher = createCipheriv(`aes-${secret.length * 8}-ecb`, secret, null);
  return cipher.setAutoPadding(false).update(block);
}

function double(block: Buffer): Buffer {
  const shifted = (BigInt(`0x${block.toString("hex")}`) << 1n) & ((1n << 128n) - 1n);
  const carried = (block[0] ?? 0) & 0x80 ? shifted ^ 0x87n : shifted;
  return Buffer.from(carried.toString(16).padStart(32, "0"), "hex");
}

function xor(a: Buffer, b: Buffer): Buffer {
  return Buffer.from(a.map((byte, at) => byte ^ (b[at] ?? 0)));
}

function padded(text: Buffer): Buffer {
  return Buffer.concat([text, Buffer.of(0x80), Buffer.alloc(15)]).subarray(0, 16);
}

/** AES-CMAC (RFC 4493). */
function cmac(secret: Buffer, text: Buffer): Buffer {
  const whole = text.length > 0 && text.length % 16 === 0;
  const subkey = double(ecb(secret, ZERO));
  const start = whole ? text.length - 16 : text.length - (text.length % 16);
  const last = text.subarray(start);
  const final = whole ? xor(last, subkey) : xor(padded(last), double(subkey));
  let state: Buffer = ZERO;
  for (let at = 0; at < start; at += 16)
    state = ecb(secret, xor(state, text.subarray(at, at + 16)));
  return ecb(secret, xor(state, final));
}

function s2v(secret: Buffer, associated: Buffer, text: Buffer): Buffer {
  const state = xor(double(cmac(secret, ZERO)), cmac(secret, associated));
  if (text.length < 16) return cmac(secret, xor(double(state), padded(text)));
  const end = text.length - 16;
  return cmac(secret, Buffer.concat([text.subarray(0, end), xor(text.subarray(end), state)]));
}

function siv(secret: Buffer, associated: Buffer, text: Buffer): Buffer {
  const half = secret.length / 2;
  const tag = s2v(secret.subarray(0, half), associated, text);
  const counter = Buffer.from(tag);
  counter[8] = (counter[8] ?? 0) & 0x7f;
  counter[12] = (counter[12] ?? 0) & 0x7f;
  const cipher = createDecipheriv(`aes-${half * 8}-ctr`, secret.subarray(half), counter);
  return Buffer.concat([tag, cipher.update(text)]);
}

describe("AES-SIV, written a second time on node:crypto", () => {
  test("gives the known answer of RFC 5297, A.1", () => {
    const hex = (text: string): Buffer => Buffer.from(text, "hex");
    const secret = hex("fffefdfcfbfaf9f8f7f6f5f4f3f2f1f0f0f1f2f3f4f5f6f7f8f9fafbfcfdfeff");
    const associated = hex("101112131415161718191a1b1c1d1e1f2021222324252627");
    const answer = siv(secret, associated, hex("112233445566778899aabbccddee"));
    expect(answer.toString("hex")).toBe(
      "85632d07c6e8f37f950acd320a2ecc9340c02b9690c4dc04daef7f6afe5c",
    );
  });

  test("and HKDF-SHA256 of it gives the same handles as ours, bit by bit", () => {
    const derived = hkdfSync("sha256", SECRET, new Uint8Array(0), "proviso-handle-v1", 64);
    for (const name of ["a", "reports/q1.md", "é".repeat(100), "a".repeat(512), "12345678901"]) {
      const text = Buffer.from(name);
      const length = Math.ceil((text.length + 1) / 12) * 12;
      const block = Buffer.alloc(length);
      text.copy(block);
      block[text.length] = 0x80;
      const expected = siv(Buffer.from(derived), Buffer.from(SCOPE), block);
      expect(Buffer.from(decodeBase64(key.seal(SCOPE, name).slice(3)))).toEqual(expected);
    }
  });
});
