import { createHash, createHmac } from "node:crypto";
import { xsalsa20poly1305 } from "@noble/ciphers/salsa.js";

// The vectors are built from these primitives, never from the code under test.

/** A byte string, or a string to be encoded as UTF-8. */
export type Data = string | Uint8Array;

export function bytes(data: Data): Uint8Array {
  return typeof data === "string" ? new Uint8Array(Buffer.from(data, "utf8")) : data;
}

/** Concatenates strings, byte strings and single bytes. */
export function concat(...parts: readonly (Data | number)[]): Uint8Array {
  const chunks = parts.map((part) =>
    typeof part === "number" ? Uint8Array.of(part) : bytes(part),
  );
  return new Uint8Array(Buffer.concat(chunks));
}

export function hex(data: Uint8Array): string {
  return Buffer.from(data).toString("hex");
}

export function fromHex(text: string): Uint8Array {
  return new Uint8Array(Buffer.from(text, "hex"));
}

/** Encodes data as unpadded base64url. */
export function base64url(data: Data): string {
  return Buffer.from(bytes(data)).toString("base64url");
}

/** Encodes data as padded base64 in the standard alphabet. */
export function base64(data: Data): string {
  return Buffer.from(bytes(data)).toString("base64");
}

export function sha256(...parts: readonly Data[]): Uint8Array {
  return new Uint8Array(
    createHash("sha256")
      .update(concat(...parts))
      .digest(),
  );
}

export function hmac(key: Uint8Array, ...parts: readonly Data[]): Uint8Array {
  return new Uint8Array(
    createHmac("sha256", key)
      .update(concat(...parts))
      .digest(),
  );
}

/** Computes `HMAC(key, HMAC(key, a) ‖ HMAC(key, b))`. */
export function hash2(key: Uint8Array, a: Data, b: Data): Uint8Array {
  return hmac(key, hmac(key, a), hmac(key, b));
}

/** Encrypts `plain` with NaCl's `secretbox`. The result begins with the nonce. */
export function seal(key: Uint8Array, nonce: Uint8Array, plain: Uint8Array): Uint8Array {
  return concat(nonce, xsalsa20poly1305(key, nonce).encrypt(plain));
}

/** Returns a copy with one bit flipped, in the byte at index `at`. A negative index counts from the end. */
export function flip(data: Uint8Array, at: number, bit = 0): Uint8Array {
  const copy = data.slice();
  const index = at < 0 ? data.length + at : at;
  copy[index] = (copy[index] ?? 0) ^ (1 << bit);
  return copy;
}
