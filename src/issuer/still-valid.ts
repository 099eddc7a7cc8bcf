import { type AuthenticToken, revocationQueryFor } from "../capability/authentic-token.js";
import { authenticateAgain } from "../capability/authenticate.js";
import type { CheckContext } from "../capability/authorize.js";
import { ownMember } from "../caveats/hop.js";
import { formatTime } from "../caveats/time.js";

/**
 * Checks again what can have changed since a token was checked. The key must exist, the revocation list must be
 * current and revoke no part of the token, and all hops must be in force now. Rules that time does not change, such
 * as the invokers of a hop, are not checked.
 *
 * @throws TypeError if `token` is not authentic.
 */
export function isStillValid(token: AuthenticToken, context: CheckContext): boolean {
  const { revocations, clock } = context;
  if (!authenticateAgain(token, context).ok) return false;
  const now = clock();
  return (
    isInForce(token, formatTime(now)) &&
    revocations.isCurrent(now) === true &&
    revocations.find(revocationQueryFor(token)).length === 0
  );
}

/** @param time - A timestamp in canonical form, which sorts as a string. */
function isInForce({ chains }: AuthenticToken, time: string): boolean {
  return chains.every(({ links }) =>
    links.every((link) => {
      if (link.kind !== "hop") return true;
      const notBefore = ownMember(link.hop, "notBefore") ?? time;
      const expires = ownMember(link.hop, "expires");
      return notBefore <= time && (expires === undefined || time < expires);
    }),
  );
}
