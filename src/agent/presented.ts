import type { Issuer } from "../issuer/issuer.js";
import type { Caller } from "./caller.js";
import type { IssuedCapability, Ledger } from "./ledger.js";
import type { AgentDenial } from "./refusal.js";

/** A capability as a caller presents it: by its token, or by its id alone if it was issued to it. */
export interface PresentedCapability {
  readonly id?: string;
  readonly token?: string;
}

/** How many capabilities one call may present. */
export const MAX_PRESENTED = 8;

/**
 * The token of a presented capability. An id alone is as good as the token, but only from the very
 * party that it was issued to, and only while it lives; to everybody else it is as if there were none.
 *
 * @throws StorageError if the ledger cannot be read.
 */
export async function tokenOf(
  { id, token }: PresentedCapability,
  caller: Caller,
  { issuer, ledger }: { readonly issuer: Issuer; readonly ledger: Ledger },
): Promise<
  | { readonly ok: true; readonly token: string }
  | { readonly ok: false; readonly denial: AgentDenial }
> {
  if (token !== undefined) return { ok: true, token };
  const issued = id === undefined ? undefined : await ledger.issued(id);
  const remade = isIssuedTo(caller, issued) ? issuer.remake(issued) : undefined;
  return remade === undefined
    ? { ok: false, denial: unknownCapability(id) }
    : { ok: true, token: remade };
}

/** Whether a capability was issued to the very party that calls. */
export function isIssuedTo(
  { principal, invoker }: Caller,
  issued: IssuedCapability | undefined,
): issued is IssuedCapability {
  return issued?.principal === principal && issued.invoker === invoker;
}

/** The denial for an id that is not the caller's to use. */
export function unknownCapability(id: string | undefined): AgentDenial {
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
