import { formatTime, parseTime } from "../caveats/time.js";
import type { AgentContext } from "./agent-options.js";
import type { Approval, AskedGrant } from "./approvals/approval.js";
import {
  type ApprovedGrant,
  causeWords,
  resultOf,
  sealedAfter,
} from "./approvals/approval-result.js";
import type { Caller } from "./caller.js";
import { type GrantedCapability, LEGACY_NOTICE, type NamedHandle } from "./issuance.js";
import type { IssuedCapability } from "./ledger.js";
import { hopTexts, madeToken } from "./made-token.js";
import type { RequestOutcome } from "./outcomes.js";
import { known } from "./pending.js";
import { ownPermissions } from "./permissions.js";
import { permitsOperation, permitsResource } from "./policy.js";
import type { RefusedGrant, RequestDenialCode } from "./refusal.js";
import type { Resource } from "./resources/resource.js";
import { composed } from "./resources/resource-handles.js";
import { targetOf } from "./skill.js";

/** What is left of one of the grants that were approved. */
interface Left {
  readonly approved: ApprovedGrant;
  readonly operations: readonly string[];
  readonly resources?: readonly Resource[];
}

/** Keeps what is issued, with its event in the ledger. */
export type Keep = (granted: GrantedCapability, kept: IssuedCapability) => Promise<void>;

/**
 * What was approved, as capabilities, judged again: what is gone is left out. Collecting again gives the
 * same.
 *
 * @throws StorageError if it could not be recorded; collecting again goes on then.
 */
export async function collectApproved(
  caller: Caller,
  id: string,
  context: AgentContext,
  keep: Keep,
): Promise<RequestOutcome> {
  const { approvals } = known(context.registry);
  await context.issuer.catchUp();
  const found = await approvals.get(id);
  const own =
    found?.subject.kind === "capabilities" &&
    found.subject.principal === caller.principal &&
    found.subject.agent.id === caller.invoker;
  if (found === undefined || !own) {
    return denied(
      "approval_unknown",
      "this caller has asked for nothing that such an approval is about",
    );
  }
  if (found.state === "pending") {
    return { ok: true, capabilities: [], refused: [], pending: { approval: found } };
  }
  if (found.state !== "approved" && found.state !== "used") {
    return denied("approval_denied", wordsOf(found));
  }
  if (approvals.isVoid(found)) {
    return denied("approval_denied", wordsOf({ ...found, cause: "principal_revoked" }));
  }
  const left = await whatIsLeft(found, caller, context);
  const refused = refusedOf(found, left, context.clock());
  if (found.state === "approved") {
    if (left.length === 0) return nothingLeft(refused);
    // The ids stand before anything is issued: the next call issues under the same.
    await approvals.use(
      id,
      left.map(({ approved }) => approved.place),
    );
  }
  const used = (await approvals.get(id)) ?? found;
  const capabilities: GrantedCapability[] = [];
  for (const [place, capability] of Object.entries(used.collected ?? {})) {
    const one = left.find(({ approved }) => String(approved.place) === place);
    const issued = await issuedFor(used, capability, one, caller, context, keep);
    if (issued !== undefined) capabilities.push(issued);
  }
  return capabilities.length === 0 ? nothingLeft(refused) : { ok: true, capabilities, refused };
}

/** The capability of a place: as it is kept, or issued now. */
async function issuedFor(
  used: Approval,
  id: string,
  left: Left | undefined,
  caller: Caller,
  context: AgentContext,
  keep: Keep,
): Promise<GrantedCapability | undefined> {
  const { ledger } = context;
  const asked = used.subject.asked;
  const kept = await ledger.issued(id);
  if (kept !== undefined) return grantedFrom(kept, resourcesIn(asked), context);
  if (left === undefined) return undefined;
  const made = await issue(used, id, left, caller, context);
  if (made === undefined) return undefined;
  const granted = await grantedFrom(made, resourcesIn(asked), context);
  if (granted === undefined) return undefined;
  try {
    await keep(granted, made);
    return granted;
  } catch (error) {
    // Another call may have issued it at the same time.
    const other = await ledger.issued(id);
    if (other === undefined) throw error;
    return grantedFrom(other, resourcesIn(asked), context);
  }
}

function resourcesIn(asked: readonly AskedGrant[]): readonly ResourceWords[] {
  return asked.flatMap(({ resources = [] }) => resources);
}

type ResourceWords = Pick<Resource, "name" | "displayName" | "kind">;

async function issue(
  used: Approval,
  id: string,
  { approved, operations, resources }: Left,
  { principal, invoker }: Caller,
  context: AgentContext,
): Promise<IssuedCapability | undefined> {
  const { asked } = approved;
  const grant = context.grants.get(asked.grant);
  if (grant === undefined) return undefined;
  const now = context.clock();
  const { hop: own = {} } = asked.hops[0] ?? {};
  const ends = [
    used.updated + used.subject.lifetime * 1000,
    ...(own.expires === undefined ? [] : [parseTime(own.expires) ?? now]),
  ];
  const expires = formatTime(Math.min(...ends, now + context.issuer.maxLifetime * 1000));
  if (expires <= formatTime(now)) return undefined;
  const further = approved.hops.map(({ hop }) => hop);
  const numbers = await context.handles.numbersOf((resources ?? []).map(({ name }) => name));
  // What was revoked meanwhile would come back by a token of a later moment.
  await context.issuer.catchUp();
  if (known(context.registry).approvals.isVoid(used)) return undefined;
  const { capability, identifier } = context.issuer.issue(
    (draft) => {
      const handles = composed(numbers, draft.handles([...numbers.values()]));
      return {
        ...sealedAfter(own, further.length),
        ...{ operations, expires, grant: asked.grant, principal },
        ...(resources === undefined ? {} : { resourceHandles: [...handles.values()] }),
        // Sealed after what the approvers took away.
        ...(grant.attenuable ? {} : { maxFurtherHops: further.length }),
      };
    },
    { id },
  );
  const [hop = ""] = hopTexts([capability.hop]);
  const { query } = used.subject;
  return {
    ...{ id, identifier, principal, invoker, expires, hop },
    ...(further.length === 0 ? {} : { further: hopTexts(further) }),
    ...(query === undefined || resources === undefined ? {} : { query }),
  };
}

/** A capability that was issued, as it is handed to its party. */
async function grantedFrom(
  kept: IssuedCapability,
  words: readonly ResourceWords[],
  { issuer, handles, grants }: AgentContext,
): Promise<GrantedCapability | undefined> {
  const made = madeToken(issuer, kept);
  if (made === undefined) return undefined;
  const { token, keyId, revocationId, authority } = made;
  const { grant }: { readonly grant: string } = JSON.parse(kept.identifier);
  const { operations = [], resourceHandles, furtherHops, expires = kept.expires } = authority;
  const names = await handles.open({ id: kept.id, keyId }, resourceHandles ?? []);
  const named = (resourceHandles ?? []).flatMap((handle): NamedHandle[] => {
    const found = words.find(({ name }) => name === names.get(handle));
    return found === undefined
      ? []
      : [{ handle, displayName: found.displayName, kind: found.kind }];
  });
  return {
    ...{ id: kept.id, grant, token, operations, expires, revocationId, principal: kept.principal },
    ...(resourceHandles === undefined ? {} : { resourceHandles: named }),
    attenuable: furtherHops === undefined || furtherHops > 0,
    ...(grants.get(grant)?.legacy === true ? { legacy: LEGACY_NOTICE } : {}),
  };
}

/** What of the approved grants is still there, and still allowed by the policy. */
async function whatIsLeft(
  approval: Approval,
  caller: Caller,
  context: AgentContext,
): Promise<readonly Left[]> {
  const left: Left[] = [];
  for (const approved of resultOf(approval, context.clock())) {
    const { asked, granted } = approved;
    const grant = context.grants.get(asked.grant);
    if (!granted || grant === undefined) continue;
    const permissions = await ownPermissions(caller, asked.grant, context);
    const operations = asked.operations.filter(
      (operation) =>
        grant.operations.includes(operation) && permitsOperation(permissions, operation),
    );
    if (operations.length === 0) continue;
    if (asked.resources === undefined) {
      left.push({ approved, operations });
      continue;
    }
    const resources: Resource[] = [];
    for (const { name, kind } of asked.resources) {
      const resource = await context.resources?.get(name);
      if (resource === undefined || resource.kind !== kind) continue;
      // Every operation may be done to every resource, or a capability would hold a pair that the policy does not.
      const allowed = operations.every(
        (operation) =>
          targetFor(operation, context) === kind &&
          permitsResource(permissions, operation, resource),
      );
      if (allowed) resources.push(resource);
    }
    if (resources.length > 0) left.push({ approved, operations, resources });
  }
  return left;
}

function targetFor(operation: string, { operations }: AgentContext): string {
  const known = operations.get(operation);
  return known === undefined ? "none" : targetOf(known);
}

function refusedOf(
  approval: Approval,
  left: readonly Left[],
  now: number,
): readonly RefusedGrant[] {
  return resultOf(approval, now).flatMap(({ asked, granted, place, reason }): RefusedGrant[] => {
    if (left.some(({ approved }) => approved.place === place)) return [];
    const message = granted
      ? "what was approved is not there any more, or the policy no longer allows it"
      : (reason ?? "an approver denied it");
    return [{ grant: asked.grant, takenBy: granted ? "policy" : "approval", message }];
  });
}

function wordsOf(approval: Approval): string {
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
