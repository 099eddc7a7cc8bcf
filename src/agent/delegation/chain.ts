import type { AuthenticToken } from "../../capability/authentic-token.js";
import { hopsOf } from "../../capability/read-token.js";
import type { Authority } from "../../caveats/authority.js";
import { meetOf } from "../../caveats/meet.js";
import { parseTime } from "../../caveats/time.js";
import { chainIdOf } from "../../revocation/id.js";

/** The contents of a delegated token. Times are milliseconds since 1970. */
export interface Chain {
  /** A UUID, from the last link's revocation id. */
  readonly id: string;
  readonly revocationId: string;
  /** The revocation ids of the identifier and of each link before the last. */
  readonly ancestors: readonly string[];
  readonly capabilityId: string;
  readonly grant: string;
  readonly principal?: string;
  /** The only agent that may use the token, by its authenticated name. */
  readonly invoker: string;
  /** The operations that the token still allows; absent if no hop limits them. */
  readonly operations?: readonly string[];
  /** The operations of the capability at its issuance; absent if the issuer's hop does not limit them. */
  readonly issuedOperations?: readonly string[];
  /** The services that may accept the token; any service if absent. */
  readonly audience?: readonly string[];
  /** The time of the delegation: `notBefore` of the delegating hop, if it has one. */
  readonly delegated?: number;
  readonly delegatedUntil: number;
  /** The expiry of the capability that was delegated, without the delegating hop. */
  readonly parentUntil: number;
  readonly expires: number;
}

/**
 * The reason why an authentic token is not a delegation.
 *
 * - `not_delegated`: no hop after the issuer's hop names an invoker.
 * - `several_delegatees`: more than one agent may use the token.
 * - `not_transitive`: the token is bound to one agent and then to another, so that no agent may use it.
 * - `unreadable`: a hop is not valid.
 */
type NotDelegated = "not_delegated" | "several_delegatees" | "not_transitive" | "unreadable";

/** The delegation in a token, or why the token is not a delegation. */
export type ChainReading =
  | { readonly ok: true; readonly chain: Chain }
  | { readonly ok: false; readonly reason: NotDelegated };

/** Reads the delegation from the token's own hops. Discharges are ignored, since a holder can replace them. */
export function readChain(token: AuthenticToken): ChainReading {
  const { links, revocationIds } = token.chains[0];
  const hops = hopsOf(links);
  const [issuers, ...others] = hops;
  const authority = meetOf([hops]);
  const { invokers = [], operations, audience } = authority;
  const expires = parseTime(authority.expires ?? "");
  const isUnreadable = links.some((link) => link.kind === "unreadable");
  if (isUnreadable || expires === undefined) return { ok: false, reason: "unreadable" };
  const place = others.findIndex((hop) => hop?.invokers !== undefined);
  const binding = others[place];
  if (binding === undefined) return { ok: false, reason: "not_delegated" };
  const [invoker, another] = invokers;
  if (invoker === undefined) return { ok: false, reason: "not_transitive" };
  if (another !== undefined) return { ok: false, reason: "several_delegatees" };
  const revocationId = revocationIds.at(-1) ?? "";
  const { id: capabilityId, grant, principal } = token.identifier;
  const delegated = parseTime(binding.notBefore ?? "");
  const until = parseTime(meetOf([hops.slice(0, place + 2)]).expires ?? "");
  const parentUntil = parseTime(meetOf([hops.slice(0, place + 1)]).expires ?? "");
  const chain = {
    id: chainIdOf(revocationId),
    revocationId,
    ancestors: revocationIds.slice(0, -1),
    capabilityId,
    grant,
    invoker,
    expires,
    delegatedUntil: until ?? expires,
    parentUntil: parentUntil ?? Number.POSITIVE_INFINITY,
    principal,
    operations,
    ...(issuers?.operations === undefined ? {} : { issuedOperations: issuers.operations }),
    audience,
    delegated,
  };
  return { ok: true, chain };
}

/** Returns the combined limits of all hops of a token and of its discharges. */
export function authorityOf(token: AuthenticToken): Authority {
  return meetOf(token.chains.map(({ links }) => hopsOf(links)));
}
