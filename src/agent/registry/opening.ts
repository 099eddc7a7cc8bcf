import type { ApprovalKind, ApprovalSubject, AskedGrant } from "../approvals/approval.js";
import { areApart, type OpenedApproval, oneRule, type RuleInTime } from "../approvals/opening.js";
import type { LedgerEvent } from "../ledger.js";
import { newId } from "./granting.js";
import { keepAsked } from "./keeping.js";
import { seenAgent } from "./looking.js";
import { type AgentAnswer, leave } from "./outcomes.js";
import type { AgentGrant, AgentRecord, HostRecord } from "./records.js";
import type { RegistryContext } from "./registry-context.js";
import { everyRecord, type RegistryDraft } from "./registry-store.js";
import type { AskedAnswer, AskingOptions } from "./requests.js";

export interface Opening {
  readonly kind: Exclude<ApprovalKind, "capabilities">;
  readonly host: HostRecord;
  readonly agent: AgentRecord;
  readonly grants: readonly AgentGrant[];
  readonly options: AskingOptions;
}

/** @throws Refused if too many wait, or different people would have to approve. */
export async function openApproval(
  draft: RegistryDraft,
  { kind, host, agent, grants, options }: Opening,
  context: RegistryContext,
): Promise<OpenedApproval> {
  const { approvals, settings, terms } = context;
  await checkBounds(draft, { kind, host, agent }, context);
  const { purpose, bindingMessage, loginHint, method = "user_code" } = options;
  const { principal } = host;
  // The asker names this user: it becomes the principal only by its own approval.
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
      host: hostIn(host),
      ...(audience.length === 0 ? {} : { audience: [...new Set(audience)] }),
      ...(purpose === undefined ? {} : { purpose }),
      ...(bindingMessage === undefined ? {} : { bindingMessage }),
      lifetime: settings.lifetimes.grant,
    },
    ...ruleOf(grants, context),
    method: (principal ?? hintedUser) === undefined ? "user_code" : method,
  });
}

/**
 * Stores an agent with its grants and pending requests, and the approval that these wait for.
 *
 * @param options - How to ask for the approval; `undefined` where the agent needs none.
 * @param event - What the ledger says of the agent, with its principal.
 */
export async function keepAnswered(
  draft: RegistryDraft,
  { host, agent, grants: made }: AgentAnswer,
  options: AskingOptions | undefined,
  event: LedgerEvent,
  context: RegistryContext,
): Promise<AskedAnswer> {
  const grants = made.filter(({ status }) => status === "pending");
  const opening = { kind: "agent-grants", host, agent, grants } as const;
  const opened: Partial<OpenedApproval> =
    options === undefined ? {} : await openApproval(draft, { ...opening, options }, context);
  const kept = made.map((grant) => waitingFor(opened.approval?.id, grant));
  await draft.put("agents", agent);
  draft.note(event);
  const { principal } = event;
  for (const grant of kept) await keepAsked(draft, grant, host, { principal }, context.clock());
  return { host, agent, grants: kept, ...opened };
}

/** A grant with the approval that it waits for, if it does. */
export function waitingFor(approval: string | undefined, grant: AgentGrant): AgentGrant {
  return grant.status === "pending" && approval !== undefined ? { ...grant, approval } : grant;
}

function hostIn({ id, name, named }: HostRecord): NonNullable<ApprovalSubject["host"]> {
  return { id, ...(name === undefined ? {} : { name }), ...(named ? { named } : {}) };
}

function ruleOf(
  grants: readonly AgentGrant[],
  { settings, terms }: Pick<RegistryContext, "settings" | "terms">,
): RuleInTime {
  const rule = oneRule(
    grants.map(({ capability: name }) => ({ name, approval: terms?.get(name)?.approval })),
    { rule: settings.approval, lifetime: settings.lifetimes.approval },
  );
  if (!areApart(rule)) return rule;
  const message = `capabilities: different people approve "${rule[0]}" and "${rule[1]}"; ask for them apart`;
  return leave("invalid_request", message, { path: "capabilities" });
}

async function checkBounds(
  draft: RegistryDraft,
  { kind, host, agent }: Pick<Opening, "kind" | "host" | "agent">,
  context: RegistryContext,
): Promise<void> {
  const { pendingPerAgent, pendingPerHost } = context.settings.bounds;
  let waiting = 0;
  for (const one of await everyRecord(draft.agents, { host: host.id })) {
    if (!["active", "pending", "expired"].includes(seenAgent(one, context).status)) continue;
    const open = { agent: one.id, state: "pending", openAt: context.clock() } as const;
    const pending = await draft.approvals.find(open);
    // Claims count apart: what one kind uses up, the other keeps.
    const own = pending.filter(({ subject }) => subject.kind === kind).length;
    waiting += own;
    if (one.id === agent.id && own >= pendingPerAgent) {
      leave("limit_exceeded", `${own} requests of this agent wait for a decision, as many as may`);
    }
  }
  if (waiting >= pendingPerHost) {
    leave(
      "limit_exceeded",
      `${waiting} requests of this host's agents wait for a decision, as many as may`,
    );
  }
}

/**
 * The user that a stranger's host names, while that user's list has room for strangers; beyond it, the user code
 * alone leads to the request. Requests of hosts that a user has taken on take none of that room.
 */
async function hintWithRoom(
  draft: RegistryDraft,
  user: string | undefined,
  { settings, clock }: Pick<RegistryContext, "settings" | "clock">,
): Promise<string | undefined> {
  if (user === undefined) return undefined;
  const query = { approver: user, state: "pending", openAt: clock() } as const;
  // Page by page: the bound may be larger than one look.
  const waiting = await everyRecord(draft.approvals, query);
  const addressed = waiting.filter(({ subject }) => subject.hintedUser === user);
  return addressed.length < settings.bounds.pendingPerUser ? user : undefined;
}
