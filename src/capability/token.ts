import { outlineJson } from "../bytes/json.js";
import { TokenError } from "../bytes/token-error.js";
import { decodeUtf8 } from "../bytes/utf8.js";
import { type HopReading, readHop } from "../caveats/read-hop.js";
import { caveatTooLarge, type MacaroonLimits } from "../macaroon/limits.js";
import { type Macaroon, partsOf } from "../macaroon/macaroon.js";
import { type MacaroonText, readMacaroons } from "../macaroon/read.js";
import { overLimits } from "../macaroon/verify.js";
import { type CapabilityLimits, HOP_DEPTH } from "./limits.js";

/**
 * Reads a token's text and holds it to every limit, hops' included, before anything is hashed or a
 * hop is parsed.
 *
 * @throws TokenError if it is not well formed or exceeds a limit.
 */
export function readToken(text: string, limits: CapabilityLimits): MacaroonText {
  const { setMembers, ...macaroonLimits } = limits;
  const token = readMacaroons(text, macaroonLimits satisfies MacaroonLimits);
  const over = overHopLimits(token.macaroons, limits);
  if (over !== undefined) throw over;
  return token;
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
    const { identifier, caveats } = partsOf(macaroon);
    if (identifier.length > limits.caveatBytes) {
      return caveatTooLarge(identifier.length, limits.caveatBytes);
    }
    for (const [at, caveat] of caveats.entries()) {
      if (caveat.kind !== "first-party") continue;
      const text = decodeUtf8(caveat.identifier);
      if (text === undefined || !text.startsWith("{")) continue;
      const outline = outlineJson(text);
      if (outline.depth > HOP_DEPTH) {
        return new TokenError("too_deep", `hop ${at + 1} is nested more than ${HOP_DEPTH} deep`);
      }
      if (outline.members > limits.setMembers) {
        const message = `hop ${at + 1} has a set of more than ${limits.setMembers} members`;
        return new TokenError("too_many_members", message);
      }
    }
  }
  return undefined;
}

/** One link of a chain: a caveat, read as a hop if it is one. */
export type ReadLink =
  | { readonly kind: "hop"; readonly reading: HopReading }
  | { readonly kind: "third-party" };

/** Reads every caveat of a macaroon, in order. */
export function readLinks(macaroon: Macaroon): ReadLink[] {
  return partsOf(macaroon).caveats.map((caveat) =>
    caveat.kind === "third-party"
      ? { kind: "third-party" }
      : { kind: "hop", reading: readHop(caveat.identifier) },
  );
}
