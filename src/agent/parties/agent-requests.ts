// Requests of registered agents: for more grants, for reactivation, or to be taken over by a user.

import {
  keepAgentAnswer,
  openAgentApproval,
  settlePendingApprovals,
  withApproval,
} from "./agent-approvals.js";
import {
  activatedAgent,
  currentAgent,
  type HostedAgent,
  hostedAgent,
  livingAgent,
  ownedAgent,
  principalOfAgent,
  throwStatusRefusal,
  withWithheld,
} from "./agents.js";
import {
  keepRepeatedAnswer,
  outcomeOf,
  type RepeatableRequest,
  repeatableRequest,
  repeatedAnswer,
} from "./answers.js";
import type { OpenedApproval } from "./approval-requests.js";
import type { PartiesContext } from "./context.js";
import { partyEvent } from "./events.js";
import { coversWanted } from "./grant-coverage.js";
import {
  currentGrant,
  endGrants,
  forgetGrants,
  initialStatus,
  keepAskedGrant,
  newGrant,
  type PermittedCapabilities,
  permittedCapabilities,
  revokedCapabilities,
} from "./grants.js";
import { currentDefaults, isUsersHost } from "./hosts.js";
import type { AgentGrant, AgentRecord } from "./records.js";
import { type Outcome, throwRefusal } from "./refusals.js";
import {
  type AskedAnswer,
  type Claim,
  checkTexts,
  type GrantRequest,
  readAsked,
  type Wanted,
} from "./requests.js";
import { everyRecord, type PartyDraft } from "./store.js";

/** @see Parties.requestGrants */
export async function requestGrants(
  id: string,
  asked: GrantRequest,
  context: PartiesContext,
): Promise<Outcome<AskedAnswer>> {
  const about = { asker: { agent: id }, agent: id, purpose: asked.purpose?.slice(0, 512) };
  return outcomeOf("grant.requested", about, context, async () => {
    checkTexts(asked);
    if (asked.capabilities.length === 0) {
      throwRefusal("invalid_request", "capabilities: must name at least one", {
        path: "capabilities",
      });
    }
    const wanted = readAsked(asked.capabilities, context);
    const { idempotencyKey, ...request } = asked;
    const repeat = repeatableRequest(id, idempotencyKey, request, context);
    await settlePendingApprovals(id, context);
    for (;;) {
      const principal = await context.store.read(async (view) => {
        const found = await hostedAgent(view, id);
        return found === undefined ? undefined : principalOfAgent(found.agent, found.host);
      });
      const terms = wanted.map(({ term }) => term);
      const permitted = await permittedCapabilities(principal, id, terms, context);
      const facts = { principal, permitted, repeat };
      const answer = await context.store.change((draft) =>
        requestGrantsIn(draft, id, wanted, asked, facts, context),
      );
      if (answer !== undefined) return answer;
    }
  });
}

interface RequestFacts {
  readonly principal: string | undefined;
  readonly permitted: PermittedCapabilities;
  readonly repeat: RepeatableRequest;
}

async function requestGrantsIn(
  draft: PartyDraft,
  id: string,
  wanted: readonly Wanted[],
  asked: GrantRequest,
  { principal, permitted, repeat }: RequestFacts,
  context: PartiesContext,
): Promise<AskedAnswer | undefined> {
  // Read and write the agent first. Every later read is then at least as new, and a concurrent change of the
  // agent causes a conflict.
  const seen = await draft.agents.get(id);
  if (seen !== undefined) await draft.put("agents", seen);
  const before = await repeatedAnswer(draft, repeat, context);
  if (before !== undefined) return before;
  const { agent, host } = await livingAgent(draft, id, context);
  if (principalOfAgent(agent, host) !== principal) return undefined;
  const now = context.clock();
  const kept = await everyRecord(draft.grants, { agent: id });
  const all = kept.map((grant) => currentGrant(grant, context));
  const live = all.filter(({ status }) => status === "active");
  const waiting = all.filter(({ status }) => status === "pending");
  const uncovered = wanted.filter((one) => !live.some((grant) => coversWanted(grant, one, now)));
  if (uncovered.length === 0) {
    const capabilities = wanted.map(({ term }) => term.name);
    throwRefusal("already_granted", "all that is asked for is granted already", { capabilities });
  }
  const fresh = uncovered.filter((one) => !waiting.some((grant) => coversWanted(grant, one, now)));
  // Only an autonomous agent, which has no user, gets more defaults without an approval. A delegated agent
  // needs its user's consent for everything that it did not get at its registration.
  const defaults = agent.mode === "autonomous" ? currentDefaults(host, context) : [];
  const owner = withWithheld(agent, revokedCapabilities(kept, context));
  const granting = { host, agent: owner, defaults, permitted };
  const living = live.length + waiting.length + fresh.length;
  if (living > context.settings.bounds.grantsPerAgent) {
    throwRefusal("limit_exceeded", "the agent already has the maximum of grants; revoke some");
  }
  const made: AgentGrant[] = [];
  for (const one of fresh) {
    const standing = initialStatus(one.term, granting);
    made.push(inPlaceOfDenied(all, newGrant(one, granting, standing, asked.purpose, context)));
  }
  const pending = made.filter(({ status }) => status === "pending");
  const opened =
    pending.length === 0
      ? await openApprovalOf(draft, waiting, uncovered, now, context)
      : await openAgentApproval(
          draft,
          { kind: "agent-grants", host, agent, grants: pending, options: asked },
          context,
        );
  const approval = opened?.approval.id;
  for (const [at, grant] of made.entries()) {
    const own = withApproval(approval, grant);
    made[at] = own;
    await keepAskedGrant(draft, own, host, { principal }, now);
  }
  const covering = [...live, ...waiting].filter((grant) =>
    wanted.some((one) => coversWanted(grant, one, now)),
  );
  // A new grant may have replaced a denied grant under the same id. Leave out the denied grant: `forgetGrants` removes
  // by id, and would remove the new grant.
  const others = all.filter(({ id: old }) => !made.some((grant) => grant.id === old));
  await forgetGrants(draft, others, now);
  const answer = { host, agent, grants: [...covering, ...made], ...(opened ?? {}) };
  // Do not store an answer that denies everything to an agent of an unlinked host. A retry is then judged
  // again.
  if (isUsersHost(host) || made.some(({ status }) => status !== "denied")) {
    await keepRepeatedAnswer(draft, repeat, answer, context);
  }
  return answer;
}

/**
 * Gives a denied grant the id of an earlier grant for the same capability that was denied without an approval, so that
 * such grants do not accumulate.
 */
function inPlaceOfDenied(all: readonly AgentGrant[], grant: AgentGrant): AgentGrant {
  if (grant.status !== "denied") return grant;
  const before = all.find(
    ({ status, approval, capability }) =>
      status === "denied" && approval === undefined && capability === grant.capability,
  );
  return before === undefined ? grant : { ...grant, id: before.id, created: before.created };
}

/** Returns the pending approval of a grant that covers a requested capability, if there is one. */
async function openApprovalOf(
  draft: PartyDraft,
  waiting: readonly AgentGrant[],
  asked: readonly Wanted[],
  now: number,
  { approvals }: Pick<PartiesContext, "approvals">,
): Promise<OpenedApproval | undefined> {
  const grant = waiting.find((one) => asked.some((each) => coversWanted(one, each, now)));
  const approval =
    grant?.approval === undefined ? undefined : await draft.approvals.get(grant.approval);
  return approval === undefined ? undefined : approvals.reopened(draft, approval);
}

/** @see Parties.claim */
export async function claimAgent(
  asked: Claim,
  context: PartiesContext,
): Promise<Outcome<AskedAnswer>> {
  const about = { asker: asked.by, record: asked.agent, purpose: asked.purpose?.slice(0, 512) };
  return outcomeOf("agent.claim_requested", about, context, async () => {
    checkTexts(asked);
    return context.store.change((draft) => claimAgentIn(draft, asked, context));
  });
}

async function claimAgentIn(
  draft: PartyDraft,
  asked: Claim,
  context: PartiesContext,
): Promise<AskedAnswer> {
  const { agent: kept, host } = await ownedAgent(draft, asked.agent, asked.by);
  const agent = currentAgent(kept, context);
  if (agent.mode !== "autonomous") {
    throwRefusal("unsupported_mode", "only an autonomous agent can be taken over");
  }
  if (agent.status === "claimed")
    throwRefusal("agent_claimed", "the agent has been taken over already");
  if (agent.status !== "active") throwRefusal("agent_not_found", "the agent is not active");
  if (host.principal !== undefined)
    throwRefusal("agent_claimed", "the agent's host is a user's already");
  await draft.put("agents", kept);
  const all = await everyRecord(draft.grants, { agent: agent.id });
  const grants = all.map((grant) => currentGrant(grant, context));
  const active = grants.filter(({ status }) => status === "active");
  const words = asked.bindingMessage ?? `Take over the autonomous agent "${agent.name}"`;
  const options = { ...asked, bindingMessage: words.slice(0, 512) };
  const opening = { kind: "agent-claim", host, agent, grants: active, options } as const;
  return { host, agent, grants, ...(await openAgentApproval(draft, opening, context)) };
}

/** @see Parties.reactivate */
export async function reactivateAgent(
  id: string,
  context: PartiesContext,
): Promise<Outcome<AskedAnswer>> {
  const about = { asker: { agent: id }, record: id, agent: id };
  return outcomeOf("agent.reactivated", about, context, async () => {
    for (;;) {
      const { seen, kept } = await context.store.read(async (view) => ({
        seen: await hostedAgent(view, id),
        kept: await everyRecord(view.grants, { agent: id }),
      }));
      const revoked = revokedCapabilities(kept, context);
      const names = seen === undefined ? [] : currentDefaults(seen.host, context);
      const principal = seen === undefined ? undefined : principalOfAgent(seen.agent, seen.host);
      const terms = names.flatMap((name) => context.terms?.get(name) ?? []);
      const permitted = await permittedCapabilities(principal, id, terms, context);
      const answer = await context.store.change(async (draft) => {
        const found = await hostedAgent(draft, id);
        if (found === undefined) return throwRefusal("agent_not_found", "there is no such agent");
        if (principalOfAgent(found.agent, found.host) !== principal) return undefined;
        return reactivateAgentIn(draft, found, { permitted, revoked }, context);
      });
      if (answer !== undefined) return answer;
    }
  });
}

/** Values that are determined before the transaction. */
interface ReactivationFacts {
  /** The capabilities that the policy permits. */
  readonly permitted: PermittedCapabilities;
  /** The names of the capabilities whose grants the revocation list has ended. */
  readonly revoked: readonly string[];
}

async function reactivateAgentIn(
  draft: PartyDraft,
  { agent: kept, host }: HostedAgent,
  { permitted, revoked }: ReactivationFacts,
  context: PartiesContext,
): Promise<AskedAnswer> {
  const agent = currentAgent(kept, context);
  const now = context.clock();
  if (agent.status === "active") {
    const grants = await everyRecord(draft.grants, { agent: agent.id });
    return { host, agent, grants: grants.map((grant) => currentGrant(grant, context)) };
  }
  if (agent.status === "revoked" && kept.status !== "revoked") {
    const message = "the agent has lived as long as it may; the host can register another";
    throwRefusal("absolute_lifetime_exceeded", message);
  }
  if (agent.status !== "expired") throwStatusRefusal(agent.status);
  if (host.status === "revoked") throwRefusal("host_revoked", "the agent's host has been revoked");
  await draft.put("hosts", host);
  const owner = withWithheld(agent, revoked);
  for (const approval of await draft.approvals.find({ agent: agent.id, state: "pending" })) {
    await context.approvals.cancelIn(draft, approval, { agent: agent.id });
  }
  await endGrants(draft, agent, { reason: REACTIVATED, by: {}, now }, context);
  await forgetGrants(draft, await everyRecord(draft.grants, { agent: agent.id }), now);
  const { withheld = [] } = owner;
  const defaults = currentDefaults(host, context).filter((name) => !withheld.includes(name));
  const wanted = readAsked(
    defaults.map((name) => ({ name })),
    context,
  );
  const granting = { host, agent: owner, defaults, permitted };
  const made = wanted.map((one) =>
    newGrant(one, granting, initialStatus(one.term, granting), undefined, context),
  );
  const needsApproval = made.some(({ status }) => status === "pending") || host.status !== "active";
  const after: AgentRecord = needsApproval
    ? { ...withoutExpiry(owner), status: "pending", updated: now }
    : activatedAgent(owner, host, now, context);
  const principal = principalOfAgent(after, host);
  const about = { record: agent.id, agent: agent.id, principal };
  const event = partyEvent("agent.reactivated", now, about);
  const answer = { host, agent: after, grants: made };
  return keepAgentAnswer(draft, answer, needsApproval ? {} : undefined, event, context);
}

/** The reason for revoking the old grants of a reactivated agent. The agent gets the host's defaults as new grants. */
const REACTIVATED = "the agent was reactivated";

function withoutExpiry({ expires: _, activated: __, ...agent }: AgentRecord): AgentRecord {
  return agent;
}
