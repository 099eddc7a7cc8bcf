import { outlineJson } from "../bytes/json.js";
import { TokenError } from "../bytes/token-error.js";
import { decodeUtf8 } from "../bytes/utf8.js";
import { type HopReading, readHop } from "../caveats/read-hop.js";
import { caveatTooLarge, type MacaroonLimits } from "../macaroon/limits.js";
import { type Macaroon, partsOf } from "../macaroon/macaroon.js";
import { type MacaroonText, readMacaroons } from "../macaroon/read.js";
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
  for (const macaroon of token.macaroons) holdToLimits(macaroon, limits);
  return token;
}

/** @throws TokenError if a caveat or the identifier exceeds a limit. */
export function holdToLimits(macaroon: Macaroon, limits: CapabilityLimits): void {
  const { identifier, caveats } = partsOf(macaroon);
  if (identifier.length > limits.caveatBytes) {
    throw caveatTooLarge(identifier.length, limits.caveatBytes);
  }
  for (const [at, caveat] of caveats.entries()) {
    if (caveat.kind !== "first-party") continue;
    const text = decodeUtf8(caveat.identifier);
    if (text === undefined || !text.startsWith("{")) continue;
    const outline = outlineJson(text);
    if (outline.depth > HOP_DEPTH) {
      throw new TokenError("too_deep", `hop ${at + 1} is nested more than ${HOP_DEPTH} deep`);
    }
    if (outline.members > limits.setMembers) {
      const message = `hop ${at + 1} has a set of more than ${limits.setMembers} members`;
      throw new TokenError("too_many_members", message);
    }
  }
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
