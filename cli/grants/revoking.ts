import type { Approval } from "../../src/agent/approvals/approval.js";
import { formatTime } from "../../src/caveats/time.js";
import type { CliError } from "../exit.js";
import { usageError } from "../exit.js";
import { findById } from "./found.js";
import type { OpenRegistry } from "./registry.js";

/** What was revoked, and how much with it. */
export interface Revoked {
  readonly id: string;
  readonly kind: "approval" | "grant" | "agent" | "host";
  /** Whether there was nothing to revoke any more. */
  readonly already: boolean;
  readonly effect: string;
}

const OPERATOR = { operator: true } as const;

/**
 * Revokes what an id stands for, with every token of it: a grant, all that an agent or a host has, or what an
 * approval granted. An approval that waits is taken back.
 *
 * @throws CliError if there is no such thing.
 */
export async function revokeById(
  { registry, revocations }: Pick<OpenRegistry, "registry" | "revocations">,
  id: string,
): Promise<Revoked> {
  if (id.startsWith("agent_")) {
    const outcome = await registry.revokeAgent(id, OPERATOR);
    if (!outcome.ok) throw unknown(outcome.message);
    const count = outcome.grants.length;
    return { id, kind: "agent", already: false, effect: `the agent, with ${grants(count)}` };
  }
  if (id.startsWith("host_")) {
    const outcome = await registry.revokeHost(id, OPERATOR);
    if (!outcome.ok) throw unknown(outcome.message);
    const agents = outcome.agentsRevoked === 1 ? "one agent" : `${outcome.agentsRevoked} agents`;
    return { id, kind: "host", already: false, effect: `the host, with ${agents}` };
  }
  const found = await findById(registry, id);
  if (found.kind === "grant") {
    const { status } = found.grant;
    const outcome = await registry.revokeGrant(id, OPERATOR);
    if (!outcome.ok) throw unknown(outcome.message);
    const already = status === "revoked" || status === "denied";
    return { id, kind: "grant", already, effect: "the grant, with every token of it" };
  }
  return revokeApproval({ registry, revocations }, found.approval);
}

/** Takes back what waits, and revokes what has been collected. */
async function revokeApproval(
  { registry, revocations }: Pick<OpenRegistry, "registry" | "revocations">,
  { id, subject, collected = {} }: Approval,
): Promise<Revoked> {
  if (await registry.approvals.cancel(id, OPERATOR)) {
    return {
      id,
      kind: "approval",
      already: false,
      effect: "the approval, which grants nothing any more",
    };
  }
  const at = formatTime(Date.now());
  let fresh = 0;
  for (const capability of Object.values(collected)) {
    const added = await revocations.add({ kind: "capability", id: capability, at });
    if (added !== "known") fresh++;
  }
  for (const { agentGrant } of subject.asked) {
    const grant = agentGrant === undefined ? undefined : await registry.grant(agentGrant);
    if (grant?.status !== "active") continue;
    const outcome = await registry.revokeGrant(grant.id, OPERATOR);
    if (outcome.ok) fresh++;
  }
  return {
    id,
    kind: "approval",
    already: fresh === 0,
    effect: `what it granted: ${grants(fresh)}`,
  };
}

function grants(count: number): string {
  return count === 1 ? "one grant" : `${count} grants`;
}

function unknown(message: string): CliError {
  return usageError(message, "proviso grants list has the ids");
}
