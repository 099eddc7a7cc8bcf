import { encodeBase64url } from "../bytes/base64.js";
import { assertTimes, withoutDurations } from "../caveats/durations.js";
import type { Hop, HopInit } from "../caveats/hop.js";
import { HOP_KEYS } from "../caveats/hop-rules.js";
import { mistakesIn } from "../caveats/operation-mistakes.js";
import { shown, shownList } from "../caveats/scalar.js";
import { formatTime } from "../caveats/time.js";
import { canonicalHop, plainHop } from "../caveats/write-hop.js";
import { described } from "../checks/kinds.js";
import { knownMembers } from "../checks/members.js";
import { nearest } from "../checks/nearest.js";
import { addFirstPartyCaveat, createMacaroon } from "../macaroon/chain.js";
import { partsOf } from "../macaroon/macaroon.js";
import type { RootKey } from "../macaroon/root-key.js";
import { macaroonToText } from "../macaroon/write.js";
import { revocationIdOf } from "../revocation/id.js";
import { type GrantOperations, unknownGrant } from "./grants.js";
import { encodeIdentifier, type Identifier } from "./identifier.js";
import { readServiceKeyId } from "./key-id.js";
import { CAPABILITY_LIMITS, overCapabilityLimits } from "./limits.js";

const CAPABILITY_ID_BYTES = 12;

/** Returns a new capability's id: `cap_` and 96 random bits as base64url. */
export function newCapabilityId(random: (length: number) => Uint8Array): string {
  return `cap_${encodeBase64url(random(CAPABILITY_ID_BYTES))}`;
}

/** Default lifetime of a capability, in seconds. */
const DEFAULT_LIFETIME = 15 * 60;

/** Default for the longest lifetime of a capability, in seconds. */
export const DEFAULT_MAX_LIFETIME: number = 24 * 60 * 60;

/** Longest lifetime that an issuer can be configured to allow, in seconds: 90 days. */
export const MAX_LIFETIME: number = 90 * 24 * 60 * 60;

/** The grant and the issuer's restrictions. The restrictions become the issuer's hop. */
export interface MintRequest extends HopInit {
  /** The id of the grant, such as `documents:read`. */
  readonly grant: string;
  /** The user on whose behalf the capability acts. */
  readonly principal?: string | undefined;
  /**
   * `true` allows every operation, including operations added to the grant later. If neither `anyOperation` nor
   * `operations` is given, the issuer writes the grant's operations into the hop; an issuer that does not know its
   * grants refuses the request.
   */
  readonly anyOperation?: boolean | undefined;
  /**
   * The only service that accepts the capability, by its name in `audience`. The token is made with that
   * service's key, so that the service can check it without the root key.
   */
  readonly service?: string | undefined;
}

/** A new capability. */
export interface MintedCapability {
  /** The bearer token. Whoever has the token has the capability. */
  readonly token: string;
  readonly id: string;
  readonly grant: string;
  readonly principal?: string;
  /** The id of the key that made the token. */
  readonly keyId: string;
  readonly issued: string;
  readonly expires: string;
  /** The id that revokes the capability and all its descendants. */
  readonly revocationId: string;
  /** The issuer's hop. */
  readonly hop: Hop;
}

/**
 * A new capability, and the canonical JSON of its identifier. The identifier is not secret; it is needed to rebuild
 * the token.
 */
export interface IssuedToken {
  readonly capability: MintedCapability;
  readonly identifier: string;
}

export interface MintContext {
  readonly issuer: string;
  readonly key: { readonly kid: string; readonly root: RootKey };
  /** Returns milliseconds since 1970. */
  readonly clock: () => number;
  readonly random: (length: number) => Uint8Array;
  /** The longest lifetime of a capability, in seconds. */
  readonly maxLifetime: number;
  /** The issuer's grants and their operations, if the issuer knows its grants. */
  readonly grants?: GrantOperations | undefined;
}

const OWN = ["grant", "principal", "anyOperation", "service"] as const;
const MEMBERS: readonly string[] = [...OWN, ...HOP_KEYS];

/**
 * Copies a program's request. Every value must be plain data, or a `Date` for a time.
 *
 * @throws TypeError naming the property that is not plain data, unknown or invalid.
 */
export function plainRequest(request: MintRequest): MintRequest {
  const {
    grant,
    principal,
    anyOperation = false,
    service,
    ...hop
  } = knownMembers(request, MEMBERS, "request");
  if (typeof grant !== "string" || grant === "") {
    throw new TypeError(`request.grant must be a non-empty string, not ${described(grant)}`);
  }
  if (typeof anyOperation !== "boolean") {
    throw new TypeError("request.anyOperation must be a boolean");
  }
  return { ...plainHop(hop, "request"), grant, principal, anyOperation, service };
}

/**
 * Makes a capability: the identifier, and the issuer's hop with an expiry.
 *
 * @param request - A result of {@link plainRequest}.
 * @param id - A result of {@link newCapabilityId}, or the id of a capability that is issued again.
 * @throws TypeError if the request is invalid, or the lifetime is longer than the issuer allows.
 */
export function mintToken(request: MintRequest, id: string, context: MintContext): IssuedToken {
  const { kid, root } = context.key;
  const { grant, principal, anyOperation: _, service: __, ...given } = request;
  const now = context.clock();
  assertTimes(given);
  const restrictions = withoutDurations(
    { ...given, ...operationsFor(request, context.grants), ...audienceFor(request, kid) },
    now,
  );
  const issued = formatTime(now);
  const lifetime = Math.min(DEFAULT_LIFETIME, context.maxLifetime) * 1000;
  const { hop, bytes } = canonicalHop({
    ...restrictions,
    expires: restrictions.expires ?? new Date(now + lifetime),
  });
  checkEntries(hop, request, context.grants);
  const expires = hop.expires ?? issued;
  checkLifetime(hop, expires, issued, formatTime(now + context.maxLifetime * 1000));

  const identifier: Identifier = {
    v: 1,
    iss: context.issuer,
    kid,
    id,
    grant,
    issued,
    ...(principal === undefined ? {} : { principal }),
  };
  const encoded = encodeIdentifier(identifier);
  const macaroon = addFirstPartyCaveat(createMacaroon(root, { identifier: encoded }), bytes);
  const over = overCapabilityLimits([macaroon], CAPABILITY_LIMITS);
  if (over !== undefined) throw new TypeError(over.message);
  const capability: MintedCapability = {
    token: macaroonToText(macaroon),
    id,
    grant,
    ...(principal === undefined ? {} : { principal }),
    keyId: kid,
    issued,
    expires,
    revocationId: revocationIdOf(partsOf(macaroon).signature),
    hop,
  };
  return { capability, identifier: new TextDecoder().decode(encoded) };
}

/** Returns the audience of the issuer's hop. For a service's key, the only audience is that service. */
function audienceFor({ audience }: MintRequest, kid: string): Pick<HopInit, "audience"> {
  const service = readServiceKeyId(kid)?.service;
  if (service === undefined) return {};
  const others = Array.isArray(audience) ? audience.filter((one) => one !== service) : [];
  if (audience === undefined || (Array.isArray(audience) && others.length === 0)) {
    return { audience: [service] };
  }
  throw new TypeError(
    `audience: a token for the service ${shown(service)} has that audience alone, not ${shownList(others)}`,
  );
}

/**
 * Checks the requested operations. If the request names none, returns the operations of the grant for the issuer's
 * hop.
 */
function operationsFor(
  { grant, operations, anyOperation }: MintRequest,
  grants: GrantOperations | undefined,
): Pick<HopInit, "operations"> {
  if (anyOperation && operations !== undefined) {
    throw new TypeError("operations and anyOperation exclude each other; give one of them");
  }
  const known = grants?.get(grant);
  if (grants !== undefined && known === undefined) throw unknownGrant(grant, grants);
  if (anyOperation) return {};
  if (operations === undefined && known === undefined) {
    throw new TypeError(
      "operations must be named, since this issuer does not know its grants; anyOperation: true allows every one",
    );
  }
  if (known === undefined) return {};
  for (const operation of Array.isArray(operations) ? operations : []) {
    if (known.includes(operation)) continue;
    const near = nearest(operation, known);
    const hint = near === undefined ? `it has ${shownList(known)}` : `did you mean ${shown(near)}?`;
    throw new TypeError(`the grant ${shown(grant)} has no operation ${shown(operation)}; ${hint}`);
  }
  return operations === undefined ? { operations: known } : {};
}

/** Refuses limits on the arguments of operations that the token does not have, and `prefix` limits on paths. */
function checkEntries(
  hop: Hop,
  { grant, anyOperation }: MintRequest,
  grants: GrantOperations | undefined,
): void {
  const operations = hop.operations ?? (anyOperation === true ? grants?.get(grant) : undefined);
  const mistakes = mistakesIn(hop, operations);
  if (mistakes.length > 0) throw new TypeError(mistakes.map(({ message }) => message).join("; "));
}

/**
 * Rebuilds a token from its identifier and its hops, of which the issuer's is the first. The same root key gives the
 * same bytes, so an issuer need not store tokens.
 */
export function remakeToken(root: RootKey, identifier: string, hops: readonly string[]): string {
  return macaroonToText(hops.reduce(addFirstPartyCaveat, createMacaroon(root, { identifier })));
}

function checkLifetime(hop: Hop, expires: string, issued: string, latest: string): void {
  if (expires <= issued) throw new TypeError(`expires ${expires} is not after now, ${issued}`);
  if (expires > latest) {
    throw new TypeError(
      `expires ${expires} is later than this issuer allows; the latest is ${latest}`,
    );
  }
  if (hop.notBefore !== undefined && hop.notBefore >= expires) {
    throw new TypeError(`notBefore ${hop.notBefore} is not before expires ${expires}`);
  }
}
