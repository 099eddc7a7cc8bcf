import type { HopInit } from "../caveats/hop.js";
import {
  type AttenuateOptions,
  type Attenuation,
  hasDischarges,
  narrow,
  type Overreaching,
  written,
} from "./attenuate.js";
import { type AuthenticToken, macaroonOfToken } from "./authentic-token.js";
import { extend } from "./authenticate.js";
import type { CapabilityLimits } from "./limits.js";

/** An authentic token narrowed by the party that checks it, or every reason why it was not. */
export type Extension =
  | (Extract<Attenuation, { ok: true }> & { readonly authentic: AuthenticToken })
  | Overreaching;

/**
 * Narrows a token that is authentic, as {@link attenuate} does: the child is authentic too.
 *
 * @throws TokenError `has_discharges`, or for what would exceed a limit.
 * @throws TypeError as {@link attenuate}.
 */
export function attenuateAuthentic(
  token: AuthenticToken,
  hop: HopInit,
  options: AttenuateOptions,
  limits: CapabilityLimits,
): Extension {
  const macaroon = macaroonOfToken(token);
  const [own, ...discharges] = token.chains;
  if (discharges.length > 0) throw hasDischarges();
  const narrowed = narrow(macaroon, own.links, hop, options, limits);
  if (!narrowed.ok) return narrowed;
  const { child, hop: appended } = narrowed;
  return { ok: true, ...written(child), hop: appended, authentic: extend(token, child) };
}
