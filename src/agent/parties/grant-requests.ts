// Requests of registered agents for more grants.

import { openAgentApproval, settlePendingApprovals, withApproval } from "./agent-approvals.js";
import { hostedAgent, livingAgent, principalOfAgent, withWithheld } from "./agents.js";
import {
  keepRepeatedAnswer,
  outcomeOf,
  type RepeatableRequest,
  repeatableRequest,
  repeatedAnswer,
} from "./answers.js";
import type { OpenedApproval } from "./approval-requests.js";
import type { PartiesContext } from "./context.js";
import { coversWanted } from "./grant-coverage.js";
import {
  currentGrant,
  forgetGrants,
  initialStatus,
  keepAskedGrant,
  newGrant,
  type PermittedCapabilities,
  permittedCapabilities,
  revokedCapabilities,
} from "./grants.js";
import { currentDefaults, isUsersHost } from "./hosts.js";
import type { AgentGrant } from "./records.js";
import { type Outcome, throwRefusal } from "./refusals.js";
import {
  type AskedAnswer,
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
