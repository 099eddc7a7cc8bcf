import { TokenError } from "../bytes/token-error.js";
import { assertArray, assertString } from "../checks/kinds.js";
import { bindDischarge } from "../macaroon/chain.js";
import { overLimits } from "../macaroon/over-limits.js";
import { writeMacaroons } from "../macaroon/write.js";
import { CAPABILITY_LIMITS } from "./limits.js";
import { readToken } from "./read-token.js";

/**
 * Binds discharges to a token in its final form and appends them, so that the token and its discharges are presented
 * as one string.
 *
 * @param token - The token, without discharges.
 * @param discharges - Unbound discharges, each as base64url of v2 binary.
 * @throws TokenError if the token or a discharge is malformed or already has discharges appended, or if the result
 *   exceeds a limit.
 * @throws TypeError if `token` or a discharge is not a string.
 *
 * @example
 * ```ts
 * import { bindDischarges } from "proviso";
 * import {
 *   addThirdPartyCaveat, createMacaroon, macaroonToText, readMacaroons, createRootKey,
 * } from "proviso/macaroon";
 *
 * const secret = new TextEncoder().encode("shared with the third party");
 * const key = createRootKey(new TextEncoder().encode("an example key, not a good one"));
 * const root = addThirdPartyCaveat(createMacaroon(key, { identifier: "a" }), { key: secret, identifier: "b" });
 * const discharge = createMacaroon(createRootKey(secret), { identifier: "b" });
 * const text = bindDischarges(macaroonToText(root), [macaroonToText(discharge)]);
 * readMacaroons(text).macaroons.length; // => 2
 * ```
 */
export function bindDischarges(token: string, discharges: readonly string[]): string {
  assertString(token, "token");
  assertArray(discharges, "discharges", "strings");
  for (const [at, text] of discharges.entries()) assertString(text, `discharges[${at}]`);
  const [root, ...others] = readToken(token, CAPABILITY_LIMITS);
  if (others.length > 0) {
    throw new TokenError("has_discharges", "the token is followed by discharges already");
  }
  const bound = discharges.map((text) => {
    const [discharge, ...more] = readToken(text, CAPABILITY_LIMITS);
    if (more.length > 0) throw new TokenError("has_discharges", "give each discharge on its own");
    return bindDischarge(root, discharge);
  });
  const over = overLimits([root, ...bound], CAPABILITY_LIMITS);
  if (over !== undefined) throw over;
  return writeMacaroons([root, ...bound], "v2");
}
