import { decodeBase64 } from "../bytes/base64.js";
import { isRevocationId } from "./id.js";

/**
 * Returns the id of the chain whose last link has this revocation id: the 16 bytes of the id as a UUID of
 * version 8 (RFC 9562, section 5.8), which overwrites six of their bits with its version and variant.
 *
 * @throws TypeError if `id` is not a revocation id.
 */
export function chainIdOf(revocationId: string): string {
  if (!isRevocationId(revocationId)) {
    throw new TypeError("a chain id is made from a revocation id: rv_ and 22 base64url characters");
  }
  const bytes = decodeBase64(revocationId.slice("rv_".length));
  const digits = Array.from(bytes, (byte, at) => {
    const own = at === 6 ? (byte & 0x0f) | 0x80 : at === 8 ? (byte & 0x3f) | 0x80 : byte;
    return own.toString(16).padStart(2, "0");
  }).join("");
  return digits.replace(/^(.{8})(.{4})(.{4})(.{4})/, "$1-$2-$3-$4-");
}
