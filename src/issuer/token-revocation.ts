import { type AuthenticToken, authenticate } from "../capability/authenticate.js";
import { type CheckContext, ownExpiry, revocationQueryFor } from "../capability/authorize.js";
import type { Denial } from "../capability/denial.js";
import { MAX_LIFETIME } from "../capability/mint.js";
import { formatTime } from "../caveats/time.js";
import type { RevocationEntry } from "../revocation/entry.js";

/** The entry that revokes a presented token, or why the token was not accepted for it. */
export type TokenRevocation =
  | {
      readonly ok: true;
      /** What to add to a list or store, unless `needless` says that nothing is to be done. */
      readonly entry: RevocationEntry;
      readonly capability: string;
      /** Whether the token is the capability as it was issued, so that all of it is revoked. */
      readonly whole: boolean;
      /** Why adding the entry would change nothing. */
      readonly needless?: "revoked" | "expired";
    }
  | { readonly ok: false; readonly denial: Denial };

/** @see Issuer.revocationOf */
export function tokenRevocation(
  text: string,
  reason: string | undefined,
  context: CheckContext,
): TokenRevocation {
  const result = authenticate(text, context);
  if (!result.ok) return result;
  const { token } = result;
  const now = context.clock();
  const ids = token.chains[0].revocationIds;
  const entry: RevocationEntry = {
    kind: "link",
    id: ids[ids.length - 1] ?? "",
    until: ownExpiry(token) ?? latestExpiry(now),
    at: formatTime(now),
    ...(reason === undefined ? {} : { reason }),
  };
  const { id: capability } = token.identifier;
  const needless = needlessFor(token, entry, now, context);
  const whole = ids.length <= 2;
  return { ok: true, entry, capability, whole, ...(needless === undefined ? {} : { needless }) };
}

function needlessFor(
  token: AuthenticToken,
  { until }: RevocationEntry,
  now: number,
  { revocations }: CheckContext,
): "revoked" | "expired" | undefined {
  // Another discharge may take a revoked one's place: only the token's own links count.
  const query = { ...revocationQueryFor(token), links: token.chains[0].revocationIds };
  if (revocations.find(query).length > 0) return "revoked";
  return until !== undefined && until <= formatTime(now) ? "expired" : undefined;
}

/**
 * The latest moment at which a token that exists at `now`, in milliseconds since 1970, can expire,
 * however its issuer was configured: `until` when a revocation entry can go.
 *
 * @example
 * ```ts
 * import { latestExpiry } from "proviso/issuer";
 *
 * latestExpiry(Date.parse("2026-01-01T00:00:00Z")); // => "2026-04-01T00:00:00Z"
 * ```
 */
export function latestExpiry(now: number): string {
  return formatTime(now + MAX_LIFETIME * 1000);
}
