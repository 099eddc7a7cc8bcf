// Handles requests for capabilities. Grants that need no approval are issued at once; for the other grants, an
// approval is opened.

import { encodeBase64url } from "../bytes/base64.js";
import type { Json } from "../bytes/json.js";
import { randomBytes } from "../bytes/random.js";
import { formatTime, parseTime } from "../caveats/time.js";
import { type AgentContext, partiesOf } from "./agent-options.js";
import type { Caller } from "./caller.js";
import { type CapabilityRequest, readCapabilityRequest } from "./capability-request.js";
import {
  earliestExpiry,
  type GrantedCapability,
  type Issued,
  issueCapability,
  type NamedResource,
  resourceNumbers,
  tooManyResources,
} from "./issuance.js";
import { type Offer, offersFor } from "./offers.js";
import { type OpenedApproval, RequestReusedError } from "./parties/approval-requests.js";
import { areApart, oneRule, type RuleInTime } from "./parties/approval-rules.js";
import { digestOfJson } from "./parties/digests.js";
import type { ApprovalSubject, AskedGrant } from "./parties/records.js";
import { hopsOfLimits } from "./policy-limits.js";
import type { Recorder } from "./recorder.js";
import {
  invalidRequest,
  type RefusedGrant,
  type RequestDenial,
  type RequestRefusal,
} from "./refusal.js";

/** The answer to a request for capabilities. */
export type RequestOutcome =
  | {
      readonly ok: true;
      readonly capabilities: readonly GrantedCapability[];
      /** Requested grants that yield no capability and wait for no approval. */
      readonly refused: readonly RefusedGrant[];
      /** The reason why there are no capabilities, if the query matched nothing. */
      readonly reason?: string;
      /**
       * The approval for which the other requested grants wait. Once the approval is given, {@link
       * IssuingAgent.collect} returns their capabilities.
       */
      readonly pending?: OpenedApproval;
    }
  | RequestRefusal;

/** Fallback for grants that set no rule or lifetime for approvals. The lifetime is 24 hours: approvers may be absent. */
const STANDARD: RuleInTime = { rule: {}, lifetime: 24 * 60 * 60 };
const MAX_REQUEST_ID = 256;

/** @see IssuingAgent.request */
export async function requestCapabilities(
  caller: Caller,
  params: Json,
  id: string | undefined,
  context: AgentContext,
  recorder: Recorder,
): Promise<RequestOutcome> {
  const elapsed = recorder.start();
  const reading = readCapabilityRequest(params);
  const denyRequest = (denial: RequestDenial, purpose?: string): RequestOutcome => {
    recorder.notIssued(caller, denial.code, purpose, elapsed());
    return { ok: false, denial };
  };
  if (!reading.ok) return denyRequest(reading.denial);
  const { request } = reading;
  const { purpose } = request.restrictions;
  const found = await offersFor(request, caller, context);
  if (!found.ok) return denyRequest(found.denial, purpose);
  const reused = await refuseReusedId(request, caller, context, id);
  if (reused !== undefined) return denyRequest(reused.denial, purpose);
  const { offers, ...rest } = found;
  const waiting = offers.filter(({ grant }) => grant.approval !== undefined);
  const open = offers.filter(({ grant }) => grant.approval === undefined);
  const issuance = await issueOffers(open, request, caller, context);
  if (!issuance.ok) return denyRequest(issuance.denial, purpose);
  const opened =
    waiting.length === 0 ? undefined : await openApproval(waiting, request, caller, context, id);
  if (opened?.ok === false) return denyRequest(opened.denial, purpose);
  const granted = issuance.issued.map((one) => one.granted);
  const kept = issuance.issued.map((one) => one.kept);
  if (offers.length === 0) recorder.notIssued(caller, "nothing_found", purpose, elapsed());
  else if (granted.length > 0) await recorder.issued(caller, granted, kept, purpose, elapsed());
  const pending = opened === undefined ? {} : { pending: opened.pending };
  return { ...rest, capabilities: granted, ...pending };
}

/**
 * Issues a capability for each offer, without recording it. If one offer is refused, nothing is issued.
 * @throws StorageError if a resource number cannot be stored.
 */
async function issueOffers(
  offers: readonly Offer[],
  request: CapabilityRequest,
  caller: Caller,
  context: AgentContext,
): Promise<{ readonly ok: true; readonly issued: readonly Issued[] } | RequestRefusal> {
  const now = context.clock();
  const refusal = refuseOffers(offers, request, now, context);
  if (refusal !== undefined) return refusal;
  const { restrictions, resourceQuery } = request;
  const shared = {
    restrictions,
    expires: requestedExpiry(request, now, context),
    query: resourceQuery && JSON.stringify(resourceQuery),
  };
  const issued: Issued[] = [];
  for (const { grant, operations, resources, limits } of offers) {
    const numbers = await resourceNumbers(resources, context);
    const further = hopsOfLimits(limits, operations);
    const contents = { ...shared, grant, operations, resources, further };
    const one = issueCapability(contents, numbers, caller, context);
    if (!one.ok) return one;
    issued.push(one);
  }
  return { ok: true, issued };
}

/** Returns the expiry of a capability that is requested at `now`. */
function requestedExpiry(
  { restrictions: { expires } }: CapabilityRequest,
  now: number,
  context: AgentContext,
): string {
  const wanted = expires === undefined ? now + context.lifetime * 1000 : parseTime(expires);
  return earliestExpiry(wanted === undefined ? [] : [wanted], now, context);
}

/**
 * Refuses a request whose capability would never be valid, and offers with more resources than a capability may
 * name.
 */
function refuseOffers(
  offers: readonly Offer[],
  request: CapabilityRequest,
  now: number,
  context: AgentContext,
): RequestRefusal | undefined {
  const expires = requestedExpiry(request, now, context);
  const { notBefore } = request.restrictions;
  if (expires <= formatTime(now)) {
    return invalidRequest("expires", `expires ${expires} is not after now`);
  }
  // Timestamps in a parsed hop are in canonical form, so they can be compared as strings.
  if (notBefore !== undefined && notBefore >= expires) {
    return invalidRequest("notBefore", `notBefore ${notBefore} is not before expires, ${expires}`);
  }
  const most = context.maxHandles;
  const over = offers.find(({ resources = [] }) => resources.length > most);
  if (over === undefined) return undefined;
  const { grant, resources = [] } = over;
  const message =
    `the query matches ${resources.length} resources, and a capability names at most ${most}; ` +
    "narrow the filter";
  return tooManyResources(grant.id, message);
}

/**
 * Opens an approval for offers. The approval stores resource names, since handles exist only once a capability
 * is issued.
 *
 * @param id - The caller's id of the request. Repeating the same request with the same id opens no second
 *   approval.
 */
async function openApproval(
  offers: readonly Offer[],
  request: CapabilityRequest,
  caller: Caller,
  context: AgentContext,
  id: string | undefined,
): Promise<{ readonly ok: true; readonly pending: OpenedApproval } | RequestRefusal> {
  const { approvals, settings } = partiesOf(context);
  const refusal = refuseOffers(offers, request, context.clock(), context);
  if (refusal !== undefined) return refusal;
  if (id !== undefined && (id === "" || id.length > MAX_REQUEST_ID)) {
    return invalidRequest(
      "request",
      `the request's id must have 1 to ${MAX_REQUEST_ID} characters`,
    );
  }
  const named = offers.map(({ grant }) => ({ name: grant.id, approval: grant.approval }));
  const inTime = oneRule(named, STANDARD);
  if (areApart(inTime)) {
    const message = `different people approve ${inTime[0]} and ${inTime[1]}; ask for them apart`;
    return invalidRequest("grants", message);
  }
  const subject = approvalSubject(offers, request, caller, context, id);
  const opening = { subject, ...inTime, method: "backchannel" } as const;
  try {
    return await approvals.openAlone(opening, settings.bounds.pendingPerAgent);
  } catch (error) {
    if (!(error instanceof RequestReusedError)) throw error;
    return reusedId(error.message);
  }
}

/** Refuses a request if the caller has already used the same id for a different request that opened an approval. */
async function refuseReusedId(
  request: CapabilityRequest,
  caller: Caller,
  context: AgentContext,
  id: string | undefined,
): Promise<RequestRefusal | undefined> {
  if (id === undefined || context.parties === undefined) return undefined;
  const earlier = await context.parties.approvals.byRequest(keptRequestId(caller, id, context));
  if (earlier === undefined || earlier.subject.whole === digestOfJson(request)) return undefined;
  return reusedId("another request has been made under this id");
}

function reusedId(why: string): RequestRefusal {
  return invalidRequest("request", `${why}; choose a new one`);
}

/** Returns the id under which a caller's own request id is stored. */
function keptRequestId(
  { principal, invoker }: Caller,
  id: string,
  context: Pick<AgentContext, "parties">,
): string {
  return partiesOf(context).approvals.requestId("capabilities", principal, invoker, id);
}

function approvalSubject(
  offers: readonly Offer[],
  request: CapabilityRequest,
  caller: Caller,
  context: AgentContext,
  id: string | undefined,
): ApprovalSubject {
  const { restrictions, resourceQuery } = request;
  const { principal, invoker } = caller;
  const requestId = id ?? encodeBase64url(randomBytes(16));
  const { operations: _, ...rest } = restrictions;
  const own: AskedGrant["hops"] =
    Object.keys(rest).length === 0 ? [] : [{ by: "agent", hop: rest }];
  const { purpose, audience, expires } = restrictions;
  return {
    kind: "capabilities",
    request: keptRequestId(caller, requestId, context),
    whole: digestOfJson(request),
    asked: offers.map(
      ({ grant, operations, resources, limits }): AskedGrant => ({
        grant: grant.id,
        operations,
        // The policy's limits come first: `maxFurtherHops` of the agent counts the hops after its own.
        hops: [
          ...hopsOfLimits(limits, operations).map((hop) => ({ by: "server" as const, hop })),
          ...own,
        ],
        description: grant.description,
        ...(resources === undefined ? {} : { resources: resources.map(namedResource) }),
      }),
    ),
    principal,
    agent: { id: invoker },
    audience,
    purpose,
    // If the request has `expires`, the hop limits the lifetime further.
    lifetime: expires === undefined ? context.lifetime : context.issuer.maxLifetime,
    ...(resourceQuery === undefined ? {} : { query: JSON.stringify(resourceQuery) }),
  };
}

function namedResource({ name, displayName, kind }: NamedResource): NamedResource {
  return { name, displayName, kind };
}
