import { parseTime } from "../caveats/time.js";
import type { Macaroon } from "../macaroon/macaroon.js";
import type { RootKey } from "../macaroon/root-key.js";
import type { RevocationQuery } from "../revocation/source.js";
import { deepFrozen } from "./frozen.js";
import type { Identifier } from "./identifier.js";
import { revocableKeyIds } from "./key-id.js";
import type { CapabilityLimits } from "./limits.js";
import type { AuthenticChain } from "./read-token.js";
import { type VerifiedCapability, verifiedCapability } from "./verified-capability.js";

declare const authentic: unique symbol;

/**
 * A token whose signatures have all been verified. Only verifying a token, or extending an authentic token, makes
 * such an object; a copy, a proxy or an object of the same shape is refused. The object does not expose the token's
 * signature or key.
 */
export interface AuthenticToken {
  readonly [authentic]: true;
  readonly identifier: Identifier;
  /** The token's own chain, then the chains of its discharges. */
  readonly chains: readonly [AuthenticChain, ...AuthenticChain[]];
}

/** The parts that an authentic token was made from. */
export interface TokenOrigin {
  readonly key: RootKey;
  /** The macaroon, then its discharges. */
  readonly macaroons: readonly [Macaroon, ...Macaroon[]];
  /** The limits that the token was checked against. */
  readonly limits: CapabilityLimits;
}

/** Data about an authentic token that the object itself does not expose. */
interface Hidden extends TokenOrigin {
  /** Computed on first use, like `capability`. */
  query?: RevocationQuery;
  capability?: VerifiedCapability;
}

// An object is an authentic token if and only if it is a key of this map.
const HIDDEN = new WeakMap<AuthenticToken, Hidden>();

/**
 * Makes an authentic token from macaroons that have just been verified. The token is frozen, so that no code can
 * change a later answer through it.
 */
export function authenticToken(
  identifier: Identifier,
  chains: readonly [AuthenticChain, ...AuthenticChain[]],
  origin: TokenOrigin,
): AuthenticToken {
  const token = deepFrozen({ identifier, chains }) as AuthenticToken;
  HIDDEN.set(token, { ...origin });
  return token;
}

function hiddenOf(token: AuthenticToken): Hidden {
  const hidden = HIDDEN.get(token);
  if (hidden !== undefined) return hidden;
  throw new TypeError("token must be a string, or an authentic token");
}

/**
 * Returns the parts from which an authentic token was made.
 *
 * @throws TypeError if `token` is not authentic.
 */
export function originOf(token: AuthenticToken): TokenOrigin {
  return hiddenOf(token);
}

/** Returns the query with which a token is looked up in a revocation list. */
export function revocationQueryFor(token: AuthenticToken): RevocationQuery {
  const hidden = hiddenOf(token);
  hidden.query ??= queryOf(token);
  return hidden.query;
}

/** Returns the capability that decisions about an authentic token contain. */
export function capabilityOfToken(token: AuthenticToken): VerifiedCapability {
  const hidden = hiddenOf(token);
  hidden.capability ??= verifiedCapability(token.identifier, token.chains);
  return hidden.capability;
}

function queryOf({ identifier, chains }: AuthenticToken): RevocationQuery {
  const { id: capability, kid, issued, principal } = identifier;
  return deepFrozen({
    links: chains.flatMap(({ revocationIds }) => revocationIds),
    capability,
    keys: revocableKeyIds(kid),
    issued: parseTime(issued) ?? Number.NEGATIVE_INFINITY,
    ...(principal === undefined ? {} : { principal }),
  });
}
