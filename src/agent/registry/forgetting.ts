import { isLive } from "./granting.js";
import type { AgentGrant, AgentRecord } from "./records.js";
import { everyRecord, type RegistryDraft } from "./registry-store.js";

/**
 * Ended grants of one agent, and ended agents of one host, that are kept: an agent that asks and revokes in turns
 * fills no database before the retention is over. The ledger says what became of all.
 */
const KEPT = 500;
/** Grants that one change removes at most, and agents, which have as many grants each. */
const [GRANTS_AT_ONCE, AGENTS_AT_ONCE] = [100, 2];
const ENDED: readonly string[] = ["revoked", "rejected", "claimed"];

/**
 * Removes the oldest ended grants of an agent, with their approvals, if there are too many.
 *
 * @param all - The agent's grants, as they were read in this draft.
 */
export async function forgetGrants(
  draft: RegistryDraft,
  all: readonly AgentGrant[],
  now: number,
): Promise<void> {
  const ended = all
    .filter((grant) => grant.status !== "pending" && !isLive(grant, now))
    .sort((a, b) => a.updated - b.updated);
  const surplus = Math.max(0, ended.length - KEPT);
  await removeGrants(draft, all, ended.slice(0, Math.min(GRANTS_AT_ONCE, surplus)));
}

/**
 * Removes the oldest ended agents of a host, with everything they had, if there are too many.
 *
 * @param all - The host's agents, as they were read in this draft.
 */
export async function forgetAgents(
  draft: RegistryDraft,
  all: readonly AgentRecord[],
): Promise<void> {
  const ended = all
    .filter(({ status }) => ENDED.includes(status))
    .sort((a, b) => a.updated - b.updated);
  const surplus = Math.max(0, ended.length - KEPT);
  for (const agent of ended.slice(0, Math.min(AGENTS_AT_ONCE, surplus))) {
    const grants = await everyRecord(draft.grants, { agent: agent.id });
    await removeGrants(draft, grants, grants);
    await draft.remove("agents", agent);
  }
}

async function removeGrants(
  draft: RegistryDraft,
  all: readonly AgentGrant[],
  removed: readonly AgentGrant[],
): Promise<void> {
  for (const grant of removed) await draft.remove("grants", grant);
  const left = new Set(all.filter((one) => !removed.includes(one)).map(({ approval }) => approval));
  for (const id of new Set(removed.flatMap(({ approval = [] }) => approval))) {
    const approval = left.has(id) ? undefined : await draft.approvals.get(id);
    if (approval === undefined) continue;
    if (approval.state === "pending" || approval.state === "approved") continue;
    await draft.remove("approvals", approval);
  }
}
