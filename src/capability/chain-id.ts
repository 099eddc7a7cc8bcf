import { chainIdOf } from "../revocation/chain-id.js";
import { revocationId } from "./attenuate.js";

/**
 * The chain id of a token, by which the delegation protocol names it: a UUID that is made from its revocation id,
 * so that a delegator knows it without asking.
 *
 * @throws TokenError if the token is malformed.
 * @throws TypeError if it is not a string.
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
