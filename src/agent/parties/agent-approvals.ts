// Approvals for the requests of agents.

import type { LedgerEvent } from "../ledger.js";
import { currentAgent } from "./agents.js";
import type { OpenedApproval } from "./approval-requests.js";
import { areApart, oneRule, type RuleInTime } from "./approval-rules.js";
import { newId, type PartiesContext } from "./context.js";
import { keepAskedGrant } from "./grants.js";
import type {
  AgentGrant,
  AgentRecord,
  ApprovalKind,
  ApprovalSubject,
  AskedGrant,
  HostRecord,
} from "./records.js";
import { throwRefusal } from "./refusals.js";
import type { AgentAnswer, AskedAnswer, AskingOptions } from "./requests.js";
import { everyRecord, type PartyDraft } from "./store.js";

export interface AgentApprovalRequest {
  readonly kind: Exclude<ApprovalKind, "capabilities">;
  readonly host: HostRecord;
  readonly agent: AgentRecord;
  readonly grants: readonly AgentGrant[];
  readonly options: AskingOptions;
}

/** @throws RefusedError if too many requests wait already, or the requested grants have different approvers. */
export async function openAgentApproval(
  draft: PartyDraft,
  { kind, host, agent, grants, options }: AgentApprovalRequest,
  context: PartiesContext,
): Promise<OpenedApproval> {
  const { approvals, settings, terms } = context;
  await checkPendingBounds(draft, { kind, host, agent }, context);
  const { purpose, bindingMessage, loginHint, method = "user_code" } = options;
  const { principal } = host;
  // The request only names this user. The user becomes the principal by approving.
  const hintedUser =
    principal === undefined ? await hintWithRoom(draft, loginHint, context) : undefined;
  const asked = grants.map(
    (grant): AskedGrant => ({
      grant: grant.grant,
      operations: [grant.operation],
      hops: grant.hops,
      agentGrant: grant.id,
      name: grant.capability,
      description: terms?.get(grant.capability)?.description ?? grant.capability,
    }),
  );
  const audience = grants.flatMap(({ capability }) => terms?.get(capability)?.location ?? []);
  return approvals.open(draft, {
    subject: {
      kind,
      request: newId("request", context),
      asked,
      ...(principal === undefined ? {} : { principal }),
      ...(hintedUser === undefined ? {} : { hintedUser }),
      agent: { id: agent.id, name: agent.name },
      host: hostInSubject(host),
      ...(audience.length === 0 ? {} : { audience: [...new Set(audience)] }),
      ...(purpose === undefined ? {} : { purpose }),
      ...(bindingMessage === undefined ? {} : { bindingMessage }),
      lifetime: settings.lifetimes.grant,
    },
    ...approvalRuleOf(grants, context),
    method: (principal ?? hintedUser) === undefined ? "user_code" : method,
  });
}

/**
 * Stores an agent with its grants, and opens the approval that its pending grants wait for.
 *
 * @param options - The options of the approval; `undefined` if no approval is needed.
 * @param event - The ledger event about the agent, with the agent's principal.
 */
export async function keepAgentAnswer(
  draft: PartyDraft,
  { host, agent, grants: made }: AgentAnswer,
  options: AskingOptions | undefined,
  event: LedgerEvent,
  context: PartiesContext,
): Promise<AskedAnswer> {
  const grants = made.filter(({ status }) => status === "pending");
  const opening = { kind: "agent-grants", host, agent, grants } as const;
  const opened: Partial<OpenedApproval> =
    options === undefined ? {} : await openAgentApproval(draft, { ...opening, options }, context);
  const kept = made.map((grant) => withApproval(opened.approval?.id, grant));
  await draft.put("agents", agent);
  draft.note(event);
  const { principal } = event;
  for (const grant of kept)
    await keepAskedGrant(draft, grant, host, { principal }, context.clock());
  return { host, agent, grants: kept, ...opened };
}

/** Returns the grant. A pending grant gets the id of the approval for which it waits. */
export function withApproval(approval: string | undefined, grant: AgentGrant): AgentGrant {
  return grant.status === "pending" && approval !== undefined ? { ...grant, approval } : grant;
}

function hostInSubject({ id, name, named }: HostRecord): NonNullable<ApprovalSubject["host"]> {
  return { id, ...(name === undefined ? {} : { name }), ...(named ? { named } : {}) };
}

function approvalRuleOf(
  grants: readonly AgentGrant[],
  { settings, terms }: Pick<PartiesContext, "settings" | "terms">,
): RuleInTime {
  const rule = oneRule(
    grants.map(({ capability: name }) => ({ name, approval: terms?.get(name)?.approval })),
    { rule: settings.approval, lifetime: settings.lifetimes.approval },
  );
  if (!areApart(rule)) return rule;
  const message = `capabilities: different people approve "${rule[0]}" and "${rule[1]}"; ask for them apart`;
  return throwRefusal("invalid_request", message, { path: "capabilities" });
}

async function checkPendingBounds(
  draft: PartyDraft,
  { kind, host, agent }: Pick<AgentApprovalRequest, "kind" | "host" | "agent">,
  context: PartiesContext,
): Promise<void> {
  const { pendingPerAgent, pendingPerHost } = context.settings.bounds;
  let waiting = 0;
  for (const one of await everyRecord(draft.agents, { host: host.id })) {
    if (!["active", "pending", "expired"].includes(currentAgent(one, context).status)) continue;
    const open = { agent: one.id, state: "pending", openAt: context.clock() } as const;
    const pending = await draft.approvals.find(open);
    // Claims and grant requests are counted separately, so that neither uses up the other's limit.
    const own = pending.filter(({ subject }) => subject.kind === kind).length;
    waiting += own;
    if (one.id === agent.id && own >= pendingPerAgent) {
      throwRefusal(
        "limit_exceeded",
        `${own} requests of this agent wait for a decision, the maximum`,
      );
    }
  }
  if (waiting >= pendingPerHost) {
    throwRefusal(
      "limit_exceeded",
      `${waiting} requests of this host's agents wait for a decision, the maximum`,
    );
  }
}

/**
 * Returns the user that an unlinked host names. Returns `undefined` if the maximum number of requests of
 * unlinked hosts already waits for this user; then the request is found only by its user code.
 */
async function hintWithRoom(
  draft: PartyDraft,
  user: string | undefined,
  { settings, clock }: Pick<PartiesContext, "settings" | "clock">,
): Promise<string | undefined> {
  if (user === undefined) return undefined;
  const query = { approver: user, state: "pending", openAt: clock() } as const;
  // The limit may be larger than one page of results, so read all pages.
  const waiting = await everyRecord(draft.approvals, query);
  const addressed = waiting.filter(({ subject }) => subject.hintedUser === user);
  return addressed.length < settings.bounds.pendingPerUser ? user : undefined;
}

/** Settles an agent's pending requests that have ended without a decision, for example by expiring. */
export async function settlePendingApprovals(
  agent: string,
  { store, approvals }: PartiesContext,
): Promise<void> {
  const query = { agent, state: "pending" } as const;
  const waiting = await store.read((view) => view.approvals.find(query));
  if (waiting.every((one) => approvals.current(one) === one)) return;
  await store.change(async (draft) => {
    for (const approval of await draft.approvals.find(query)) {
      await approvals.settleIn(draft, approval);
    }
  });
}
