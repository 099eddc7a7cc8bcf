import { outcomeOf } from "./answering.js";
import { checkTexts } from "./asking.js";
import { everyRecord } from "./every-record.js";
import { newId } from "./granting.js";
import { hostFor } from "./hosts.js";
import { hostWithKey, seenAgent, seenGrant } from "./looking.js";
import { openApproval } from "./opening.js";
import { leave, type Outcome } from "./outcomes.js";
import type { RegistryContext } from "./registry-context.js";
import type { RegistryDraft } from "./registry-store.js";
import type { AskedAnswer, Claim } from "./requests.js";

/** @see Registry.claim */
export async function claimAgent(
  asked: Claim,
  context: RegistryContext,
): Promise<Outcome<AskedAnswer>> {
  const about = { record: asked.agent, purpose: asked.purpose?.slice(0, 512) };
  return outcomeOf("agent.claim_requested", about, context, async () => {
    checkTexts(asked);
    const id = newId("host", context);
    return context.store.change((draft) => claim(draft, asked, id, context));
  });
}

async function claim(
  draft: RegistryDraft,
  asked: Claim,
  newHost: string,
  context: RegistryContext,
): Promise<AskedAnswer> {
  const known = await hostWithKey(draft, asked.hostThumbprint);
  // The host that asks; the agent's is another, or the same.
  const asking = await hostFor(draft, known, asked, { id: newHost, alone: false }, context);
  await draft.put("hosts", asking);
  const kept = await draft.agents.get(asked.agent);
  const host = kept === undefined ? undefined : await draft.hosts.get(kept.host);
  if (kept === undefined || host === undefined) {
    return leave("agent_not_found", "there is no such agent");
  }
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
