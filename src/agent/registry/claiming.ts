import { outcomeOf } from "./answering.js";
import { checkTexts } from "./asking.js";
import { everyRecord } from "./every-record.js";
import { seenAgent, seenGrant } from "./looking.js";
import { openApproval } from "./opening.js";
import { leave, type Outcome } from "./outcomes.js";
import type { RegistryContext } from "./registry-context.js";
import type { RegistryDraft } from "./registry-store.js";
import type { AskedAnswer, Claim } from "./requests.js";
import { ownedAgent } from "./revoking.js";

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
