import { TokenError } from "../bytes/token-error.js";
import { type Attenuation, attenuate } from "../capability/attenuate.js";
import type { VerifiedCapability } from "../capability/authorize.js";
import { tokenDenialCode } from "../capability/denial.js";
import type { HopInit } from "../caveats/hop.js";
import type { TokenRevocation } from "../issuer/token-revocation.js";
import type { AgentContext } from "./agent-options.js";
import type { Caller } from "./caller.js";
import { misnamed, type PresentedCapability, standingOf, tokenOf } from "./presented.js";
import type { AgentDenials, Denied } from "./refusal.js";

/** An attenuated capability, or the reason for its absence. */
export type AttenuationOutcome =
  | (Extract<Attenuation, { ok: true }> & { readonly id: string })
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

/** The capability that a presented token is of, or why the agent cannot know it. */
export type Identification = { readonly ok: true; readonly id: string } | Denied;

/** @see IssuingAgent.identify */
export async function identifyPresented(
  caller: Caller,
  presented: PresentedCapability,
  context: AgentContext,
): Promise<Identification> {
  const standing = await standingOf(presented, caller, context);
  if (standing.allowed) return { ok: true, id: standing.capability.id };
  const { capability } = standing;
  if (capability === undefined) return { ok: false, denials: standing.denials };
  const denials = misnamed(presented, capability.id);
  return denials === undefined ? { ok: true, id: capability.id } : { ok: false, denials };
}

/** @see IssuingAgent.attenuate */
export async function attenuatePresented(
  caller: Caller,
  presented: PresentedCapability,
  hop: HopInit,
  context: AgentContext,
): Promise<AttenuationOutcome> {
  const standing = await standingOf(presented, caller, context);
  if (!standing.allowed) return { ok: false, denials: standing.denials };
  try {
    const child = attenuate(standing.token, hop);
    return child.ok ? { ...child, id: standing.capability.id } : child;
  } catch (error) {
    if (!(error instanceof TokenError)) throw error;
    const code = tokenDenialCode(error.code);
    return { ok: false, denials: [{ code, rule: error.code, message: error.message }] };
  }
}

/** The entry that revokes a presented capability. */
export async function revocationOfPresented(
  caller: Caller,
  presented: PresentedCapability,
  reason: string | undefined,
  context: AgentContext,
): Promise<Extract<TokenRevocation, { ok: true }> | Denied> {
  const resolved = await tokenOf(presented, caller, context);
  if (!resolved.ok) return resolved;
  const revocation = context.issuer.revocationOf(resolved.token, reason);
  if (!revocation.ok) return { ok: false, denials: [revocation.denial] };
  const denials = misnamed(presented, revocation.capability);
  return denials === undefined ? revocation : { ok: false, denials };
}

/** @see IssuingAgent.introspect */
export async function introspect(
  caller: Caller,
  presented: PresentedCapability,
  context: AgentContext,
): Promise<Introspection> {
  const standing = await standingOf(presented, caller, context);
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
