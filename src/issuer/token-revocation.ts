import { type AuthenticToken, revocationQueryFor } from "../capability/authentic-token.js";
import { authenticateOrRecheck } from "../capability/authenticate.js";
import { type CheckContext, ownExpiry } from "../capability/authorize.js";
import type { Denial } from "../capability/denial.js";
import { MAX_LIFETIME } from "../capability/mint.js";
import { formatTime } from "../caveats/time.js";
import type { RevocationEntry } from "../revocation/entry.js";

/** The entry that revokes a presented token, or why the token was refused. */
export type TokenRevocation =
  | {
      readonly ok: true;
      /** The entry to add to a list or store, unless `needless` is set. */
      readonly entry: RevocationEntry;
      readonly capability: string;
      /** `true` if the token is the capability as it was issued, so that the entry revokes the whole capability. */
      readonly whole: boolean;
      /** The reason why adding the entry would change nothing; absent if the entry is needed. */
      readonly needless?: "revoked" | "expired";
    }
  | { readonly ok: false; readonly denial: Denial };

/** @see Issuer.revocationOf */
export function tokenRevocation(
  given: string | AuthenticToken,
  reason: string | undefined,
  context: CheckContext,
): TokenRevocation {
  const result = authenticateOrRecheck(given, context);
  if (!result.ok) return result;
  const { token } = result;
  const now = context.clock();
  const links = token.chains[0].revocationIds;
  const until = ownExpiry(token) ?? latestExpiry(now);
  const entry: RevocationEntry = {
    kind: "link",
    id: links.at(-1) ?? "",
    until,
    at: formatTime(now),
    reason,
  };
  const { id: capability } = token.identifier;
  const revocation = { ok: true, entry, capability, whole: links.length <= 2 } as const;
  // Only the token's own links are looked up, since a revoked discharge can be replaced by another discharge.
  const found = context.revocations.find({ ...revocationQueryFor(token), links });
  if (found.length > 0) return { ...revocation, needless: "revoked" };
  return until <= formatTime(now) ? { ...revocation, needless: "expired" } : revocation;
}

/**
 * Returns the latest possible expiry of any token that exists at `now`, however its issuer is configured. A
 * revocation entry has this `until` by default.
 */
export function latestExpiry(now: number): string {
  return formatTime(now + MAX_LIFETIME * 1000);
}
