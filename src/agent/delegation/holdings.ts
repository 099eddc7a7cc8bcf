import { encodeUtf8 } from "../../bytes/utf8.js";
import type { AuthenticToken } from "../../capability/authentic-token.js";
import { decodeIdentifier, type Identifier } from "../../capability/identifier.js";
import { readServiceKeyId } from "../../capability/key-id.js";
import type { Authority } from "../../caveats/authority.js";
import type { Caller } from "../caller.js";
import type { AuthenticCapability, PresentedCapability } from "../presented.js";
import type { AgentDenial } from "../refusal.js";
import { authorityOf } from "./chain.js";
import type { DelegationContext } from "./options.js";
import { type DelegationRefusal, delegationRefusal } from "./refusal.js";

/** A caller with its credentials. */
export interface DelegationCaller {
  readonly caller: Caller;
  /** The capability presented in place of an access token. */
  readonly credential?: AuthenticCapability;
  /** The capability to use, by token or id, if the caller presents an access token. */
  readonly picked?: PresentedCapability;
}

/** A live capability, and the party that it was issued to. */
export interface Holding {
  readonly token: AuthenticToken;
  readonly holder: Caller;
  readonly authority: Authority;
}

/** Number of a party's latest issuances that are searched for live capabilities. */
const MOST_LOOKED_THROUGH = 256;

/** Maximum number of capability ids in a message. */
const MOST_NAMED = 8;

/** Returns whether only certain agents may use a token. */
export function isBound(authority: Authority): boolean {
  return authority.invokers !== undefined;
}

/**
 * Returns the denials of a token that allows nothing, even to the service and agent that it names; empty if the
 * token allows something. A token made with a service's key is judged for this agent only, since the service
 * chooses the names in its tokens.
 */
export function lifeDenials(
  token: AuthenticToken,
  { audience: [named] = [], invokers: [invoker] = [] }: Authority,
  { agent }: DelegationContext,
): readonly AgentDenial[] {
  const service = serviceOf(token.identifier) === undefined ? named : agent.audience;
  const by = {
    audience: service,
    invoker,
  };
  const standing = agent.issuer.standing(token, by);
  return standing.allowed ? [] : standing.denials;
}

/**
 * Returns the party to which a capability was issued, according to the ledger. Principal, grant and service
 * must match too, since a service chooses the ids of its own tokens.
 *
 * @throws StorageError
 */
export async function holderOf(
  identifier: Identifier,
  { ledger }: DelegationContext,
): Promise<Caller | undefined> {
  const { id: capability, grant, principal } = identifier;
  const issued = await ledger.issued(capability);
  if (issued !== undefined) {
    const kept = decodeIdentifier(encodeUtf8(issued.identifier));
    const same =
      kept.grant === grant &&
      kept.principal === principal &&
      serviceOf(kept) === serviceOf(identifier);
    return same ? { principal: issued.principal, invoker: issued.invoker } : undefined;
  }
  // For an expired capability only the issuance event is left, which names no service.
  if (serviceOf(identifier) !== undefined) return undefined;
  const [event] = await ledger.list({
    capability,
    kind: "issuance",
    decision: "allowed",
    limit: 1,
    principal,
  });
  if (event?.invoker === undefined || event.grant !== grant) return undefined;
  return { principal: principal ?? "", invoker: event.invoker };
}

/** Returns the service whose key signed a token; `undefined` for a root key. */
function serviceOf({ kid }: Identifier): string | undefined {
  return readServiceKeyId(kid)?.service;
}

/**
 * Returns the capability that the caller presents or picks. Otherwise, returns the caller's only live
 * capability. Refuses a capability that is bound to agents.
 * @throws StorageError
 */
export async function holdingOf(
  by: DelegationCaller,
  context: DelegationContext,
): Promise<{ readonly ok: true; readonly holding: Holding } | DelegationRefusal> {
  const { caller, credential, picked } = by;
  const found =
    credential !== undefined
      ? await presentedHolding(credential, caller, context)
      : picked !== undefined
        ? await pickedHolding(picked, caller, context)
        : await onlyHolding(caller, context);
  if (!found.ok || !isBound(found.holding.authority)) return found;
  const message =
    "the capability names the agents that may use it already: one that is delegated, or bound, cannot be delegated on";
  return delegationRefusal("capability_bound", message, "capability");
}

async function presentedHolding(
  { token }: AuthenticCapability,
  holder: Caller,
  context: DelegationContext,
): Promise<{ readonly ok: true; readonly holding: Holding } | DelegationRefusal> {
  const authority = authorityOf(token);
  const [denial] = lifeDenials(token, authority, context);
  return denial === undefined
    ? { ok: true, holding: { token, holder, authority } }
    : refusedCapability(denial);
}

async function pickedHolding(
  picked: PresentedCapability,
  caller: Caller,
  context: DelegationContext,
): Promise<{ readonly ok: true; readonly holding: Holding } | DelegationRefusal> {
  const [authentic] = await context.agent.authenticate(caller, [picked]);
  if (authentic === undefined || !authentic.ok) {
    const [denial] = authentic?.denials ?? [];
    return refusedCapability(
      denial ?? { code: "capability_unknown", message: "there is no such capability" },
    );
  }
  const found = await presentedHolding(authentic, caller, context);
  if (!found.ok || isBound(found.holding.authority)) return found;
  const holder = await holderOf(authentic.token.identifier, context);
  if (holder?.principal === caller.principal && holder.invoker === caller.invoker) return found;
  const message = "the capability was issued to another party than the access token's";
  return delegationRefusal("capability_foreign", message, "capability");
}

async function onlyHolding(
  caller: Caller,
  context: DelegationContext,
): Promise<{ readonly ok: true; readonly holding: Holding } | DelegationRefusal> {
  const [holding, ...others] = await holdingsOf(caller, MOST_NAMED + 1, context);
  if (holding === undefined) {
    const message =
      "the access token's party has no capability that is alive; request one, or present one as the Bearer token";
    return delegationRefusal("capability_missing", message, "capability");
  }
  if (others.length === 0) return { ok: true, holding };
  const ids = [holding, ...others].map(({ token }) => token.identifier.id);
  const named = `${ids.slice(0, MOST_NAMED).join(", ")}${ids.length > MOST_NAMED ? ", …" : ""}`;
  const message = `the access token's party has several capabilities; pick one of ${named}`;
  return delegationRefusal("capability_ambiguous", message, "capability");
}

/**
 * Returns a party's live capabilities, oldest first.
 * @param most - Maximum number of capabilities.
 * @throws StorageError
 */
export async function holdingsOf(
  caller: Caller,
  most: number,
  context: DelegationContext,
): Promise<readonly Holding[]> {
  const { principal, invoker } = caller;
  const issuances = await context.ledger.list({
    principal,
    invoker,
    kind: "issuance",
    decision: "allowed",
    limit: MOST_LOOKED_THROUGH,
  });
  const ids = new Set(issuances.flatMap(({ capability = [] }) => capability));
  const holdings: Holding[] = [];
  for (const id of ids) {
    if (holdings.length === most) break;
    const [authentic] = await context.agent.authenticate(caller, [{ id }]);
    if (authentic === undefined || !authentic.ok) continue;
    const found = await presentedHolding(authentic, caller, context);
    if (found.ok) holdings.push(found.holding);
  }
  return holdings;
}

/**
 * Returns the revocation id of the last link of a presented capability if the capability was narrowed after issuance.
 * Anyone with a copy can narrow a capability, but what is done with the copy counts against the limits of the party to
 * which the capability was issued.
 *
 * @throws StorageError
 */
export async function narrowedLink(
  { credential }: DelegationCaller,
  { ledger }: DelegationContext,
): Promise<string | undefined> {
  if (credential === undefined) return undefined;
  const { identifier, chains } = credential.token;
  const { links, revocationIds } = chains[0];
  const { further = [] } = (await ledger.issued(identifier.id)) ?? {};
  return links.length > 1 + further.length ? revocationIds.at(-1) : undefined;
}

function refusedCapability({ code, message }: AgentDenial): DelegationRefusal {
  const words = `the capability is refused: ${message}`;
  const field = "capability";
  return {
    ok: false,
    problems: [{ code: "capability_refused", message: words, field, denial: code }],
  };
}
