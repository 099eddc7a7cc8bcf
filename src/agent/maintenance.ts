import { TokenError } from "../bytes/token-error.js";
import { attenuate } from "../capability/attenuate.js";
import { type DenialCode, tokenDenialCode } from "../capability/denial.js";
import type { Authority } from "../caveats/authority.js";
import type { Hop, HopInit } from "../caveats/hop.js";
import type { Overreach } from "../caveats/hop-rule.js";
import type { RevocationEntry } from "../revocation/entry.js";
import type { Caller } from "./caller.js";
import type { GateContext } from "./clearance.js";
import { type PresentedCapability, tokenOf, unknownCapability } from "./presented.js";
import type { AgentDenials } from "./refusal.js";

/** An attenuated capability, or why there is none. */
export type AttenuationOutcome =
  | {
      readonly ok: true;
      readonly token: string;
      readonly hop: Hop;
      readonly revocationId: string;
      readonly id: string;
    }
  | { readonly ok: false; readonly denials: AgentDenials }
  | { readonly ok: false; readonly overreaches: readonly Overreach[] };

/** What a capability is good for now (in the manner of RFC 7662), or why it is not. */
export type Introspection =
  | {
      readonly active: true;
      readonly id: string;
      readonly grant: string;
      readonly principal?: string;
      readonly issued: string;
      readonly expires: string;
      /** Of the last hop: revokes the presented token and what descends from it. */
      readonly revocationId: string;
      /** The number of its hops, the issuer's included. */
      readonly hops: number;
      /** What all hops leave. */
      readonly authority: Authority;
      readonly attenuable: boolean;
      readonly legacy?: true;
    }
  | { readonly active: false; readonly denials: AgentDenials };

/** The capability that a presented token is of, or why the agent cannot know it. */
export type Identification = { readonly ok: true; readonly id: string } | Refused;

type Refused = { readonly ok: false; readonly denials: AgentDenials };

/** @see IssuingAgent.identify */
export async function identifyPresented(
  caller: Caller,
  presented: PresentedCapability,
  context: GateContext,
): Promise<Identification> {
  const { issuer, audience } = context;
  const resolved = await tokenOf(presented, caller, context);
  if (!resolved.ok) return { ok: false, denials: [resolved.denial] };
  const standing = issuer.standing(resolved.token, { invoker: caller.invoker, audience });
  if (standing.allowed) return identified(presented, standing.capability.id);
  const { capability, denials } = standing;
  return capability === undefined ? { ok: false, denials } : identified(presented, capability.id);
}

function identified({ id: named }: PresentedCapability, id: string): Identification {
  if (named === undefined || named === id) return { ok: true, id };
  return { ok: false, denials: [unknownCapability(named)] };
}

/** @see IssuingAgent.attenuate */
export async function attenuatePresented(
  caller: Caller,
  presented: PresentedCapability,
  hop: HopInit,
  context: GateContext,
): Promise<AttenuationOutcome> {
  const found = await introspect(caller, presented, context);
  if (!found.active) return { ok: false, denials: found.denials };
  const resolved = await tokenOf(presented, caller, context);
  if (!resolved.ok) return { ok: false, denials: [resolved.denial] };
  try {
    const child = attenuate(resolved.token, hop);
    return child.ok ? { ...child, id: found.id } : child;
  } catch (error) {
    if (!(error instanceof TokenError)) throw error;
    const code: DenialCode = tokenDenialCode(error.code);
    return { ok: false, denials: [{ code, rule: error.code, message: error.message }] };
  }
}

/** The entry that revokes a presented capability. */
export async function revocationOfPresented(
  caller: Caller,
  presented: PresentedCapability,
  reason: string | undefined,
  context: GateContext,
): Promise<
  | {
      readonly ok: true;
      readonly entry: RevocationEntry;
      readonly capability: string;
      /** Whether it is the capability as it was issued. */
      readonly whole: boolean;
      readonly needless?: "revoked" | "expired";
    }
  | Refused
> {
  const resolved = await tokenOf(presented, caller, context);
  if (!resolved.ok) return { ok: false, denials: [resolved.denial] };
  const revocation = context.issuer.revocationOf(resolved.token, reason);
  if (!revocation.ok) return { ok: false, denials: [revocation.denial] };
  if (presented.id === undefined || presented.id === revocation.capability) return revocation;
  return { ok: false, denials: [unknownCapability(presented.id)] };
}

/** @see IssuingAgent.introspect */
export async function introspect(
  caller: Caller,
  presented: PresentedCapability,
  context: GateContext,
): Promise<Introspection> {
  const { issuer, audience, grants } = context;
  const resolved = await tokenOf(presented, caller, context);
  if (!resolved.ok) return { active: false, denials: [resolved.denial] };
  const standing = issuer.standing(resolved.token, { invoker: caller.invoker, audience });
  if (!standing.allowed) return { active: false, denials: standing.denials };
  const { capability } = standing;
  if (presented.id !== undefined && presented.id !== capability.id) {
    return { active: false, denials: [unknownCapability(presented.id)] };
  }
  const { id, grant, principal, issued, expires, hops, authority, revocationIds } = capability;
  return {
    ...{ active: true, id, grant, issued, expires, authority },
    ...(principal === undefined ? {} : { principal }),
    hops: hops.length,
    revocationId: revocationIds.at(-1) ?? "",
    attenuable: authority.furtherHops === undefined || authority.furtherHops > 0,
    ...(grants.get(grant)?.legacy === true ? { legacy: true } : {}),
  };
}
