// Keys of hosts and agents: rotation, and proof by signatures.

import { livingAgent } from "./agents.js";
import { outcomeOf } from "./answers.js";
import type { PartiesContext } from "./context.js";
import { partyEvent } from "./events.js";
import { hostGivenKey, hostWithKey } from "./hosts.js";
import type { AgentRecord, HostRecord } from "./records.js";
import { type Outcome, throwRefusal } from "./refusals.js";
import type { NewKey } from "./requests.js";
import { everyRecord } from "./store.js";

/** @see Parties.rotateAgentKey */
export async function rotateAgentKey(
  id: string,
  { key, thumbprint, proven }: NewKey,
  context: PartiesContext,
): Promise<Outcome<{ readonly agent: AgentRecord }>> {
  const about = { asker: { agent: id }, record: id, agent: id };
  return outcomeOf("agent.key_rotated", about, context, () =>
    context.store.change(async (draft) => {
      const { agent, host } = await livingAgent(draft, id, context);
      const others = await everyRecord(draft.agents, { host: host.id });
      const taken = others.some(
        (one) => one.thumbprint === thumbprint && one.id !== id && one.unproven !== true,
      );
      if (taken) throwRefusal("key_in_use", "another agent of this host has this key, or had it");
      const now = context.clock();
      // Write the host too, so that there is a conflict if two of its agents take the same key at once.
      await draft.put("hosts", host);
      const { unproven: _, ...rest } = agent;
      const known = thumbprint === agent.thumbprint && agent.unproven !== true;
      const rotated: AgentRecord = {
        ...rest,
        key,
        thumbprint,
        updated: now,
        ...(proven || known ? {} : { unproven: true }),
      };
      await draft.put("agents", rotated);
      const about = { record: id, agent: id, principal: agent.principal };
      draft.note(partyEvent("agent.key_rotated", now, about));
      return { agent: rotated };
    }),
  );
}

/** @see Parties.agentProved */
export async function agentProved(
  id: string,
  thumbprint: string,
  context: PartiesContext,
): Promise<void> {
  await context.store.change(async (draft) => {
    const agent = await draft.agents.get(id);
    if (agent?.unproven !== true || agent.thumbprint !== thumbprint) return;
    const { unproven: _, ...proven } = agent;
    await draft.put("agents", proven);
  });
}

/** @see Parties.rotateHostKey */
export async function rotateHostKey(
  id: string,
  { key, thumbprint, proven }: NewKey,
  context: PartiesContext,
): Promise<Outcome<{ readonly host: HostRecord }>> {
  const about = { asker: { host: id }, record: id };
  return outcomeOf("host.key_rotated", about, context, () =>
    context.store.change(async (draft) => {
      const host = await draft.hosts.get(id);
      if (host === undefined) return throwRefusal("host_not_found", "there is no such host");
      if (host.status === "revoked") throwRefusal("host_revoked", "the host has been revoked");
      if (host.status === "enrolling")
        throwRefusal("host_pending", "the host has not given its key yet");
      const other = await hostWithKey(draft, thumbprint);
      if (other !== undefined && other.id !== id) {
        throwRefusal("key_in_use", "another host has this key, or had it");
      }
      const now = context.clock();
      const rotated = {
        ...hostGivenKey(host, { key, thumbprint }, proven || thumbprint === host.thumbprint),
        updated: now,
      };
      await draft.put("hosts", rotated);
      const about = { record: id, principal: host.principal };
      draft.note(partyEvent("host.key_rotated", now, about));
      return { host: rotated };
    }),
  );
}

/** @see Parties.hostProved */
export async function hostProved(
  id: string,
  thumbprint: string,
  context: PartiesContext,
): Promise<HostRecord | undefined> {
  const seen = await context.store.read((view) => view.hosts.get(id));
  if (seen === undefined || seen.thumbprint === thumbprint) return seen;
  if (seen.unproven?.thumbprint !== thumbprint) return undefined;
  return context.store.change(async (draft) => {
    const host = await draft.hosts.get(id);
    if (host?.unproven?.thumbprint !== thumbprint) {
      return host?.thumbprint === thumbprint ? host : undefined;
    }
    if (host.status === "revoked") return host;
    const other = await hostWithKey(draft, thumbprint);
    // Another host has proven this key. Accept the signature for this host, but do not record the key as proven
    // by this host.
    if (other !== undefined && other.status !== "revoked") return host;
    const now = context.clock();
    const proved = { ...hostGivenKey(host, host.unproven, true), updated: now };
    await draft.put("hosts", proved);
    const about = { record: id, principal: host.principal };
    draft.note(partyEvent("host.key_proven", now, about));
    return proved;
  });
}
