import type { RefusedCapability, VerifiedCapability } from "../capability/authorize.js";
import type { Issuer } from "../issuer/issuer.js";
import type { Caller } from "./caller.js";
import type { IssuedCapability, Ledger } from "./ledger.js";
import type { AgentDenial, AgentDenials, Denied } from "./refusal.js";

/** A capability as a caller presents it: by its token, or by its id alone if it was issued to it. */
export interface PresentedCapability {
  readonly id?: string;
  readonly token?: string;
}

/** How many capabilities one call may present. */
export const MAX_PRESENTED = 8;

/** What presented capabilities are looked up in, and judged by. */
export interface PresentedContext {
  readonly issuer: Issuer;
  readonly ledger: Ledger;
  readonly audience: string;
}

/**
 * The token of a presented capability. An id alone is as good as the token, but only from the very
 * party that it was issued to, and only while it lives; to everybody else it is as if there were none.
 *
 * @throws StorageError if the ledger cannot be read.
 */
export async function tokenOf(
  { id, token }: PresentedCapability,
  caller: Caller,
  { issuer, ledger }: PresentedContext,
): Promise<{ readonly ok: true; readonly token: string } | Denied> {
  if (token !== undefined) return { ok: true, token };
  const issued = id === undefined ? undefined : await ledger.issued(id);
  const remade = isIssuedTo(caller, issued) ? issuer.remake(issued) : undefined;
  return remade === undefined
    ? { ok: false, denials: [unknownCapability(id)] }
    : { ok: true, token: remade };
}

/**
 * What a presented capability is good for now, in the hands of this caller, or every reason why it is
 * good for nothing: then with the capability, if its signatures hold.
 *
 * @throws StorageError if the ledger cannot be read.
 */
export async function standingOf(
  presented: PresentedCapability,
  caller: Caller,
  context: PresentedContext,
): Promise<
  | { readonly allowed: true; readonly token: string; readonly capability: VerifiedCapability }
  | {
      readonly allowed: false;
      readonly denials: AgentDenials;
      readonly capability?: RefusedCapability;
    }
> {
  const resolved = await tokenOf(presented, caller, context);
  if (!resolved.ok) return { allowed: false, denials: resolved.denials };
  const { token } = resolved;
  const { issuer, audience } = context;
  const standing = issuer.standing(token, { invoker: caller.invoker, audience });
  if (!standing.allowed) return standing;
  const denials = misnamed(presented, standing.capability.id);
  return denials === undefined ? { ...standing, token } : { allowed: false, denials };
}

/** Denies a token that is presented under another id than its own. */
export function misnamed(
  { id }: PresentedCapability,
  own: string,
): readonly [AgentDenial] | undefined {
  return id === undefined || id === own ? undefined : [unknownCapability(id)];
}

/** Whether a capability was issued to the very party that calls. */
export function isIssuedTo(
  { principal, invoker }: Caller,
  issued: IssuedCapability | undefined,
): issued is IssuedCapability {
  return issued?.principal === principal && issued.invoker === invoker;
}

/** The denial for an id that is not the caller's to use. */
function unknownCapability(id: string | undefined): AgentDenial {
  const message =
    "no capability of this id was issued to this caller and is still alive; present the token";
  return {
    code: "capability_unknown",
    rule: "id",
    message,
    // Whatever is no id may be a token that was put in its place.
    ...(id !== undefined && ID.test(id) ? { actual: id } : {}),
  };
}

const ID = /^cap_[A-Za-z0-9_-]{1,64}$/;
