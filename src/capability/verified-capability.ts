import type { Authority } from "../caveats/authority.js";
import { type Hop, ownMember } from "../caveats/hop.js";
import { meetOf } from "../caveats/meet.js";
import { deepFrozen } from "./frozen.js";
import type { Identifier } from "./identifier.js";
import { readServiceKeyId } from "./key-id.js";
import { type AuthenticChain, hopsOf, type ReadLink } from "./read-token.js";

/** One verified link of an allowed capability. */
export interface VerifiedHop {
  /** The index in the chain; 1 for the issuer's hop. */
  readonly number: number;
  /** The hop; absent for a third-party caveat, whose discharge has been verified. */
  readonly hop?: Hop;
  readonly revocationId: string;
}

declare const verified: unique symbol;

/** A capability that passed every check for an invocation. */
export interface VerifiedCapability {
  readonly [verified]: true;
  readonly id: string;
  readonly grant: string;
  readonly issuer: string;
  readonly keyId: string;
  /** The only service that accepts the capability; absent if a root key made it. */
  readonly service?: string;
  readonly principal?: string;
  readonly issued: string;
  readonly expires: string;
  readonly hops: readonly VerifiedHop[];
  /** The authority that all hops together leave, including those of discharges. */
  readonly authority: Authority;
  /** The revocation ids of the identifier and of each link. Revoking any of them revokes this token. */
  readonly revocationIds: readonly string[];
}

/** Describes an authentic token for decisions. The result is completely frozen. */
export function verifiedCapability(
  identifier: Identifier,
  chains: readonly [AuthenticChain, ...AuthenticChain[]],
): VerifiedCapability {
  const { id, grant, iss, kid, principal, issued } = identifier;
  const service = readServiceKeyId(kid)?.service;
  let hops: readonly VerifiedHop[] | undefined;
  let authority: Authority | undefined;
  const capability = {
    id,
    grant,
    issuer: iss,
    keyId: kid,
    ...(service === undefined ? {} : { service }),
    ...(principal === undefined ? {} : { principal }),
    issued,
    expires: earliestExpiry(chains.flatMap(({ links }) => links)) ?? issued,
    revocationIds: chains[0].revocationIds,
    // Computed on first use: most callers read neither `hops` nor `authority`, and intersecting all hops takes as
    // long as the check.
    get hops(): readonly VerifiedHop[] {
      hops ??= deepFrozen(verifiedHops(chains[0]));
      return hops;
    },
    get authority(): Authority {
      authority ??= deepFrozen(meetOf(chains.map(({ links }) => hopsOf(links))));
      return authority;
    },
  };
  return Object.freeze(capability) as VerifiedCapability;
}

function verifiedHops({ links, revocationIds }: AuthenticChain): readonly VerifiedHop[] {
  return hopsOf(links).map((hop, at) => {
    const verified = { number: at + 1, revocationId: revocationIds[at + 1] ?? "" };
    return hop === undefined ? verified : { ...verified, hop };
  });
}

/** Returns the earliest expiry of the links. Timestamps in canonical form sort as strings. */
export function earliestExpiry(links: readonly ReadLink[]): string | undefined {
  const all = hopsOf(links).flatMap((hop) => (hop && ownMember(hop, "expires")) ?? []);
  return all.sort()[0];
}
