// User codes. An agent shows a code, and the user enters the code to find the request.

import { digestOfText } from "../../macaroon/hmac.js";
import type { Approval } from "./records.js";

// Letters that look like no other letter or digit, and that form no words: RFC 8628, section 6.1.
const ALPHABET = "BCDFGHJKLMNPQRSTVWXZ";

const LENGTH = 8;

const CODE = new RegExp(`^[${ALPHABET}]{${LENGTH}}$`);

const MAX_TYPED = 64;

/** Returns a new user code, `XXXX-XXXX`: 8 of 20 letters, about 34 bits. */
export function newUserCode(random: (length: number) => Uint8Array): string {
  let code = "";
  while (code.length < LENGTH) {
    for (const byte of random(LENGTH)) {
      // Accept only bytes below 240, a multiple of 20: otherwise some letters would be more likely.
      if (byte < 240 && code.length < LENGTH) code += ALPHABET.charAt(byte % ALPHABET.length);
    }
  }
  return `${code.slice(0, 4)}-${code.slice(4)}`;
}

/** Returns the SHA-256 of a user code, ignoring case, spaces and dashes; `undefined` if it is not a user code. */
export function hashOfUserCode(typed: string): string | undefined {
  if (typed.length > MAX_TYPED) return undefined;
  const code = typed.replace(/[\s\p{Pd}]/gu, "").toUpperCase();
  return CODE.test(code) ? digestOfText(code) : undefined;
}

const MAX_SHOWN = 10_000;

/** User codes shown by this process. The store has only their hashes. */
export class ShownCodes {
  readonly #codes = new Map<string, { readonly code: string; readonly expires: number }>();

  /** @param now - Milliseconds since 1970. */
  show({ id, expires }: Approval, code: string, now: number): void {
    if (this.#codes.size >= MAX_SHOWN) {
      for (const [other, kept] of this.#codes) if (kept.expires <= now) this.#codes.delete(other);
    }
    const [oldest] = this.#codes.keys();
    if (this.#codes.size >= MAX_SHOWN && oldest !== undefined) this.#codes.delete(oldest);
    this.#codes.set(id, { code, expires });
  }

  /** Returns the code of an approval, if the code is still the current one. */
  of({ id, codeHash }: Approval): string | undefined {
    const code = this.#codes.get(id)?.code;
    return code !== undefined && hashOfUserCode(code) === codeHash ? code : undefined;
  }
}
