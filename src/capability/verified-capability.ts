import type { Authority } from "../caveats/authority.js";
import { type Hop, ownMember } from "../caveats/hop.js";
import { meetOf } from "../caveats/meet.js";
import { deepFrozen } from "./frozen.js";
import type { Identifier } from "./identifier.js";
import { readServiceKeyId } from "./key-id.js";
import { type AuthenticChain, hopsOf, type ReadLink } from "./read-token.js";

/** One verified link of an allowed capability. */
export interface VerifiedHop {
  /** 1 for the issuer's hop. */
  readonly number: number;
  /** The hop; absent for a third-party caveat, whose discharge is verified. */
  readonly hop?: Hop;
  readonly revocationId: string;
}

declare const verified: unique symbol;

/** A capability that has just passed every check, for the invocation it was checked with. */
export interface VerifiedCapability {
  readonly [verified]: true;
  readonly id: string;
  readonly grant: string;
  readonly issuer: string;
  readonly keyId: string;
  /** The one service that accepts the capability; absent if it was made under a root key. */
  readonly service?: string;
  readonly principal?: string;
  readonly issued: string;
  readonly expires: string;
  readonly hops: readonly VerifiedHop[];
  /** The authority that all hops leave, discharges' included. */
  readonly authority: Authority;
  /** Revocation ids of the identifier, then of each link: revoking any of them revokes this token. */
  readonly revocationIds: readonly string[];
}

/** Describes an authentic token for a decision. Frozen throughout. */
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
    // Most callers look at neither of these, and the meet costs as much as the judgement.
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

/** The earliest expiry that any of these links has. Times in canonical form sort as strings. */
export function earliestExpiry(links: readonly ReadLink[]): string | undefined {
  const all = hopsOf(links).flatMap((hop) => (hop && ownMember(hop, "expires")) ?? []);
  return all.sort()[0];
}
