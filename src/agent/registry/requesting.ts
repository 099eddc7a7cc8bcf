import type { OpenedApproval } from "../approvals/opening.js";
import { answeredBefore, keepAnswer, outcomeOf, type Repeatable, repeatable } from "./answering.js";
import { checkTexts, readAsked, type Wanted } from "./asking.js";
import { forgetGrants } from "./forgetting.js";
import {
  coversWanted,
  newGrant,
  permittedOf,
  principalOfAgent,
  standingOf,
  withholding,
} from "./granting.js";
import { defaultsOf } from "./hosts.js";
import { keepAsked } from "./keeping.js";
import {
  type HostedAgent,
  hostedAgent,
  isOfUser,
  revokedNames,
  seenAgent,
  seenGrant,
  settleApprovalsOf,
} from "./looking.js";
import { openApproval, waitingFor } from "./opening.js";
import { leave, type Outcome, type RegistryCode } from "./outcomes.js";
import type { AgentGrant, AgentStatus } from "./records.js";
import type { RegistryContext } from "./registry-context.js";
import { everyRecord, type RegistryDraft } from "./registry-store.js";
import type { AskedAnswer, Claim, GrantRequest } from "./requests.js";
import { ownedAgent } from "./revoking.js";

/** @see Registry.requestGrants */
export async function requestGrants(
  id: string,
  asked: GrantRequest,
  context: RegistryContext,
): Promise<Outcome<AskedAnswer>> {
  const about = { asker: { agent: id }, agent: id, purpose: asked.purpose?.slice(0, 512) };
  return outcomeOf("grant.requested", about, context, async () => {
    checkTexts(asked);
    if (asked.capabilities.length === 0) {
      leave("invalid_request", "capabilities: must name at least one", { path: "capabilities" });
    }
    const wanted = readAsked(asked.capabilities, context);
    const { idempotencyKey, ...request } = asked;
    const repeat = repeatable(id, idempotencyKey, request, context);
    await settleApprovalsOf(id, context);
    for (;;) {
      const principal = await context.store.read(async (view) => {
        const found = await hostedAgent(view, id);
        return found === undefined ? undefined : principalOfAgent(found.agent, found.host);
      });
      const terms = wanted.map(({ term }) => term);
      const permitted = await permittedOf(principal, id, terms, context);
      const facts = { principal, permitted, repeat };
      const answer = await context.store.change((draft) =>
        requested(draft, id, wanted, asked, facts, context),
      );
      if (answer !== undefined) return answer;
    }
  });
}

interface Facts {
  readonly principal: string | undefined;
  readonly permitted: ReadonlySet<string>;
  readonly repeat: Repeatable;
}

async function requested(
  draft: RegistryDraft,
  id: string,
  wanted: readonly Wanted[],
  asked: GrantRequest,
  { principal, permitted, repeat }: Facts,
  context: RegistryContext,
): Promise<AskedAnswer | undefined> {
  // Read first: later reads are not older, and any concurrent change of the agent is a conflict.
  const seen = await draft.agents.get(id);
  if (seen !== undefined) await draft.put("agents", seen);
  const before = await answeredBefore(draft, repeat, context);
  if (before !== undefined) return before;
  const { agent, host } = await livingAgent(draft, id, context);
  if (principalOfAgent(agent, host) !== principal) return undefined;
  const now = context.clock();
  const kept = await everyRecord(draft.grants, { agent: id });
  const all = kept.map((grant) => seenGrant(grant, context));
  const live = all.filter(({ status }) => status === "active");
  const waiting = all.filter(({ status }) => status === "pending");
  const uncovered = wanted.filter((one) => !live.some((grant) => coversWanted(grant, one, now)));
  if (uncovered.length === 0) {
    const capabilities = wanted.map(({ term }) => term.name);
    leave("already_granted", "all that is asked for is granted already", { capabilities });
  }
  const fresh = uncovered.filter((one) => !waiting.some((grant) => coversWanted(grant, one, now)));
  // More than a delegated agent began with takes its user's consent; an autonomous agent has no user.
  const defaults = agent.mode === "autonomous" ? defaultsOf(host, context) : [];
  const owner = withholding(agent, revokedNames(kept, context));
  const granting = { host, agent: owner, defaults, permitted };
  const living = live.length + waiting.length + fresh.length;
  if (living > context.settings.bounds.grantsPerAgent) {
    leave("limit_exceeded", "the agent has as many grants as it may; revoke some");
  }
  const made: AgentGrant[] = [];
  for (const one of fresh) {
    const standing = standingOf(one.term, granting);
    made.push(again(all, newGrant(one, granting, standing, asked.purpose, context)));
  }
  const pending = made.filter(({ status }) => status === "pending");
  const opened =
    pending.length === 0
      ? await openOf(draft, waiting, uncovered, now, context)
      : await openApproval(
          draft,
          { kind: "agent-grants", host, agent, grants: pending, options: asked },
          context,
        );
  const approval = opened?.approval.id;
  for (const [at, grant] of made.entries()) {
    const own = waitingFor(approval, grant);
    made[at] = own;
    await keepAsked(draft, own, host, { principal }, now);
  }
  const covering = [...live, ...waiting].filter((grant) =>
    wanted.some((one) => coversWanted(grant, one, now)),
  );
  // One that was denied at once may have taken the place of another.
  const others = all.filter(({ id: old }) => !made.some((grant) => grant.id === old));
  await forgetGrants(draft, others, now);
  const answer = { host, agent, grants: [...covering, ...made], ...(opened ?? {}) };
  // What is denied at once, a stranger that asks again is denied again.
  if (isOfUser(host) || made.some(({ status }) => status !== "denied")) {
    await keepAnswer(draft, repeat, answer, context);
  }
  return answer;
}

/** A grant that is denied at once takes the place of one that was denied before, so that they do not add up. */
function again(all: readonly AgentGrant[], grant: AgentGrant): AgentGrant {
  if (grant.status !== "denied") return grant;
  const before = all.find(
    ({ status, approval, capability }) =>
      status === "denied" && approval === undefined && capability === grant.capability,
  );
  return before === undefined ? grant : { ...grant, id: before.id, created: before.created };
}

/** The pending approval that already covers the request. */
async function openOf(
  draft: RegistryDraft,
  waiting: readonly AgentGrant[],
  asked: readonly Wanted[],
  now: number,
  { approvals }: Pick<RegistryContext, "approvals">,
): Promise<OpenedApproval | undefined> {
  const grant = waiting.find((one) => asked.some((each) => coversWanted(one, each, now)));
  const approval =
    grant?.approval === undefined ? undefined : await draft.approvals.get(grant.approval);
  return approval === undefined ? undefined : approvals.reopened(draft, approval);
}

const REFUSALS: {
  readonly [Status in Exclude<AgentStatus, "active">]: readonly [RegistryCode, string];
} = {
  pending: ["agent_pending", "the agent waits for a user's approval"],
  expired: ["agent_expired", "the agent has expired; its host can reactivate it"],
  revoked: ["agent_revoked", "the agent has been revoked"],
  rejected: ["agent_rejected", "an approver denied the agent's registration"],
  claimed: ["agent_claimed", "a user took the agent over, which ended it"],
};

/** Leaves a change for an agent that is not active. */
export function refuseStatus(status: Exclude<AgentStatus, "active">): never {
  return leave(...REFUSALS[status]);
}

/** An agent that may act, and its host. @throws Refused */
export async function livingAgent(
  draft: RegistryDraft,
  id: string,
  context: RegistryContext,
): Promise<HostedAgent> {
  const found = await hostedAgent(draft, id);
  if (found === undefined) return leave("agent_not_found", "there is no such agent");
  const { host } = found;
  if (host.status === "revoked") leave("host_revoked", "the agent's host has been revoked");
  const agent = seenAgent(found.agent, context);
  if (agent.status !== "active") refuseStatus(agent.status);
  if (host.status !== "active")
    leave("host_pending", "the agent's host waits for a user's approval");
  return { agent, host };
}

/** @see Registry.claim */
export async function claimAgent(
  asked: Claim,
  context: RegistryContext,
): Promise<Outcome<AskedAnswer>> {
  const about = { asker: asked.by, record: asked.agent, purpose: asked.purpose?.slice(0, 512) };
  return outcomeOf("agent.claim_requested", about, context, async () => {
    checkTexts(asked);
    return context.store.change((draft) => claim(draft, asked, context));
  });
}

async function claim(
  draft: RegistryDraft,
  asked: Claim,
  context: RegistryContext,
): Promise<AskedAnswer> {
  const { agent: kept, host } = await ownedAgent(draft, asked.agent, asked.by);
  const agent = seenAgent(kept, context);
  if (agent.mode !== "autonomous") {
    leave("unsupported_mode", "only an autonomous agent can be taken over");
  }
  if (agent.status === "claimed") leave("agent_claimed", "the agent has been taken over already");
  if (agent.status !== "active") leave("agent_not_found", "the agent is not active");
  if (host.principal !== undefined) leave("agent_claimed", "the agent's host is a user's already");
  await draft.put("agents", kept);
  const all = await everyRecord(draft.grants, { agent: agent.id });
  const grants = all.map((grant) => seenGrant(grant, context));
  const active = grants.filter(({ status }) => status === "active");
  const words = asked.bindingMessage ?? `Take over the autonomous agent "${agent.name}"`;
  const options = { ...asked, bindingMessage: words.slice(0, 512) };
  const opening = { kind: "agent-claim", host, agent, grants: active, options } as const;
  return { host, agent, grants, ...(await openApproval(draft, opening, context)) };
}
