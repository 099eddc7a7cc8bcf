import type { TokenError } from "../bytes/token-error.js";
import { binaryV2Length } from "./binary-v2.js";
import {
  caveatTooLarge,
  identifierTooLarge,
  type MacaroonLimits,
  tooLarge,
  tooManyCaveats,
  tooManyDischarges,
} from "./limits.js";
import { type Macaroon, partsOf } from "./macaroon.js";

/** Returns the error for the first limit that the macaroons together exceed; `undefined` if they exceed none. */
export function overLimits(
  macaroons: readonly Macaroon[],
  limits: MacaroonLimits,
): TokenError | undefined {
  if (macaroons.length - 1 > limits.discharges) return tooManyDischarges(limits.discharges);
  let size = 0;
  for (const macaroon of macaroons) {
    const { identifier, caveats } = partsOf(macaroon);
    if (identifier.length > limits.identifierBytes) {
      return identifierTooLarge(identifier.length, limits.identifierBytes);
    }
    if (caveats.length > limits.caveats) return tooManyCaveats(limits.caveats);
    for (const caveat of caveats) {
      if (caveat.identifier.length > limits.caveatBytes) {
        return caveatTooLarge(caveat.identifier.length, limits.caveatBytes);
      }
    }
    size += binaryV2Length(macaroon);
  }
  return size > limits.bytes ? tooLarge(size, limits.bytes) : undefined;
}
