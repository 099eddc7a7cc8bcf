// Requests for a user to take over an autonomous agent.

import { openAgentApproval } from "./agent-approvals.js";
import { currentAgent, ownedAgent } from "./agents.js";
import { outcomeOf } from "./answers.js";
import type { PartiesContext } from "./context.js";
import { currentGrant } from "./grants.js";
import { type Outcome, throwRefusal } from "./refusals.js";
import { type AskedAnswer, type Claim, checkTexts } from "./requests.js";
import { everyRecord, type PartyDraft } from "./store.js";

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
