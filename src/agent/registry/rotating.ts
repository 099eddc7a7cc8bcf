import type { JsonObject } from "../../bytes/json.js";
import { outcomeOf } from "./answering.js";
import { registryEvent } from "./keeping.js";
import { hostWithKey } from "./looking.js";
import { leave, type Outcome } from "./outcomes.js";
import type { AgentRecord, HostRecord } from "./records.js";
import type { RegistryContext } from "./registry-context.js";
import { everyRecord } from "./registry-store.js";
import { livingAgent } from "./requesting.js";

/** @see Registry.rotateAgentKey */
export async function rotateAgentKey(
  id: string,
  key: JsonObject,
  thumbprint: string,
  context: RegistryContext,
): Promise<Outcome<{ readonly agent: AgentRecord }>> {
  const about = { asker: { agent: id }, record: id, agent: id };
  return outcomeOf("agent.key_rotated", about, context, () =>
    context.store.change(async (draft) => {
      const { agent, host } = await livingAgent(draft, id, context);
      const others = await everyRecord(draft.agents, { host: host.id });
      const taken = others.some(
        (one) => one.thumbprint === thumbprint && one.id !== id && one.status !== "revoked",
      );
      if (taken) leave("key_in_use", "another agent of this host has this key");
      const now = context.clock();
      // Another agent of the host that takes the key at the same time is a conflict by this.
      await draft.put("hosts", host);
      const rotated: AgentRecord = { ...agent, key, thumbprint, updated: now };
      await draft.put("agents", rotated);
      const about = { record: id, agent: id, principal: agent.principal };
      draft.note(registryEvent("agent.key_rotated", now, about));
      return { agent: rotated };
    }),
  );
}

/** @see Registry.rotateHostKey */
export async function rotateHostKey(
  id: string,
  key: JsonObject,
  thumbprint: string,
  context: RegistryContext,
): Promise<Outcome<{ readonly host: HostRecord }>> {
  const about = { asker: { host: id }, record: id };
  return outcomeOf("host.key_rotated", about, context, () =>
    context.store.change(async (draft) => {
      const host = await draft.hosts.get(id);
      if (host === undefined) return leave("host_not_found", "there is no such host");
      if (host.status === "revoked") leave("host_revoked", "the host has been revoked");
      if (host.status === "enrolling") leave("host_pending", "the host has not given its key yet");
      const other = await hostWithKey(draft, thumbprint);
      if (other !== undefined && other.id !== id) {
        leave("key_in_use", "another host has this key, or had it");
      }
      const now = context.clock();
      const rotated: HostRecord = { ...host, key, thumbprint, updated: now };
      await draft.put("hosts", rotated);
      const about = { record: id, principal: host.principal };
      draft.note(registryEvent("host.key_rotated", now, about));
      return { host: rotated };
    }),
  );
}
