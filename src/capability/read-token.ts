import type { Hop } from "../caveats/hop.js";
import type { HopProblem } from "../caveats/hop-rule.js";
import { type HopReading, readHop } from "../caveats/read-hop.js";
import { type Macaroon, partsOf } from "../macaroon/macaroon.js";
import { readV2Text } from "../macaroon/read.js";
import { type CapabilityLimits, overHopLimits } from "./limits.js";

/**
 * Reads a token and enforces every limit except `nesting`, including the limits on hops. No signature has been computed
 * and no hop has been parsed by then.
 *
 * @returns The macaroon, then its discharges.
 * @throws TokenError if the token is not well-formed, exceeds a limit, or is not in v2 binary form.
 */
export function readToken(
  text: string,
  limits: CapabilityLimits,
): readonly [Macaroon, ...Macaroon[]] {
  const macaroons = readV2Text(text, limits);
  const over = overHopLimits(macaroons, limits);
  if (over !== undefined) throw over;
  return macaroons;
}

/** A link of a chain: a hop, an unreadable caveat or a third-party caveat. */
export type ReadLink =
  | { readonly kind: "hop"; readonly hop: Hop }
  | { readonly kind: "unreadable"; readonly problems: readonly HopProblem[] }
  | { readonly kind: "third-party" };

/** One macaroon of an authentic token. */
export interface AuthenticChain {
  readonly links: readonly ReadLink[];
  /** The revocation ids of the identifier and of each link. */
  readonly revocationIds: readonly string[];
}

/** Reads the caveats of a macaroon, in order. */
export function readLinks(macaroon: Macaroon): ReadLink[] {
  return partsOf(macaroon).caveats.map(({ kind, identifier }) =>
    kind === "third-party" ? { kind } : linkOf(readHop(identifier)),
  );
}

function linkOf(reading: HopReading): ReadLink {
  return reading.ok
    ? { kind: "hop", hop: reading.hop }
    : { kind: "unreadable", problems: reading.problems };
}

/** Returns the hop of each link; `undefined` for a third-party or unreadable caveat. */
export function hopsOf(links: readonly ReadLink[]): (Hop | undefined)[] {
  return links.map((link) => (link.kind === "hop" ? link.hop : undefined));
}
