import type { Parties } from "../../src/agent/parties/parties.js";
import type { AgentGrant, Approval } from "../../src/agent/parties/records.js";
import { MAX_FOUND } from "../../src/agent/parties/store.js";
import { formatTime } from "../../src/caveats/time.js";
import { type CliError, usageError } from "../exit.js";
import { quoted } from "../output.js";
import { didYouMean } from "../unknown-name.js";
import type { OpenParties } from "./parties.js";

export type Found =
  | { readonly kind: "approval"; readonly approval: Approval }
  | { readonly kind: "grant"; readonly grant: AgentGrant };

/**
 * Finds the object with an id.
 *
 * @throws CliError, with the most similar id, if there is no such object.
 */
export async function findById(parties: Parties, id: string): Promise<Found> {
  const approval = await parties.approvals.get(id);
  if (approval !== undefined) return { kind: "approval", approval };
  const grant = await parties.grant(id);
  if (grant !== undefined) return { kind: "grant", grant };
  throw await unknownId(parties, id);
}

/**
 * Finds the approval with an id or a user code.
 *
 * @throws CliError as {@link findById} does.
 */
export async function findApproval(parties: Parties, id: string): Promise<Approval> {
  const approval = (await parties.approvals.get(id)) ?? (await parties.approvals.byUserCode(id));
  if (approval !== undefined) return approval;
  const grant = await parties.grant(id);
  if (grant === undefined) throw await unknownId(parties, id);
  const { approval: asked } = grant;
  const hint = asked === undefined ? "it was granted at once" : `its approval is ${asked}`;
  throw usageError(`${quoted(id)} is a grant, and approvals are decided`, hint);
}

async function unknownId(parties: Parties, id: string): Promise<CliError> {
  const approvals = await parties.approvals.list({ limit: MAX_FOUND });
  const grants = await parties.allGrants({ limit: MAX_FOUND });
  const known = [...approvals, ...grants].map((one) => one.id);
  const hint = didYouMean(id, known, "proviso grants list has the ids");
  return usageError(`there is no approval and no grant ${quoted(id.slice(0, 200))}`, hint);
}

/** A revoked object. `effect` describes what was revoked, such as `the agent, with 2 grants`. */
export interface Revoked {
  readonly id: string;
  readonly kind: "approval" | "grant" | "agent" | "host";
  /** True if the object had been revoked before. */
  readonly already: boolean;
  readonly effect: string;
}

const OPERATOR = { operator: true } as const;

/**
 * Revokes the object with an id, and every token that depends on it. The grants of an agent or a host end too,
 * and so do the grants that an approval gave. A pending approval is cancelled.
 *
 * @throws CliError if there is no such object.
 */
export async function revokeById(
  { parties, revocations }: Pick<OpenParties, "parties" | "revocations">,
  id: string,
): Promise<Revoked> {
  if (id.startsWith("agent_")) {
    const outcome = await parties.revokeAgent(id, OPERATOR);
    if (!outcome.ok) throw unknown(outcome.message);
    const count = outcome.grants.length;
    return {
      id,
      kind: "agent",
      already: false,
      effect: `the agent, with ${counted(count, "grant")}`,
    };
  }
  if (id.startsWith("host_")) {
    const outcome = await parties.revokeHost(id, OPERATOR);
    if (!outcome.ok) throw unknown(outcome.message);
    const agents = counted(outcome.agentsRevoked, "agent");
    return { id, kind: "host", already: false, effect: `the host, with ${agents}` };
  }
  const found = await findById(parties, id);
  if (found.kind === "grant") {
    const { status } = found.grant;
    const outcome = await parties.revokeGrant(id, OPERATOR);
    if (!outcome.ok) throw unknown(outcome.message);
    const already = status === "revoked" || status === "denied";
    return { id, kind: "grant", already, effect: "the grant, with every token of it" };
  }
  return revokeApproval({ parties, revocations }, found.approval);
}

/** Revokes everything of a user: tokens, pending approvals, hosts, agents and grants. */
export async function revokeUser(
  { parties }: Pick<OpenParties, "parties">,
  principal: string,
): Promise<{
  readonly principal: string;
  readonly kind: "user";
  readonly hosts: number;
  readonly agents: number;
  readonly effect: string;
}> {
  const { hosts, agents } = await parties.revokeUser(principal, OPERATOR);
  const effect = `every token issued up to now, pending approvals, and ${counted(hosts, "host")} with ${counted(agents, "agent")}`;
  return { principal, kind: "user", hosts, agents, effect };
}

/** Cancels a pending approval, and revokes capabilities that its agent has already collected. */
async function revokeApproval(
  { parties, revocations }: Pick<OpenParties, "parties" | "revocations">,
  { id, subject, collected = {} }: Approval,
): Promise<Revoked> {
  if (await parties.approvals.cancel(id, OPERATOR)) {
    return {
      id,
      kind: "approval",
      already: false,
      effect: "the approval, which no longer grants anything",
    };
  }
  const at = formatTime(Date.now());
  let fresh = 0;
  for (const capability of Object.values(collected)) {
    const added = await revocations.add({ kind: "capability", id: capability, at });
    if (added !== "known") fresh++;
  }
  for (const { agentGrant } of subject.asked) {
    const grant = agentGrant === undefined ? undefined : await parties.grant(agentGrant);
    if (grant?.status !== "active") continue;
    const outcome = await parties.revokeGrant(grant.id, OPERATOR);
    if (outcome.ok) fresh++;
  }
  return {
    id,
    kind: "approval",
    already: fresh === 0,
    effect: `what it granted: ${counted(fresh, "grant")}`,
  };
}

function counted(count: number, what: string): string {
  return count === 1 ? `one ${what}` : `${count} ${what}s`;
}

function unknown(message: string): CliError {
  return usageError(message, "proviso grants list has the ids");
}
