import * as crypto from "node:crypto";
import { describe, expect, test } from "vitest";
import { hashesOf } from "../../src/macaroon/hmac.js";
import { openCaveatKey, sealCaveatKey } from "../../src/macaroon/third-party.js";
import { hex, utf8 } from "./support.js";

// RFC 4231, section 4: key, data and HMAC-SHA-256. Test case 5 has a truncated tag and is omitted.
const RFC4231 = [
  [
    "0b".repeat(20),
    hex(utf8("Hi There")),
    "b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7",
  ],
  [
    hex(utf8("Jefe")),
    hex(utf8("what do ya want for nothing?")),
    "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843",
  ],
  [
    "aa".repeat(20),
    "dd".repeat(50),
    "773ea91e36800e46854db8ebd09181a72959098b3ef8c122d9635514ced565fe",
  ],
  [
    "0102030405060708090a0b0c0d0e0f10111213141516171819",
    "cd".repeat(50),
    "82558a389a443c0ea4cc819899f2083a85f0faa3e578f8077a2e3ff46729665b",
  ],
  [
    "aa".repeat(131),
    hex(utf8("Test Using Larger Than Block-Size Key - Hash Key First")),
    "60e431591ee0b67f0d8a26aacbf5b77f8e0bc6213728c5140546040f0ee37f54",
  ],
  [
    "aa".repeat(131),
    hex(
      utf8(
        "This is a test using a larger than block-size key and a larger than block-size data. " +
          "The key needs to be hashed before being used by the HMAC algorithm.",
      ),
    ),
    "9b09ffa71b942fcb27635fbcd5b0e944bfdc63644f0713938a7f51535c3a35e2",
  ],
] as const;

const bytesOf = (digits: string): Uint8Array => new Uint8Array(Buffer.from(digits, "hex"));

describe.each([
  ["node:crypto", crypto],
  ["@noble/hashes", undefined],
])("the hashes of %s", (_, runtime) => {
  const { sha256, hmac } = hashesOf(runtime);

  test.each(RFC4231)("give the tag of RFC 4231 for HMAC under the key %s", (key, data, tag) => {
    expect(hex(hmac(bytesOf(key), bytesOf(data)))).toBe(tag);
  });

  test.each([0, 1, 31, 32, 63, 64, 65])("agree with OpenSSL for a key of %d bytes", (length) => {
    const key = new Uint8Array(length).fill(0xab);
    for (const message of ["", "a", "a".repeat(63), "b".repeat(130)].map(utf8)) {
      expect(hex(hmac(key, message))).toBe(
        crypto.createHmac("sha256", key).update(message).digest("hex"),
      );
      expect(hex(sha256(message))).toBe(crypto.createHash("sha256").update(message).digest("hex"));
    }
  });

  test("are Uint8Arrays that share no memory", () => {
    for (const bytes of [sha256(utf8("a")), hmac(utf8("k"), utf8("a"))]) {
      expect(bytes.constructor).toBe(Uint8Array);
      expect(bytes.buffer.byteLength).toBe(32);
    }
  });
});

describe("a caveat key", () => {
  const tag = new Uint8Array(32).fill(1);
  const caveatKey = new Uint8Array(32).fill(2);
  const nonce = new Uint8Array(24).fill(3);

  test("opens under the tag with which it was sealed, and under no other tag", () => {
    const vid = sealCaveatKey(tag, caveatKey, nonce);
    expect(openCaveatKey(tag, vid)).toEqual(caveatKey);
    expect(openCaveatKey(caveatKey, vid)).toBeUndefined();
  });

  test.each([0, 31, 33])("of %d bytes is refused by sealCaveatKey with a TypeError", (length) => {
    const seal = (): unknown => sealCaveatKey(tag, new Uint8Array(length), nonce);
    expect(seal).toThrow(new TypeError("a derived caveat key has 32 bytes"));
  });
});
