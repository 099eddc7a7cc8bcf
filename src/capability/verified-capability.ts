import type { Authority } from "../caveats/authority.js";
import type { Hop } from "../caveats/hop.js";
import { meetOf } from "../caveats/meet.js";
import { deepFrozen } from "./frozen.js";
import type { Identifier } from "./identifier.js";
import { readServiceKeyId } from "./key-id.js";
import { type AuthenticChain, hopsOf, type ReadLink } from "./token.js";

/** One verified link of an allowed capability. */
export interface VerifiedHop {
  /** 1 for the issuer's hop. */
  readonly number: number;
  /** What it says; absent for a third-party caveat, whose discharge was verified. */
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
  /** The one service it was made for, if it was made under that service's key. */
  readonly service?: string;
  readonly principal?: string;
  readonly issued: string;
  readonly expires: string;
  readonly hops: readonly VerifiedHop[];
  /** What all hops, discharges' included, leave. */
  readonly authority: Authority;
  /** Of the identifier, then of each link: revoking any of them revokes this token. */
  readonly revocationIds: readonly string[];
}

/** What an authentic token is, in the words of a decision. All of it is frozen. */
export function verifiedCapability(
  identifier: Identifier,
  chains: readonly [AuthenticChain, ...AuthenticChain[]],
): VerifiedCapability {
  return Object.freeze(new Capability(identifier, chains));
}

class Capability implements VerifiedCapability {
  declare readonly [verified]: true;
  readonly id: string;
  readonly grant: string;
  readonly issuer: string;
  readonly keyId: string;
  declare readonly service?: string;
  declare readonly principal?: string;
  readonly issued: string;
  readonly expires: string;
  declare readonly hops: readonly VerifiedHop[];
  declare readonly authority: Authority;
  readonly revocationIds: readonly string[];
  readonly #chains: readonly [AuthenticChain, ...AuthenticChain[]];
  #hops: readonly VerifiedHop[] | undefined;
  #authority: Authority | undefined;

  // Most callers look at neither, and the meet costs as much as the judgement. One descriptor for all: the runtime
  // makes an object with accessors of its own several times slower.
  static readonly #hopsOnce = {
    enumerable: true,
    get(this: Capability): readonly VerifiedHop[] {
      this.#hops ??= verifiedHops(this.#chains[0]);
      return this.#hops;
    },
  };
  static readonly #authorityOnce = {
    enumerable: true,
    get(this: Capability): Authority {
      this.#authority ??= deepFrozen(meetOf(this.#chains.map(({ links }) => hopsOf(links))));
      return this.#authority;
    },
  };

  constructor(identifier: Identifier, chains: readonly [AuthenticChain, ...AuthenticChain[]]) {
    const service = readServiceKeyId(identifier.kid)?.service;
    const all = chains.length === 1 ? chains[0].links : chains.flatMap(({ links }) => links);
    this.id = identifier.id;
    this.grant = identifier.grant;
    this.issuer = identifier.iss;
    this.keyId = identifier.kid;
    if (service !== undefined) this.service = service;
    if (identifier.principal !== undefined) this.principal = identifier.principal;
    this.issued = identifier.issued;
    this.expires = earliestExpiry(all) ?? identifier.issued;
    Object.defineProperty(this, "hops", Capability.#hopsOnce);
    Object.defineProperty(this, "authority", Capability.#authorityOnce);
    this.revocationIds = Object.freeze(chains[0].revocationIds);
    this.#chains = chains;
  }
}

function verifiedHops({ links, revocationIds }: AuthenticChain): readonly VerifiedHop[] {
  return deepFrozen(
    hopsOf(links).map((hop, at) => {
      const verified = { number: at + 1, revocationId: revocationIds[at + 1] ?? "" };
      return hop === undefined ? verified : { ...verified, hop };
    }),
  );
}

/** The earliest expiry that any of the first `count` links has. */
export function earliestExpiry(
  links: readonly ReadLink[],
  count: number = links.length,
): string | undefined {
  let earliest: string | undefined;
  for (let at = 0; at < count; at++) {
    const link = links[at];
    const expires = link?.kind === "hop" ? link.hop.expires : undefined;
    // Times of the one form order as texts.
    if (expires === undefined || (earliest !== undefined && earliest <= expires)) continue;
    earliest = expires;
  }
  return earliest;
}
