import { type AuthenticToken, revocationQueryFor } from "../capability/authentic-token.js";
import { authenticateAgain } from "../capability/authenticate.js";
import type { CheckContext } from "../capability/authorize.js";
import { hopsOf } from "../capability/token.js";
import { parseTime } from "../caveats/time.js";

/** When the hops of a token allow anything, in milliseconds since 1970. */
interface Span {
  /** From then on. */
  readonly from: number;
  /** Before then. */
  readonly until: number;
}

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
  const { from, until } = spanOf(token);
  return (
    from <= now &&
    now < until &&
    revocations.isCurrent(now) === true &&
    revocations.find(revocationQueryFor(token)).length === 0
  );
}

const spans = new WeakMap<AuthenticToken, Span>();

function spanOf(token: AuthenticToken): Span {
  const known = spans.get(token);
  if (known !== undefined) return known;
  let [from, until] = [Number.NEGATIVE_INFINITY, Number.POSITIVE_INFINITY];
  for (const { links } of token.chains) {
    for (const hop of hopsOf(links)) {
      // A time that is not read is one at which nothing stands.
      if (hop?.notBefore !== undefined)
        from = Math.max(from, parseTime(hop.notBefore) ?? Number.NaN);
      if (hop?.expires !== undefined) until = Math.min(until, parseTime(hop.expires) ?? Number.NaN);
    }
  }
  const span = { from, until };
  spans.set(token, span);
  return span;
}
