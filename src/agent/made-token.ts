import type { Authority } from "../caveats/authority.js";
import type { Hop } from "../caveats/hop.js";
import { meetOf } from "../caveats/meet.js";
import { encodeHop } from "../caveats/write-hop.js";
import type { Issuer } from "../issuer/issuer.js";
import type { IssuedCapability } from "./ledger.js";

/** A token that was made of what is kept of a capability. */
export interface MadeToken {
  readonly token: string;
  /** The id of the key that it was made under. */
  readonly keyId: string;
  readonly revocationId: string;
  /** What all its hops leave. */
  readonly authority: Authority;
}

/**
 * The token with all hops that it was issued with, each word for word.
 *
 * @returns `undefined` if its key is gone, or it exceeds a token's limits.
 */
export function madeToken(
  issuer: Issuer,
  kept: Pick<IssuedCapability, "identifier" | "hop" | "further">,
): MadeToken | undefined {
  const token = issuer.remake(kept);
  const known = token === undefined ? undefined : issuer.authenticate(token);
  if (token === undefined || known?.ok !== true) return undefined;
  const [chain] = known.token.chains;
  const links = [kept.hop, ...(kept.further ?? [])].map((text): Hop => JSON.parse(text));
  return {
    ...{ token, keyId: known.token.identifier.kid },
    revocationId: chain.revocationIds.at(-1) ?? "",
    authority: meetOf([links]),
  };
}

/** The canonical JSON of hops, as it is kept. */
export function hopTexts(hops: readonly Hop[]): readonly string[] {
  return hops.map((hop) => new TextDecoder().decode(encodeHop(hop)));
}
