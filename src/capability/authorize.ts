// src/capability: a macaroon read as a capability, where caveats and macaroon meet. A holder's side:
// attenuate.ts, inspect.ts, diff.ts. A checker's side: authenticate.ts (bytes) and this file (the whole).
// An issuer's side: mint.ts. Synchronous, no I/O.

import type { Authority } from "../caveats/authority.js";
import type { Hop } from "../caveats/hop.js";
import { NONE } from "../caveats/hop-rule.js";
import { type CheckedInvocation, checkInvocation, type Invocation } from "../caveats/invocation.js";
import { judgeHop } from "../caveats/judge.js";
import { assertMembers } from "../caveats/known-members.js";
import { meetOf } from "../caveats/meet.js";
import { suggestions } from "../caveats/nearest.js";
import { shown } from "../caveats/scalar.js";
import { parseTime } from "../caveats/time.js";
import type { RevocationEntry } from "../revocation/entry.js";
import type { RevocationQuery, RevocationSource } from "../revocation/source.js";
import {
  type Authentication,
  type AuthenticationContext,
  type AuthenticChain,
  type AuthenticToken,
  authenticate,
  authenticateAgain,
  deepFrozen,
} from "./authenticate.js";
import type { Denial, DenialCode } from "./denial.js";
import { type GrantOperations, grantDenials, grantsInForce } from "./grants.js";
import { readServiceKeyId, revocableKeyIds } from "./key-id.js";
import { hopsOf, type ReadLink } from "./token.js";

/** What a check rests on. */
export interface CheckContext extends AuthenticationContext {
  readonly revocations: RevocationSource;
  /** Milliseconds since 1970. */
  readonly clock: () => number;
  /** The issuer's grants and their operations, where it knows them. */
  readonly grants?: GrantOperations | undefined;
  /** The name this service goes by in `audience`, where an invocation names none. */
  readonly audience?: string | undefined;
}

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

/** Whose capability was refused, known once every signature has held. */
export interface RefusedCapability {
  readonly id: string;
  readonly grant: string;
  readonly principal?: string;
  readonly revocationIds: readonly string[];
}

/** The answer to one invocation. */
export type Decision =
  | { readonly allowed: true; readonly capability: VerifiedCapability }
  | {
      readonly allowed: false;
      /** Every reason, never empty. */
      readonly denials: readonly [Denial, ...Denial[]];
      /** Absent unless every signature held. */
      readonly capability?: RefusedCapability;
    };

/**
 * The whole check of a token against an invocation (docs/spec.md, section 7). A bad token is a
 * decision, never an exception.
 *
 * @throws TypeError if the token is not a string, the invocation has a wrong shape, or it leaves open
 *   under which grant the service acts.
 */
export function checkToken(
  given: string | AuthenticToken,
  invocation: Invocation,
  context: CheckContext,
): Decision {
  const asked = checkInvocation(invocation, context.clock);
  const { grants } = context;
  const inForce = grantsInForce(asked, grants);
  return judge(given, asked, context, (token, by) => [
    ...grantDenials(token.identifier.grant, by.operation, inForce, grants),
    ...hopDenials(token, by),
  ]);
}

/**
 * Authenticates a token; of one that was authenticated before, looks up the key again.
 *
 * @throws TypeError for what is neither a string nor an authentic token.
 */
export function authenticated(
  given: string | AuthenticToken,
  context: AuthenticationContext,
): Authentication {
  return typeof given === "object" && given !== null
    ? authenticateAgain(given, context)
    : authenticate(given, context);
}

/** Authenticates a token unless it is authentic already, looks up its revocation, and joins what `rules` finds. */
function judge(
  given: string | AuthenticToken,
  by: CheckedInvocation,
  context: CheckContext,
  rules: (token: AuthenticToken, asked: CheckedInvocation) => readonly Denial[],
): Decision {
  const authentication = authenticated(given, context);
  if (!authentication.ok) return { allowed: false, denials: [authentication.denial] };

  const { token } = authentication;
  const asked =
    by.audience === undefined && context.audience !== undefined
      ? { ...by, audience: context.audience }
      : by;
  const revoked = revocationDenials(token, asked, context);
  const refused = rules(token, asked);
  const [first, ...more] = revoked.length === 0 ? refused : [...revoked, ...refused];
  if (first === undefined) {
    return { allowed: true, capability: onceOf(token, capabilities, verifiedCapability) };
  }
  return { allowed: false, denials: [first, ...more], capability: refusedCapability(token) };
}

/** The rules that look at what is being called; the others look only at who, where and when. */
const CALL_CODES: readonly DenialCode[] = [
  "operation_denied",
  "resource_denied",
  "constraint_violated",
];

/** Who presents a token, to which service, and when. */
export type Presentation = Pick<Invocation, "invoker" | "audience" | "time">;

const PRESENTATION = ["invoker", "audience", "time"];

/**
 * Whether a token is good for anything at all: the whole check but for its grant and the rules on
 * operation, handles and arguments. What it allows is in the `authority` of the answer, for display and for
 * choosing; only {@link checkToken} allows a call.
 *
 * @throws TypeError if the token is not a string or the presentation has a wrong shape.
 */
export function checkStanding(
  given: string | AuthenticToken,
  by: Presentation,
  context: CheckContext,
): Decision {
  assertMembers(by, PRESENTATION, "presentation");
  const asked = checkInvocation({ ...by, operation: "" }, context.clock);
  return judge(given, asked, context, (token, presentation) =>
    hopDenials(token, presentation).filter(({ code }) => !CALL_CODES.includes(code)),
  );
}

function revocationDenials(
  token: AuthenticToken,
  { moment }: CheckedInvocation,
  { revocations, clock }: CheckContext,
): readonly Denial[] {
  // A check for a later moment relies on the list until then.
  const now = Math.max(clock(), moment);
  const entries = revocations.find(revocationQueryFor(token));
  const isCurrent = revocations.isCurrent(now) === true;
  if (entries.length === 0 && isCurrent) return NONE;
  const denials = entries.map((entry) => revokedDenial(entry, token.chains));
  if (!isCurrent) {
    const message = "the revocation list is too old to be relied on; refresh it and ask again";
    denials.push({ code: "revocation_stale", rule: "trustedUntil", message });
  }
  return denials;
}

// What each call with one authentic token would otherwise work out anew.
const queries = /* @__PURE__ */ new WeakMap<AuthenticToken, RevocationQuery>();
const capabilities = /* @__PURE__ */ new WeakMap<AuthenticToken, VerifiedCapability>();

/** What `make` gives of a token the first time: nothing can change a token then, nor what was made of it. */
function onceOf<T extends object>(
  token: AuthenticToken,
  known: WeakMap<AuthenticToken, T>,
  make: (token: AuthenticToken) => T,
): T {
  const found = known.get(token);
  if (found !== undefined) return found;
  const made = make(deepFrozen(token));
  known.set(token, made);
  return made;
}

/** What to ask a revocation list about a token. */
export function revocationQueryFor(token: AuthenticToken): RevocationQuery {
  return onceOf(token, queries, queryOf);
}

function queryOf({ identifier, chains }: AuthenticToken): RevocationQuery {
  return deepFrozen({
    links: [...new Set(chains.flatMap((chain) => chain.revocationIds))],
    capability: identifier.id,
    keys: revocableKeyIds(identifier.kid),
    issued: parseTime(identifier.issued) ?? Number.NEGATIVE_INFINITY,
    ...(identifier.principal === undefined ? {} : { principal: identifier.principal }),
  });
}

function revokedDenial(entry: RevocationEntry, chains: readonly AuthenticChain[]): Denial {
  const { kind, id } = entry;
  const code = "revoked";
  if (kind !== "link") {
    return { code, rule: kind, actual: id, message: `this token's ${kind} is revoked` };
  }
  const discharge = chains.findIndex((chain) => chain.revocationIds.includes(id));
  const hop = chains[discharge]?.revocationIds.indexOf(id) ?? 0;
  const where = hop === 0 ? "the whole capability" : `link ${hop} and all that descends from it`;
  return {
    code,
    hop,
    rule: kind,
    actual: id,
    message: `${discharge > 0 ? `in discharge ${discharge}, ` : ""}${where} is revoked`,
    ...(discharge > 0 ? { discharge } : {}),
  };
}

/**
 * A service can make any token under its key, with any hop: that the token is good for this service alone
 * rests on the key's id.
 */
function serviceDenials({ identifier }: AuthenticToken, { audience }: CheckedInvocation): Denial[] {
  const service = readServiceKeyId(identifier.kid)?.service;
  if (service === undefined || service === audience) return [];
  const denial: Denial = {
    code: "audience_denied",
    hop: 0,
    rule: "kid",
    expected: [service],
    message: `this token was made under the key of the service ${shown(service)}, and no other accepts it`,
  };
  return [audience === undefined ? denial : { ...denial, actual: audience }];
}

function hopDenials(token: AuthenticToken, asked: CheckedInvocation): Denial[] {
  const denials: Denial[] = serviceDenials(token, asked);
  const suggest = suggestions();
  for (const [index, { links }] of token.chains.entries()) {
    for (const [at, link] of links.entries()) {
      if (link.kind === "third-party") continue;
      const found = link.reading.ok
        ? judgeHop(link.reading.hop, asked, links.length - at - 1, suggest)
        : link.reading.problems;
      for (const failure of found) {
        const denial = { ...failure, hop: at + 1 };
        denials.push(index === 0 ? denial : { ...denial, discharge: index });
      }
    }
  }
  if (!token.chains[0].links.some(saysWhenItExpires)) {
    const message = "no hop of the token says when it expires";
    denials.push({ code: "expiry_missing", rule: "expires", message });
  }
  return denials;
}

function saysWhenItExpires(link: ReadLink): boolean {
  return link.kind === "hop" && link.reading.ok && link.reading.hop.expires !== undefined;
}

/** The meet of a verified token's hops, its discharges' included. */
function authorityOf(token: AuthenticToken): Authority {
  return meetOf(token.chains.map(({ links }) => hopsOf(links)));
}

/** When the token's own chain expires; discharges are left out, since they can be replaced. */
export function ownExpiry(token: AuthenticToken): string | undefined {
  return meetOf([hopsOf(token.chains[0].links)]).expires;
}

/** The earliest expiry of all chains, as in their authority. */
function earliestExpiry(token: AuthenticToken): string | undefined {
  let earliest: string | undefined;
  for (const { links } of token.chains) {
    for (const hop of hopsOf(links)) {
      const expires = hop?.expires;
      if (expires === undefined || (earliest !== undefined && earliest <= expires)) continue;
      earliest = expires;
    }
  }
  return earliest;
}

function verifiedCapability(token: AuthenticToken): VerifiedCapability {
  const { identifier, chains } = token;
  const [own] = chains;
  let authority: Authority | undefined;
  const service = readServiceKeyId(identifier.kid)?.service;
  const capability: Omit<VerifiedCapability, typeof verified> = {
    id: identifier.id,
    grant: identifier.grant,
    issuer: identifier.iss,
    keyId: identifier.kid,
    ...(service === undefined ? {} : { service }),
    ...(identifier.principal === undefined ? {} : { principal: identifier.principal }),
    issued: identifier.issued,
    expires: earliestExpiry(token) ?? identifier.issued,
    hops: Object.freeze(
      hopsOf(own.links).map((hop, at) => {
        const revocationId = own.revocationIds[at + 1] ?? "";
        const verified = { number: at + 1, revocationId };
        return Object.freeze(hop === undefined ? verified : { ...verified, hop });
      }),
    ),
    // Most callers never look at it, and the meet costs as much as the judgement.
    get authority() {
      authority ??= deepFrozen(authorityOf(token));
      return authority;
    },
    revocationIds: own.revocationIds,
  };
  // The members are frozen already, or when they are made.
  return Object.freeze(capability) as VerifiedCapability;
}

function refusedCapability(token: AuthenticToken): RefusedCapability {
  const { id, grant, principal } = token.identifier;
  const { revocationIds } = token.chains[0];
  const capability = { id, grant, revocationIds };
  return principal === undefined ? capability : { ...capability, principal };
}
