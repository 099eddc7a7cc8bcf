import { encodeBase64url } from "../bytes/base64.js";
import { TokenError } from "../bytes/token-error.js";

// Matches hexadecimal that begins with the byte 02 (v2) or with a hexadecimal digit in ASCII (v1). Base64 of a
// macaroon begins with A and a letter from g to v, or with M, N, O, Y or Z, so this pattern never matches it.
const HEX = /^(?:02|3[0-9]|6[1-6])(?:[0-9a-fA-F]{2})*$/;
const PYPI = /^pypi-(?=Ag)/;
const L402 = /^(?:L402|LSAT) +([\w+/=-]+)(?::[0-9a-fA-F]*)?$/;
const JWT = /^ey[\w-]+\.[\w-]+\.[\w-]*$/;

/**
 * Returns the base64 of a macaroon that another program has wrapped: in hexadecimal, as printed by lnd; with
 * the prefix of PyPI; or with the scheme and preimage of an L402 credential. Any other string is returned
 * unchanged.
 */
export function unwrapped(text: string): string {
  if (HEX.test(text)) {
    const pairs = text.match(/../g) ?? [];
    return encodeBase64url(Uint8Array.from(pairs, (pair) => Number.parseInt(pair, 16)));
  }
  return L402.exec(text)?.[1] ?? text.replace(PYPI, "");
}

/**
 * Names the wrapper of a string, for a message to the person who presents the string as a capability; `undefined` if
 * the string has no wrapper.
 */
export function wrapperOf(text: string): string | undefined {
  if (HEX.test(text)) return "hex";
  if (L402.test(text)) return "an L402 credential";
  return PYPI.test(text) ? "a token of PyPI" : undefined;
}

/** @throws TokenError if the string is a JSON Web Token (RFC 7519); the message says so. */
export function refuseJwt(text: string): void {
  if (!JWT.test(text)) return;
  const dot = text.indexOf(".");
  const message = `this is a JSON Web Token, not a macaroon (at ${dot})`;
  throw new TokenError("base64_character", message, dot);
}
