import { outlineBytes } from "../bytes/json.js";
import { TokenError } from "../bytes/token-error.js";
import { decodeUtf8 } from "../bytes/utf8.js";
import type { Hop } from "../caveats/hop.js";
import type { HopProblem } from "../caveats/hop-rule.js";
import { type HopReading, readHop } from "../caveats/read-hop.js";
import { caveatTooLarge } from "../macaroon/limits.js";
import { type Macaroon, partsOf } from "../macaroon/macaroon.js";
import { readV2Text } from "../macaroon/read.js";
import { overLimits } from "../macaroon/verify.js";
import { type CapabilityLimits, MAX_HOP_DEPTH } from "./limits.js";

const OPENING_BRACE = 0x7b;

/**
 * Reads a token's text and holds it to every limit, hops' included, before anything is hashed or a
 * hop is parsed.
 *
 * @returns The macaroon, then its discharges.
 * @throws TokenError if it is not well formed, exceeds a limit, or is in another form than v2 binary.
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

/** The first limit that `macaroons`, presented together, exceed. */
export function overCapabilityLimits(
  macaroons: readonly Macaroon[],
  limits: CapabilityLimits,
): TokenError | undefined {
  return overLimits(macaroons, limits) ?? overHopLimits(macaroons, limits);
}

function overHopLimits(
  macaroons: readonly Macaroon[],
  limits: CapabilityLimits,
): TokenError | undefined {
  for (const macaroon of macaroons) {
    for (const [at, { kind, identifier }] of partsOf(macaroon).caveats.entries()) {
      const over =
        kind === "first-party" ? overHopShape(identifier, `hop ${at + 1}`, limits) : undefined;
      if (over !== undefined) return over;
    }
  }
  return undefined;
}

function overHopShape(
  caveat: Uint8Array,
  what: string,
  limits: CapabilityLimits,
): TokenError | undefined {
  if (caveat[0] !== OPENING_BRACE) return undefined;
  const { depth, members } = outlineBytes(caveat);
  const isWithin = depth <= MAX_HOP_DEPTH && members <= limits.setMembers;
  if (isWithin || decodeUtf8(caveat) === undefined) return undefined;
  if (depth > MAX_HOP_DEPTH) {
    return new TokenError("too_deep", `${what} is nested more than ${MAX_HOP_DEPTH} deep`);
  }
  const message = `${what} has a set of more than ${limits.setMembers} members`;
  return new TokenError("too_many_members", message);
}

/**
 * Holds one hop to the limits before it is parsed or compared.
 *
 * @throws TokenError `caveat_too_large`, `too_deep` or `too_many_members`.
 */
export function assertHopFits(caveat: Uint8Array, limits: CapabilityLimits): void {
  if (caveat.length > limits.caveatBytes) throw caveatTooLarge(caveat.length, limits.caveatBytes);
  const over = overHopShape(caveat, "the hop", limits);
  if (over !== undefined) throw over;
}

/** One link of a chain: a caveat, read as a hop if it is one. */
export type ReadLink =
  | { readonly kind: "hop"; readonly hop: Hop }
  | { readonly kind: "unreadable"; readonly problems: readonly HopProblem[] }
  | { readonly kind: "third-party" };

/** One macaroon of a token whose signatures have all been verified. */
export interface AuthenticChain {
  readonly links: readonly ReadLink[];
  /** The revocation id of the identifier, then of each link. */
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

/** The hop that each link is; `undefined` for one that is no hop, or cannot be read. */
export function hopsOf(links: readonly ReadLink[]): (Hop | undefined)[] {
  return links.map((link) => (link.kind === "hop" ? link.hop : undefined));
}
