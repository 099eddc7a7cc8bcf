import { TokenError } from "../bytes/token-error.js";
import type { Attenuation } from "../capability/attenuate.js";
import type { VerifiedCapability } from "../capability/authorize.js";
import { tokenDenialCode } from "../capability/denial.js";
import type { HopInit } from "../caveats/hop.js";
import type { TokenRevocation } from "../issuer/token-revocation.js";
import type { AgentContext } from "./agent-options.js";
import type { Presenter } from "./caller.js";
import {
  type AuthenticCapability,
  authenticateOne,
  branded,
  type Presented,
  standingOf,
} from "./presented.js";
import type { AgentDenials, Denied } from "./refusal.js";

/** An attenuated capability, or the reason for its absence. */
export type AttenuationOutcome =
  | (Extract<Attenuation, { ok: true }> & {
      readonly id: string;
      /** The child, for what else is asked of it in the same request. */
      readonly presented: AuthenticCapability;
    })
  | Extract<Attenuation, { ok: false }>
  | Denied;

/** What a capability is good for now (in the manner of RFC 7662), or why it is not. */
export type Introspection =
  | (Pick<VerifiedCapability, "id" | "grant" | "principal" | "issued" | "expires" | "authority"> & {
      readonly active: true;
      /** Of the last hop: revokes the presented token and what descends from it. */
      readonly revocationId: string;
      /** The number of its hops, the issuer's included. */
      readonly hops: number;
      readonly attenuable: boolean;
      readonly legacy?: true;
    })
  | { readonly active: false; readonly denials: AgentDenials };

/** @see IssuingAgent.attenuate */
export async function attenuatePresented(
  caller: Presenter,
  one: Presented,
  hop: HopInit,
  context: AgentContext,
): Promise<AttenuationOutcome> {
  const standing = standingOf(await authenticateOne(one, caller, context), caller, context);
  if (!standing.allowed) return { ok: false, denials: standing.denials };
  const { presented, capability } = standing;
  try {
    const child = context.issuer.extend(presented.token, hop);
    if (!child.ok) return child;
    const { authentic: token, ...rest } = child;
    return { ...rest, id: capability.id, presented: branded({ ok: true, token }) };
  } catch (error) {
    if (!(error instanceof TokenError)) throw error;
    const code = tokenDenialCode(error.code);
    return { ok: false, denials: [{ code, rule: error.code, message: error.message }] };
  }
}

/** The entry that revokes a presented capability. */
export async function revocationOfPresented(
  caller: Presenter,
  presented: Presented,
  reason: string | undefined,
  context: AgentContext,
): Promise<Extract<TokenRevocation, { ok: true }> | Denied> {
  const authentic = await authenticateOne(presented, caller, context);
  if (!authentic.ok) return authentic;
  const revocation = context.issuer.revocationOf(authentic.token, reason);
  return revocation.ok ? revocation : { ok: false, denials: [revocation.denial] };
}

/** @see IssuingAgent.introspect */
export async function introspect(
  caller: Presenter,
  presented: Presented,
  context: AgentContext,
): Promise<Introspection> {
  const authentic = await authenticateOne(presented, caller, context);
  const standing = standingOf(authentic, caller, context);
  if (!standing.allowed) return { active: false, denials: standing.denials };
  const { id, grant, principal, issued, expires, hops, authority, revocationIds } =
    standing.capability;
  return {
    ...{ active: true, id, grant, issued, expires, authority },
    ...(principal === undefined ? {} : { principal }),
    hops: hops.length,
    revocationId: revocationIds.at(-1) ?? "",
    attenuable: authority.furtherHops === undefined || authority.furtherHops > 0,
    ...(context.grants.get(grant)?.legacy === true ? { legacy: true } : {}),
  };
}
