import { outcomeOf } from "./answering.js";
import { readAsked } from "./asking.js";
import { forgetGrants } from "./forgetting.js";
import { newGrant, permittedOf, principalOfAgent, standingOf, withholding } from "./granting.js";
import { defaultsOf } from "./hosts.js";
import { activated, registryEvent } from "./keeping.js";
import { type HostedAgent, hostedAgent, revokedNames, seenAgent, seenGrant } from "./looking.js";
import { keepAnswered } from "./opening.js";
import { leave, type Outcome } from "./outcomes.js";
import type { AgentRecord } from "./records.js";
import type { RegistryContext } from "./registry-context.js";
import { everyRecord, type RegistryDraft } from "./registry-store.js";
import { refuseStatus } from "./requesting.js";
import type { AskedAnswer } from "./requests.js";
import { endGrants } from "./settling.js";

/** @see Registry.reactivate */
export async function reactivateAgent(
  id: string,
  context: RegistryContext,
): Promise<Outcome<AskedAnswer>> {
  const about = { asker: { agent: id }, record: id, agent: id };
  return outcomeOf("agent.reactivated", about, context, async () => {
    for (;;) {
      const { seen, kept } = await context.store.read(async (view) => ({
        seen: await hostedAgent(view, id),
        kept: await everyRecord(view.grants, { agent: id }),
      }));
      const revoked = revokedNames(kept, context);
      const names = seen === undefined ? [] : defaultsOf(seen.host, context);
      const principal = seen === undefined ? undefined : principalOfAgent(seen.agent, seen.host);
      const terms = names.flatMap((name) => context.terms?.get(name) ?? []);
      const permitted = await permittedOf(principal, id, terms, context);
      const answer = await context.store.change(async (draft) => {
        const found = await hostedAgent(draft, id);
        if (found === undefined) return leave("agent_not_found", "there is no such agent");
        if (principalOfAgent(found.agent, found.host) !== principal) return undefined;
        return reactivate(draft, found, { permitted, revoked }, context);
      });
      if (answer !== undefined) return answer;
    }
  });
}

/** Values that are determined before the change. */
interface Facts {
  /** The names that the policy permits. */
  readonly permitted: ReadonlySet<string>;
  /** The names of what the revocation list ended. */
  readonly revoked: readonly string[];
}

async function reactivate(
  draft: RegistryDraft,
  { agent: kept, host }: HostedAgent,
  { permitted, revoked }: Facts,
  context: RegistryContext,
): Promise<AskedAnswer> {
  const agent = seenAgent(kept, context);
  const now = context.clock();
  if (agent.status === "active") {
    const grants = await everyRecord(draft.grants, { agent: agent.id });
    return { host, agent, grants: grants.map((grant) => seenGrant(grant, context)) };
  }
  if (agent.status === "revoked" && kept.status !== "revoked") {
    const message = "the agent has lived as long as it may; the host can register another";
    leave("absolute_lifetime_exceeded", message);
  }
  if (agent.status !== "expired") refuseStatus(agent.status);
  if (host.status === "revoked") leave("host_revoked", "the agent's host has been revoked");
  await draft.put("hosts", host);
  const owner = withholding(agent, revoked);
  for (const approval of await draft.approvals.find({ agent: agent.id, state: "pending" })) {
    await context.approvals.cancelIn(draft, approval, { agent: agent.id });
  }
  await endGrants(draft, agent, { reason: RESET, by: {}, now }, context);
  await forgetGrants(draft, await everyRecord(draft.grants, { agent: agent.id }), now);
  const { withheld = [] } = owner;
  const defaults = defaultsOf(host, context).filter((name) => !withheld.includes(name));
  const wanted = readAsked(
    defaults.map((name) => ({ name })),
    context,
  );
  const granting = { host, agent: owner, defaults, permitted };
  const made = wanted.map((one) =>
    newGrant(one, granting, standingOf(one.term, granting), undefined, context),
  );
  const needsApproval = made.some(({ status }) => status === "pending") || host.status !== "active";
  const after: AgentRecord = needsApproval
    ? { ...withoutExpiry(owner), status: "pending", updated: now }
    : activated(owner, host, now, context);
  const principal = principalOfAgent(after, host);
  const about = { record: agent.id, agent: agent.id, principal };
  const event = registryEvent("agent.reactivated", now, about);
  const answer = { host, agent: after, grants: made };
  return keepAnswered(draft, answer, needsApproval ? {} : undefined, event, context);
}

/** The reason for revoking the grants of a reactivated agent, which may get defaults again. */
const RESET = "the agent was reactivated";

function withoutExpiry({ expires: _, activated: __, ...agent }: AgentRecord): AgentRecord {
  return agent;
}
