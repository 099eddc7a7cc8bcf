// Lets the party that requested capabilities collect them after their approval. The first collection checks the
// policy and issues the capabilities; later collections return the same capabilities.

import type { Hop } from "../caveats/hop.js";
import { formatTime, parseTime } from "../caveats/time.js";
import { type AgentContext, partiesOf } from "./agent-options.js";
import type { Caller } from "./caller.js";
import type { KnownGrant } from "./grant.js";
import {
  earliestExpiry,
  type GrantedCapability,
  grantedBefore,
  issueCapability,
  type NamedResource,
  recordOnce,
  resourceNumbers,
} from "./issuance.js";
import { type ApprovedGrant, causeWords, resultOf } from "./parties/approval-results.js";
import type { Approval, AskedGrant } from "./parties/records.js";
import { ownPermissions } from "./permissions.js";
import { type Permission, permitsOperation, permitsResource } from "./policy.js";
import { areSameLimits, groupsByLimits, hopsOfLimits } from "./policy-limits.js";
import type { Recorder } from "./recorder.js";
import type { RefusedGrant, RequestDenialCode } from "./refusal.js";
import type { RequestOutcome } from "./requested-capabilities.js";
import { targetOfOperation } from "./skill.js";

/** An approved grant with the operations and resources that the policy still allows. */
interface GrantLeft {
  readonly approved: ApprovedGrant;
  readonly grant: KnownGrant;
  readonly operations: readonly string[];
  readonly resources?: readonly NamedResource[];
  /** The policy's limits on arguments at the time of the request, and its limits now if they differ. */
  readonly limits: readonly Hop[];
}

/** @see IssuingAgent.collect */
export async function collectCapabilities(
  caller: Caller,
  id: string,
  context: AgentContext,
  recorder: Recorder,
): Promise<RequestOutcome> {
  const elapsed = recorder.start();
  const outcome = await collect(caller, id, context, recorder, elapsed);
  if (!outcome.ok) recorder.notIssued(caller, outcome.denial.code, undefined, elapsed());
  return outcome;
}

async function collect(
  caller: Caller,
  id: string,
  context: AgentContext,
  recorder: Recorder,
  elapsed: () => number,
): Promise<RequestOutcome> {
  const { approvals } = partiesOf(context);
  await context.issuer.catchUp();
  const approval = await approvals.get(id);
  if (approval === undefined || !isAskedBy(caller, approval)) {
    return denied(
      "approval_unknown",
      "this caller has asked for nothing that such an approval is about",
    );
  }
  if (approval.state === "pending") {
    return { ok: true, capabilities: [], refused: [], pending: { approval } };
  }
  if (approval.state !== "approved" && approval.state !== "used") {
    return denied("approval_denied", endingWords(approval));
  }
  if (approvals.isVoid(approval)) {
    return denied("approval_denied", endingWords({ ...approval, cause: "principal_revoked" }));
  }
  const left = await grantsLeft(approval, caller, context);
  const refused = grantsRefused(approval, left, context.clock());
  if (approval.state === "approved") {
    if (left.length === 0) return nothingLeft(refused);
    // Store the capability ids before anything is issued, so that a repeated call issues under the same ids.
    await approvals.use(
      id,
      left.map(({ approved }) => approved.place),
    );
  }
  const used = (await approvals.get(id)) ?? approval;
  const capabilities: GrantedCapability[] = [];
  for (const [place, capability] of Object.entries(used.collected ?? {})) {
    const resources = used.subject.asked[Number(place)]?.resources ?? [];
    const kept = await context.ledger.issued(capability);
    const one = left.find(({ approved }) => String(approved.place) === place);
    const granted =
      kept !== undefined
        ? await grantedBefore(kept, resources, context)
        : one && (await issueApproved(used, capability, one, caller, context, recorder, elapsed));
    if (granted !== undefined) capabilities.push(granted);
  }
  return capabilities.length === 0 ? nothingLeft(refused) : { ok: true, capabilities, refused };
}

function isAskedBy({ principal, invoker }: Caller, { subject }: Approval): boolean {
  return (
    subject.kind === "capabilities" &&
    subject.principal === principal &&
    subject.agent.id === invoker
  );
}

/**
 * @returns `undefined` if the capability has expired or is too large, or if its principal was revoked.
 * @throws StorageError if the issuance cannot be recorded.
 */
async function issueApproved(
  used: Approval,
  id: string,
  { approved, grant, operations, resources, limits }: GrantLeft,
  caller: Caller,
  context: AgentContext,
  recorder: Recorder,
  elapsed: () => number,
): Promise<GrantedCapability | undefined> {
  const now = context.clock();
  const { subject, updated } = used;
  const restrictions = approved.asked.hops.find(({ by }) => by === "agent")?.hop ?? {};
  const ends = [updated + subject.lifetime * 1000];
  if (restrictions.expires !== undefined) ends.push(parseTime(restrictions.expires) ?? now);
  const expires = earliestExpiry(ends, now, context);
  if (expires <= formatTime(now)) return undefined;
  const numbers = await resourceNumbers(resources, context);
  // Revoking a principal affects only older tokens. So check for such a revocation immediately before the token
  // is issued.
  await context.issuer.catchUp();
  if (partiesOf(context).approvals.isVoid(used)) return undefined;
  const further = [...limits, ...approved.hops.map(({ hop }) => hop)];
  const { query } = subject;
  const contents = { id, grant, operations, resources, restrictions, further, expires, query };
  const issued = issueCapability(contents, numbers, caller, context);
  if (!issued.ok) return undefined;
  const { granted, kept } = issued;
  const record = (): Promise<void> =>
    recorder.issued(caller, [granted], [kept], undefined, elapsed());
  const recorded = await recordOnce(kept, record, context.ledger);
  return recorded === kept ? granted : grantedBefore(recorded, resources ?? [], context);
}

/** Returns the approved grants that still exist and that the policy still allows. */
async function grantsLeft(
  approval: Approval,
  caller: Caller,
  context: AgentContext,
): Promise<readonly GrantLeft[]> {
  const left: GrantLeft[] = [];
  for (const approved of resultOf(approval, context.clock())) {
    const { asked, granted } = approved;
    const grant = context.grants.get(asked.grant);
    if (!granted || grant === undefined) continue;
    const permissions = await ownPermissions(caller, asked.grant, context);
    const one = await grantLeft(approved, grant, permissions, context);
    if (one !== undefined) left.push(one);
  }
  return left;
}

/**
 * Returns what the policy still allows of an approved grant. A capability has the limits of one group of permissions:
 * of the group by which the grant was requested if it still permits something, and otherwise of another group.
 */
async function grantLeft(
  approved: ApprovedGrant,
  grant: KnownGrant,
  permissions: readonly Permission[],
  context: AgentContext,
): Promise<GrantLeft | undefined> {
  const { asked } = approved;
  const demanded = asked.hops.flatMap(({ by, hop }) => (by === "server" ? [hop] : []));
  const groups = groupsByLimits(permissions).map(({ limits, permissions: own }) => {
    const operations = asked.operations.filter(
      (operation) => grant.operations.includes(operation) && permitsOperation(own, operation),
    );
    const hops = hopsOfLimits(limits, operations);
    const isDemanded = areSameLimits(hops[0], demanded[0]);
    const limitsNow = isDemanded ? demanded : [...demanded, ...hops];
    return { permissions: own, operations, limits: limitsNow, isDemanded };
  });
  const byDemand = groups.sort((a, b) => Number(b.isDemanded) - Number(a.isDemanded));
  for (const { permissions: own, operations, limits } of byDemand) {
    if (operations.length === 0) continue;
    if (asked.resources === undefined) return { approved, grant, operations, limits };
    const resources = await resourcesLeft(asked, operations, own, context);
    if (resources.length > 0) return { approved, grant, operations, resources, limits };
  }
  return undefined;
}

async function resourcesLeft(
  { resources: asked = [] }: AskedGrant,
  operations: readonly string[],
  permissions: readonly Permission[],
  context: AgentContext,
): Promise<readonly NamedResource[]> {
  const left: NamedResource[] = [];
  for (const one of asked) {
    const resource = await context.resources?.get(one.name);
    if (resource === undefined || resource.kind !== one.kind) continue;
    // Keep only resources on which all the operations are allowed: a capability allows each of its operations
    // on each of its resources.
    const allowed = operations.every(
      (operation) =>
        targetOfOperation(operation, context.operations) === one.kind &&
        permitsResource(permissions, operation, resource),
    );
    if (allowed) left.push(one);
  }
  return left;
}

function grantsRefused(
  approval: Approval,
  left: readonly GrantLeft[],
  now: number,
): readonly RefusedGrant[] {
  return resultOf(approval, now).flatMap(({ asked, granted, place, reason }): RefusedGrant[] => {
    if (left.some(({ approved }) => approved.place === place)) return [];
    const message = granted
      ? "what was approved no longer exists, or the policy no longer allows it"
      : (reason ?? "an approver denied it");
    return [{ grant: asked.grant, takenBy: granted ? "policy" : "approval", message }];
  });
}

function endingWords(approval: Approval): string {
  const { state, decisions } = approval;
  const cause = causeWords(approval);
  if (cause !== undefined) return `the approval is void: ${cause}`;
  if (state === "expired") return "the approval's time is over; ask again";
  if (state === "cancelled") return "the request was taken back";
  const said = decisions.find(({ answer }) => answer === "deny")?.reason;
  return said === undefined ? "the request was denied" : `the request was denied: ${said}`;
}

function nothingLeft(refused: readonly RefusedGrant[]): RequestOutcome {
  const message =
    refused.length === 0
      ? "what was approved has expired, or been revoked"
      : refused.map((one) => one.message).join("; ");
  return { ok: false, denial: { code: "nothing_left", message, refused } };
}

function denied(code: RequestDenialCode, message: string): RequestOutcome {
  return { ok: false, denial: { code, message } };
}
