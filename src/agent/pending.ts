import { encodeBase64url } from "../bytes/base64.js";
import { randomBytes } from "../bytes/random.js";
import type { AgentContext } from "./agent-options.js";
import type { ApprovalSubject, AskedGrant } from "./approvals/approval.js";
import { digestOfJson } from "./approvals/digest.js";
import {
  areApart,
  type OpenedApproval,
  oneRule,
  RequestReusedError,
  type RuleInTime,
} from "./approvals/opening.js";
import type { Caller } from "./caller.js";
import type { CapabilityRequest } from "./capability-request.js";
import { expiryOf, tooMany, wrongTimes } from "./issuance.js";
import type { Offer } from "./offer.js";
import { invalidRequest, type RequestRefusal } from "./refusal.js";

/** Where a grant says nothing else: approvers need not be there. */
const STANDARD: RuleInTime = { rule: {}, lifetime: 24 * 60 * 60 };
const MAX_REQUEST_ID = 256;

/** What is asked for, and waits for an approval. */
export type Pending = { readonly ok: true; readonly pending: OpenedApproval } | RequestRefusal;

/**
 * Opens an approval for offers, kept by resource names: issued later, or never.
 *
 * @param id - The caller's id of the request: the same id and request have one approval.
 */
export async function openPending(
  offers: readonly Offer[],
  request: CapabilityRequest,
  caller: Caller,
  context: AgentContext,
  id: string | undefined,
): Promise<Pending> {
  const { registry } = context;
  const { approvals, settings } = known(registry);
  const now = context.clock();
  const refusal =
    wrongTimes(request, expiryOf(request, now, context), now) ??
    tooMany(offers, context.maxHandles);
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
  const subject = subjectOf(offers, request, caller, context, id);
  const opening = { subject, ...inTime, method: "backchannel" } as const;
  const most = settings.bounds.pendingPerAgent;
  try {
    return await approvals.openAlone(opening, most);
  } catch (error) {
    if (!(error instanceof RequestReusedError)) throw error;
    return reused(error.message);
  }
}

/** Refuses a request under the id of another request of this caller that an approval was opened for. */
export async function refuseReused(
  request: CapabilityRequest,
  caller: Caller,
  { registry }: AgentContext,
  id: string | undefined,
): Promise<RequestRefusal | undefined> {
  if (id === undefined || registry === undefined) return undefined;
  const earlier = await registry.approvals.byRequest(requestOf(caller, id, registry));
  if (earlier === undefined || earlier.subject.whole === digestOfJson(request)) return undefined;
  return reused("another request has been made under this id");
}

function reused(why: string): RequestRefusal {
  return invalidRequest("request", `${why}; choose a new one`);
}

/** A caller's own id of a request, as it is kept. */
function requestOf(
  { principal, invoker }: Caller,
  id: string,
  { approvals }: NonNullable<AgentContext["registry"]>,
): string {
  return approvals.requestId("capabilities", principal, invoker, id);
}

function subjectOf(
  offers: readonly Offer[],
  request: CapabilityRequest,
  caller: Caller,
  context: AgentContext,
  id: string | undefined,
): ApprovalSubject {
  const { restrictions, resourceQuery } = request;
  const { principal, invoker } = caller;
  const own = id ?? encodeBase64url(randomBytes(16));
  const { operations: _, ...rest } = restrictions;
  const hops: AskedGrant["hops"] =
    Object.keys(rest).length === 0 ? [] : [{ by: "agent", hop: rest }];
  const { purpose, audience, expires } = restrictions;
  return {
    ...{ kind: "capabilities", request: requestOf(caller, own, known(context.registry)) },
    whole: digestOfJson(request),
    asked: offers.map(
      ({ grant, operations, resources }): AskedGrant => ({
        ...{ grant: grant.id, operations, hops, description: grant.description },
        ...(resources === undefined
          ? {}
          : {
              resources: resources.map(({ name, displayName, kind }) => ({
                name,
                displayName,
                kind,
              })),
            }),
      }),
    ),
    ...{ principal, agent: { id: invoker } },
    ...(audience === undefined ? {} : { audience }),
    ...(purpose === undefined ? {} : { purpose }),
    // Where the request says a moment, the hop does.
    lifetime: expires === undefined ? context.lifetime : context.issuer.maxLifetime,
    ...(resourceQuery === undefined ? {} : { query: JSON.stringify(resourceQuery) }),
  };
}

/** The registry, which an agent has whose grants need approvals. */
export function known(registry: AgentContext["registry"]): NonNullable<AgentContext["registry"]> {
  if (registry === undefined)
    throw new TypeError("the agent has no registry: createIssuingAgent({ registry })");
  return registry;
}
