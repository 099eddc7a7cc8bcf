import { type AuthenticToken, revocationQueryFor } from "../capability/authentic-token.js";
import { authenticateAgain } from "../capability/authenticate.js";
import type { CheckContext } from "../capability/authorize.js";
import { ownMember } from "../caveats/hop.js";
import { formatTime } from "../caveats/time.js";

/**
 * Rechecks what can have changed since a token was judged: its key is found, a current list revokes
 * nothing of it, and all its hops are in force now. Ignores rules that time does not change, such
 * as a hop's invokers.
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

/** @param time - A time in canonical form, which sorts as a string. */
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
