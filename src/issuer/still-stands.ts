import { type AuthenticToken, revocationQueryFor } from "../capability/authentic-token.js";
import { authenticateAgain } from "../capability/authenticate.js";
import type { CheckContext } from "../capability/authorize.js";
import { ownMember } from "../caveats/hop.js";
import { formatTime } from "../caveats/time.js";

/**
 * Whether what can have changed of a token since it was judged is as it was: its key is there, nothing of it is
 * revoked by a list that is current, and all its hops are in force at this moment. Of what no time changes, such as
 * a hop's invokers, it says nothing.
 *
 * @throws TypeError for what is no authentic token.
 */
export function stillStands(token: AuthenticToken, context: CheckContext): boolean {
  const { revocations, clock } = context;
  if (!authenticateAgain(token, context).ok) return false;
  const now = clock();
  return (
    isInForce(token, formatTime(now)) &&
    revocations.isCurrent(now) === true &&
    revocations.find(revocationQueryFor(token)).length === 0
  );
}

/** @param time - In the one form that hops have, which orders as text. */
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
