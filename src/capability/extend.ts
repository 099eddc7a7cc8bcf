import type { HopInit } from "../caveats/hop.js";
import { partsOf } from "../macaroon/macaroon.js";
import { revocationIdOf } from "../revocation/id.js";
import {
  type AttenuateOptions,
  type Attenuation,
  appendHop,
  hasDischarges,
  type Overreaching,
  written,
} from "./attenuate.js";
import { type AuthenticToken, authenticToken, originOf } from "./authentic-token.js";
import type { CapabilityLimits } from "./limits.js";

/** The child of an authentic token, or every reason why the hop was refused. */
export type Extension =
  | (Omit<Extract<Attenuation, { ok: true }>, "note"> & { readonly authentic: AuthenticToken })
  | Overreaching;

/**
 * Narrows an authentic token as {@link attenuate} does, but returns no `note`. The child is authentic, too; no
 * signature is verified again.
 *
 * @throws TokenError `has_discharges`, or if the child would exceed a limit.
 * @throws TypeError as {@link attenuate} does, and if `token` is not authentic.
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
  const appended = appendHop(macaroons[0], links, hop, options, limits);
  if (!appended.ok) return appended;
  const { child, hop: own } = appended;
  const chain = {
    links: [...links, { kind: "hop", hop: own } as const],
    revocationIds: [...revocationIds, revocationIdOf(partsOf(child).signature)],
  };
  const authentic = authenticToken(identifier, [chain], { key, macaroons: [child], limits });
  return { ok: true, ...written(child), hop: own, authentic };
}
