import { xsalsa20poly1305 } from "@noble/ciphers/salsa.js";

const NONCE_LENGTH = 24;
const KEY_LENGTH = 32;

/** Length of a verification id: nonce, Poly1305 tag and sealed 32-byte key. */
export const VID_LENGTH = 72;

/** Seals a derived caveat key with the tag before the caveat (XSalsa20-Poly1305). */
export function sealCaveatKey(
  tag: Uint8Array,
  caveatKey: Uint8Array,
  nonce: Uint8Array,
): Uint8Array {
  if (caveatKey.length !== KEY_LENGTH) throw new TypeError("a derived caveat key has 32 bytes");
  if (nonce.length !== NONCE_LENGTH) throw new TypeError("a caveat nonce must have 24 bytes");
  const vid = new Uint8Array(VID_LENGTH);
  vid.set(nonce);
  vid.set(xsalsa20poly1305(tag, nonce).encrypt(caveatKey), NONCE_LENGTH);
  return vid;
}

/** Returns the caveat key sealed in `vid`; `undefined` if `vid` does not open with `tag`. */
export function openCaveatKey(tag: Uint8Array, vid: Uint8Array): Uint8Array | undefined {
  const nonce = vid.subarray(0, NONCE_LENGTH);
  try {
    return xsalsa20poly1305(tag, nonce).decrypt(vid.subarray(NONCE_LENGTH));
  } catch {
    return undefined;
  }
}

/** Returns a random nonce for {@link sealCaveatKey}. */
export function caveatNonce(): Uint8Array {
  return crypto.getRandomValues(new Uint8Array(NONCE_LENGTH));
}
