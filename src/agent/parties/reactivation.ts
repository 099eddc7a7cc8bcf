// Reactivates expired agents, with the defaults of their hosts as new grants.

import { keepAgentAnswer } from "./agent-approvals.js";
import {
  activatedAgent,
  currentAgent,
  type HostedAgent,
  hostedAgent,
  principalOfAgent,
  throwStatusRefusal,
  withWithheld,
} from "./agents.js";
import { outcomeOf } from "./answers.js";
import type { PartiesContext } from "./context.js";
import { partyEvent } from "./events.js";
import {
  currentGrant,
  endGrants,
  forgetGrants,
  initialStatus,
  newGrant,
  type PermittedCapabilities,
  permittedCapabilities,
  revokedCapabilities,
} from "./grants.js";
import { currentDefaults } from "./hosts.js";
import type { AgentRecord } from "./records.js";
import { type Outcome, throwRefusal } from "./refusals.js";
import { type AskedAnswer, readAsked } from "./requests.js";
import { everyRecord, type PartyDraft } from "./store.js";

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
