import type { HopInit } from "../caveats/hop.js";
import { partsOf } from "../macaroon/macaroon.js";
import { revocationIdOf } from "../revocation/id.js";
import {
  type AttenuateOptions,
  type Attenuation,
  hasDischarges,
  narrow,
  type Overreaching,
  written,
} from "./attenuate.js";
import { type AuthenticToken, authenticToken, originOf } from "./authentic-token.js";
import type { CapabilityLimits } from "./limits.js";

/** An authentic token narrowed by the party that checks it, or every reason why it was not. */
export type Extension =
  | (Extract<Attenuation, { ok: true }> & { readonly authentic: AuthenticToken })
  | Overreaching;

/**
 * Narrows an authentic token, as {@link attenuate} does. The child is authentic too, and nothing is verified again.
 *
 * @throws TokenError `has_discharges`, or for what would exceed a limit.
 * @throws TypeError as {@link attenuate}, and for what is no authentic token.
 */
export function attenuateAuthentic(
  token: AuthenticToken,
  hop: HopInit,
  options: AttenuateOptions,
  limits: CapabilityLimits,
): Extension {
  const { key, macaroons } = originOf(token);
  const { identifier, chains } = token;
  const [{ links, revocationIds }, ...discharges] = chains;
  if (discharges.length > 0) throw hasDischarges();
  const narrowed = narrow(macaroons[0], links, hop, options, limits);
  if (!narrowed.ok) return narrowed;
  const { child, hop: appended } = narrowed;
  const chain = {
    links: [...links, { kind: "hop", hop: appended } as const],
    revocationIds: [...revocationIds, revocationIdOf(partsOf(child).signature)],
  };
  const authentic = authenticToken(identifier, [chain], { key, macaroons: [child], limits });
  return { ok: true, ...written(child), hop: appended, authentic };
}
