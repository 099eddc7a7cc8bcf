import { createHash, createHmac } from "node:crypto";
import { sha256 } from "@noble/hashes/sha2.js";
import { describe, expect, test } from "vitest";
import { digest, HmacKey, hmac } from "../../src/macaroon/hmac.js";

// Ours beside the runtime's and the hash library's, around every boundary of a block.

const bytes = (length: number, seed: number): Uint8Array =>
  Uint8Array.from({ length }, (_, at) => (at * 151 + seed * 97 + (at >> 3)) & 0xff);
const hex = (value: Uint8Array): string => Buffer.from(value).toString("hex");

describe("SHA-256 on words", () => {
  test("is the runtime's and the library's, for messages of 0 to 300 bytes", () => {
    for (let length = 0; length <= 300; length++) {
      const message = bytes(length, length);
      const expected = createHash("sha256").update(message).digest("hex");
      expect(hex(digest(message)), `${length} bytes`).toBe(expected);
      expect(hex(sha256(message))).toBe(expected);
      const half = length >> 1;
      expect(hex(digest(message.subarray(0, half), message.subarray(half)))).toBe(expected);
    }
  });

  test("is the runtime's for a message of many blocks", () => {
    const message = bytes(1_000_003, 7);
    expect(hex(digest(message))).toBe(createHash("sha256").update(message).digest("hex"));
  });

  test("changes neither key nor message", () => {
    const [key, message] = [bytes(32, 1), bytes(200, 2)];
    hmac(key, message);
    expect([key, message]).toEqual([bytes(32, 1), bytes(200, 2)]);
  });
});

describe("HMAC on words", () => {
  test("is the runtime's for keys of 0 to 64 bytes, kept or given each time", () => {
    for (let length = 0; length <= 64; length++) {
      const key = bytes(length, length + 3);
      const kept = new HmacKey(key);
      for (const size of [0, 1, 31, 32, 55, 56, 63, 64, 65, 119, 120, 128, 200]) {
        const message = bytes(size, size);
        const expected = createHmac("sha256", key).update(message).digest("hex");
        expect(hex(hmac(key, message)), `key of ${length}, message of ${size}`).toBe(expected);
        expect(hex(kept.mac(message))).toBe(expected);
      }
    }
  });
});
