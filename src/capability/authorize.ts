// This folder reads macaroons as capabilities, whose caveats are hops. Holders use attenuate.ts, inspect.ts and
// diff.ts. Checkers use authenticate.ts (signatures) and this file (the whole check). Issuers use mint.ts. Everything
// is synchronous and does no I/O.

import type { Authority } from "../caveats/authority.js";
import { NONE } from "../caveats/hop-rule.js";
import { type CheckedInvocation, checkInvocation, type Invocation } from "../caveats/invocation.js";
import { judgeHop } from "../caveats/judge.js";
import { repeated, shown } from "../caveats/scalar.js";
import { assertMembers } from "../checks/members.js";
import { suggestions } from "../checks/nearest.js";
import type { RevocationEntry } from "../revocation/entry.js";
import type { RevocationSource } from "../revocation/source.js";
import { type AuthenticToken, capabilityOfToken, revocationQueryFor } from "./authentic-token.js";
import { type AuthenticationContext, authenticateOrRecheck } from "./authenticate.js";
import type { Denial, DenialCode } from "./denial.js";
import { type GrantOperations, grantDenials, grantsInForce } from "./grants.js";
import { readServiceKeyId } from "./key-id.js";
import type { AuthenticChain } from "./read-token.js";
import { withRemedies } from "./remedies.js";
import { earliestExpiry, type VerifiedCapability } from "./verified-capability.js";

export type { VerifiedCapability, VerifiedHop } from "./verified-capability.js";

/** The data that a check needs besides the token and the invocation. */
export interface CheckContext extends AuthenticationContext {
  readonly revocations: RevocationSource;
  /** Returns milliseconds since 1970. */
  readonly clock: () => number;
  /** The issuer's grants and their operations, if the issuer knows its grants. */
  readonly grants?: GrantOperations | undefined;
  /** This service's name in `audience`, for invocations without an `audience`. */
  readonly audience?: string | undefined;
}

/** Identifies the refused capability. Known only once every signature is verified. */
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
      /** Every reason for the refusal; never empty. */
      readonly denials: readonly [Denial, ...Denial[]];
      /** Set only if every signature is verified. */
      readonly capability?: RefusedCapability;
    };

/**
 * Checks a token against an invocation completely (docs/spec.md, section 7). A bad token is refused, and never causes
 * an exception.
 *
 * @throws TypeError if the token is an object but not an authentic token, or if the invocation has the wrong shape or
 *   does not determine the grant.
 */
export function checkToken(
  given: string | AuthenticToken,
  invocation: Invocation,
  context: CheckContext,
): Decision {
  const asked = checkInvocation(invocation, context.clock);
  return judge(given, asked, context, grantsInForce(asked, context.grants));
}

/**
 * Authenticates a token unless it is authentic already. Then collects the denials because of its revocation, its
 * grant and its hops, in this order.
 *
 * @param inForce - The grants under which the service acts; absent if there is no call.
 */
function judge(
  given: string | AuthenticToken,
  by: CheckedInvocation,
  context: CheckContext,
  inForce?: readonly string[],
): Decision {
  const authentication = authenticateOrRecheck(given, context);
  if (!authentication.ok) return { allowed: false, denials: [authentication.denial] };

  const { token } = authentication;
  const asked =
    by.audience === undefined && context.audience !== undefined
      ? { ...by, audience: context.audience }
      : by;
  const refused =
    inForce === undefined
      ? hopDenials(token, asked).filter(({ code }) => !CALL_CODES.includes(code))
      : joined(
          grantDenials(token.identifier.grant, asked.operation, inForce, context.grants),
          hopDenials(token, asked),
        );
  const found = joined(revocationDenials(token, asked, context), refused);
  const [denial, ...more] = found;
  if (denial === undefined) return { allowed: true, capability: capabilityOfToken(token) };
  const authority = (): Authority => capabilityOfToken(token).authority;
  const isAllowed = (given: CheckedInvocation["arguments"]): boolean =>
    hopDenials(token, { ...asked, arguments: given }).length === 0;
  const denials = withRemedies([denial, ...more], asked, authority, isAllowed);
  return { allowed: false, denials, capability: refusedCapability(token) };
}

/** Concatenates two lists, which are nearly always empty. */
function joined(some: readonly Denial[], others: readonly Denial[]): readonly Denial[] {
  if (some.length === 0) return others;
  return others.length === 0 ? some : [...some, ...others];
}

/** Denial codes of the rules on operation, handles and arguments, which only apply to a call. */
const CALL_CODES: readonly DenialCode[] = [
  "operation_denied",
  "resource_denied",
  "constraint_violated",
];

/** The party that presents a token, the service that checks the token, and the time. */
export type Presentation = Pick<Invocation, "invoker" | "audience" | "time">;

const PRESENTATION = ["invoker", "audience", "time"];

/**
 * Checks a token without a call: everything except its grant and the rules on operation, handles and arguments. The
 * `authority` of the result says what the token allows, for display and for choosing a token. The result does not
 * allow a call; only {@link checkToken} does.
 *
 * @throws TypeError if the presentation has the wrong shape.
 */
export function checkStanding(
  given: string | AuthenticToken,
  by: Presentation,
  context: CheckContext,
): Decision {
  assertMembers(by, PRESENTATION, "presentation");
  const asked = checkInvocation({ ...by, operation: "" }, context.clock);
  return judge(given, asked, context);
}

function revocationDenials(
  token: AuthenticToken,
  { moment }: CheckedInvocation,
  { revocations, clock }: CheckContext,
): readonly Denial[] {
  // If the invocation has a later time than the clock, the list must still be trusted at that time.
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
 * Refuses a token that was made with one service's key at every other service. A service has its own key, so it can
 * make tokens with any hops.
 */
function serviceDenials(
  { identifier }: AuthenticToken,
  { audience }: CheckedInvocation,
): readonly Denial[] {
  const service = readServiceKeyId(identifier.kid)?.service;
  if (service === undefined || service === audience) return NONE;
  const denial: Denial = {
    code: "audience_denied",
    hop: 0,
    rule: "kid",
    expected: [service],
    message: `this token was made under the key of the service ${shown(service)}, and no other accepts it`,
  };
  return [audience === undefined ? denial : { ...denial, actual: repeated(audience) }];
}

function hopDenials(token: AuthenticToken, asked: CheckedInvocation): readonly Denial[] {
  let denials = serviceDenials(token, asked);
  let saysWhenItExpires = false;
  const suggest = suggestions();
  const { chains } = token;
  for (let index = 0; index < chains.length; index++) {
    const links = chains[index]?.links ?? NONE;
    let further = links.length;
    for (const link of links) {
      further--;
      if (link.kind === "third-party") continue;
      if (index === 0 && link.kind === "hop")
        saysWhenItExpires ||= Object.hasOwn(link.hop, "expires");
      const found =
        link.kind === "hop" ? judgeHop(link.hop, asked, further, suggest) : link.problems;
      if (found.length === 0) continue;
      const hop = links.length - further;
      const place = index === 0 ? { hop } : { hop, discharge: index };
      denials = [...denials, ...found.map((failure) => ({ ...failure, ...place }))];
    }
  }
  if (saysWhenItExpires) return denials;
  const message = "no hop of the token says when it expires";
  return [...denials, { code: "expiry_missing", rule: "expires", message }];
}

/** Returns the expiry of the token's own chain. Discharges are ignored, since they can be replaced. */
export function ownExpiry(token: AuthenticToken): string | undefined {
  return earliestExpiry(token.chains[0].links);
}

function refusedCapability(token: AuthenticToken): RefusedCapability {
  const { id, grant, principal } = token.identifier;
  const { revocationIds } = token.chains[0];
  const capability = { id, grant, revocationIds };
  return principal === undefined ? capability : { ...capability, principal };
}
