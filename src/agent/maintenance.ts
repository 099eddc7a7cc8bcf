import { TokenError } from "../bytes/token-error.js";
import type { Attenuation } from "../capability/attenuate.js";
import type { VerifiedCapability } from "../capability/authorize.js";
import { tokenDenialCode } from "../capability/denial.js";
import type { HopInit } from "../caveats/hop.js";
import type { AgentContext } from "./agent-options.js";
import type { Presenter } from "./caller.js";
import {
  type AuthenticCapability,
  authenticateOne,
  branded,
  isIssuedTo,
  type Presented,
  standingOf,
} from "./presented.js";
import { type AgentDenials, type Denied, tooManyRevocations } from "./refusal.js";

/** An attenuated capability, or the reasons for a refusal. */
export type AttenuationOutcome =
  | (Extract<Attenuation, { ok: true }> & {
      readonly id: string;
      /** The narrowed capability, for later steps of the same request. */
      readonly presented: AuthenticCapability;
    })
  | Extract<Attenuation, { ok: false }>
  | Denied;

/** The authority that a capability currently gives (similar to RFC 7662), or the reasons why it gives none. */
export type Introspection =
  | (Pick<VerifiedCapability, "id" | "grant" | "principal" | "issued" | "expires" | "authority"> & {
      readonly active: true;
      /** The revocation id of the last hop, which revokes the presented token and its descendants. */
      readonly revocationId: string;
      /** The number of hops, including the issuer's. */
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

/** @see IssuingAgent.revoke */
export async function revokePresented(
  caller: Presenter,
  presented: Presented,
  reason: string | undefined,
  context: AgentContext,
): Promise<RevocationOutcome> {
  const authentic = await authenticateOne(presented, caller, context);
  if (!authentic.ok) return authentic;
  const found = context.issuer.revocationOf(authentic.token, reason);
  if (!found.ok) return { ok: false, denials: [found.denial] };
  const { entry, capability, whole, needless } = found;
  if (needless !== undefined) return { ok: true, capability, revocationId: entry.id, needless };
  const { revocations, ledger, maxRevocations: most } = context;
  // Do not count the revocation of a whole capability by the party to which it was issued: each capability can have
  // only one such entry.
  const own = whole && isIssuedTo(caller, await ledger.issued(capability));
  const party = JSON.stringify([caller.principal, caller.invoker]);
  const addition = await revocations.add(entry, own ? undefined : { party, most });
  if (addition === "over_quota") return { ok: false, denials: [tooManyRevocations(most)] };
  return { ok: true, capability, revocationId: entry.id };
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
    active: true,
    id,
    grant,
    issued,
    expires,
    authority,
    principal,
    hops: hops.length,
    revocationId: revocationIds.at(-1) ?? "",
    attenuable: authority.furtherHops === undefined || authority.furtherHops > 0,
    ...(context.grants.get(grant)?.legacy === true ? { legacy: true } : {}),
  };
}

/** The result of a revocation. */
export type RevocationOutcome =
  | {
      readonly ok: true;
      readonly capability: string;
      readonly revocationId: string;
      /** Set if nothing had to be done: the capability was already revoked, or has expired. */
      readonly needless?: "revoked" | "expired";
    }
  | Denied;
