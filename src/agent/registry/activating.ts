import type { OpenedApproval } from "../approvals/opening.js";
import { outcomeOf } from "./answering.js";
import { readAsked } from "./asking.js";
import { registryEvent } from "./events.js";
import { everyRecord } from "./every-record.js";
import {
  endedNames,
  newGrant,
  permittedOf,
  principalOfAgent,
  RESET,
  standingOf,
} from "./granting.js";
import { defaultsOf } from "./hosts.js";
import { activated, keepGrant } from "./keeping.js";
import { seenAgent, seenGrant } from "./looking.js";
import { openApproval } from "./opening.js";
import { leave, type Outcome } from "./outcomes.js";
import type { AgentGrant, AgentRecord, HostRecord } from "./records.js";
import type { RegistryContext } from "./registry-context.js";
import type { RegistryDraft } from "./registry-store.js";
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
      const seen = await context.store.read((view) => hostOf(view, id));
      const names = seen === undefined ? [] : defaultsOf(seen.host, context);
      const principal = seen === undefined ? undefined : principalOfAgent(seen.agent, seen.host);
      const terms = names.flatMap((name) => context.terms?.get(name) ?? []);
      const permitted = await permittedOf(principal, id, terms, context);
      const answer = await context.store.change(async (draft) => {
        const found = await hostOf(draft, id);
        if (found === undefined) return leave("agent_not_found", "there is no such agent");
        if (principalOfAgent(found.agent, found.host) !== principal) return undefined;
        return reactivate(draft, found, permitted, context);
      });
      if (answer !== undefined) return answer;
    }
  });
}

interface Found {
  readonly agent: AgentRecord;
  readonly host: HostRecord;
}

async function hostOf(
  view: Pick<RegistryDraft, "agents" | "hosts">,
  id: string,
): Promise<Found | undefined> {
  const agent = await view.agents.get(id);
  const host = agent === undefined ? undefined : await view.hosts.get(agent.host);
  return agent === undefined || host === undefined ? undefined : { agent, host };
}

async function reactivate(
  draft: RegistryDraft,
  { agent: kept, host }: Found,
  permitted: ReadonlySet<string>,
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
  // Before the agent's own reset, which ends grants too.
  const ended = endedNames(await everyRecord(draft.grants, { agent: agent.id }));
  for (const approval of await draft.approvals.find({ agent: agent.id, state: "pending" })) {
    await context.approvals.cancelIn(draft, approval, { agent: agent.id });
  }
  await endGrants(draft, agent, RESET, now, context);
  const defaults = defaultsOf(host, context).filter((name) => !ended.has(name));
  const wanted = readAsked(
    defaults.map((name) => ({ name })),
    context,
  );
  const granting = { host, agent, defaults, permitted, ended };
  const made = wanted.map((one) =>
    newGrant(one, agent, standingOf(one.term, granting), undefined, context),
  );
  const pending = made.filter(({ status }) => status === "pending");
  const needsApproval = pending.length > 0 || host.status !== "active";
  const after: AgentRecord = needsApproval
    ? { ...withoutExpiry(agent), status: "pending", updated: now }
    : activated(agent, host, now, context);
  const opened: Partial<OpenedApproval> = needsApproval
    ? await openApproval(
        draft,
        { kind: "agent-grants", host, agent, grants: pending, options: {} },
        context,
      )
    : {};
  const approval = opened.approval?.id;
  const grants = made.map(
    (grant): AgentGrant =>
      grant.status === "pending" && approval !== undefined ? { ...grant, approval } : grant,
  );
  await draft.put("agents", after);
  const principal = principalOfAgent(after, host);
  draft.note(
    registryEvent("agent.reactivated", now, { record: agent.id, agent: agent.id, principal }),
  );
  for (const grant of grants) await keepGrant(draft, grant, principal, now);
  return { host, agent: after, grants, ...opened };
}

function withoutExpiry({ expires: _, activated: __, ...agent }: AgentRecord): AgentRecord {
  return agent;
}
