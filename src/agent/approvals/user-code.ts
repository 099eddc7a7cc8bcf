import { digestOfText } from "./digest.js";

// Letters that no other letter or digit looks like, and that make no words: RFC 8628, section 6.1.
const ALPHABET = "BCDFGHJKLMNPQRSTVWXZ";
const LENGTH = 8;
const CODE = new RegExp(`^[${ALPHABET}]{${LENGTH}}$`);
const MAX_TYPED = 64;

/** A new user code, `XXXX-XXXX`: 8 of 20 letters, about 34 bits. */
export function newUserCode(random: (length: number) => Uint8Array): string {
  let code = "";
  while (code.length < LENGTH) {
    for (const byte of random(LENGTH)) {
      // Only bytes below a multiple of 20, or some letters would come more often.
      if (byte < 240 && code.length < LENGTH) code += ALPHABET.charAt(byte % ALPHABET.length);
    }
  }
  return `${code.slice(0, 4)}-${code.slice(4)}`;
}

/** SHA-256 of a user code in any case, spaces and dashes anywhere; `undefined` for what is no user code. */
export function hashOfUserCode(typed: string): string | undefined {
  if (typed.length > MAX_TYPED) return undefined;
  const code = typed.replace(/[\s\p{Pd}]/gu, "").toUpperCase();
  return CODE.test(code) ? digestOfText(code) : undefined;
}
