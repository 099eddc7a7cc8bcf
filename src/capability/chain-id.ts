import { chainIdOf } from "../revocation/id.js";
import { revocationId } from "./attenuate.js";

/**
 * Returns the id of a token in the delegation protocol: a UUID derived from its revocation id, which a
 * delegator can compute offline.
 *
 * @throws TokenError if the token is malformed.
 * @throws TypeError if `token` is not a string.
 *
 * @example
 * ```ts
 * import { chainId } from "proviso";
 *
 * chainId("AgIBYQAABiDy1zQRnrm14nj2Sbcnq5xpVI7Hw9j8NPgiov7aWHLqzA"); // => "eb1291f7-e134-88fc-93ab-89410e71d5cc"
 * ```
 */
export function chainId(token: string): string {
  return chainIdOf(revocationId(token));
}
