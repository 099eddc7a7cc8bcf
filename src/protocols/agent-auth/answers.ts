import type { IssuingAgent } from "../../agent/issuing-agent.js";
import { exactConstraints } from "../../agent/parties/constraints.js";
import { permittedCapabilities } from "../../agent/parties/grants.js";
import type { AgentGrant, AgentRecord, Approval, HostRecord } from "../../agent/parties/records.js";
import type { CapabilityTerm } from "../../agent/parties/terms.js";
import type { Policy } from "../../agent/policy.js";
import type { JsonObject } from "../../bytes/json.js";
import type { Hop } from "../../caveats/hop.js";

export interface AnswerContext {
  readonly agent: IssuingAgent;
  readonly policy: Policy;
  readonly terms: ReadonlyMap<string, CapabilityTerm>;
  readonly clock: () => number;
  /** The URL where the user enters a user code. */
  readonly verificationUrl: string;
}

/** Seconds that a client should wait between two requests for an agent's status. */
const INTERVAL = 5;

/**
 * Returns a property with a formatted time; an empty object if the time is unknown, since the specification does not
 * allow null for times.
 */
export function momentIn(name: string, milliseconds: number | undefined): JsonObject {
  return milliseconds === undefined ? {} : { [name]: new Date(milliseconds).toISOString() };
}

/** Returns the short form of an agent, for answers to a registration. */
export function agentShortly(agent: AgentRecord, host: HostRecord): JsonObject {
  return {
    agent_id: agent.id,
    host_id: host.id,
    name: agent.name,
    mode: agent.mode,
    status: agent.status,
  };
}

/** Returns the full form of an agent, for answers about its status. */
export function agentWhole(agent: AgentRecord, host: HostRecord): JsonObject {
  return {
    ...agentShortly(agent, host),
    ...userOf(agent, host),
    ...momentIn("activated_at", agent.activated),
    ...momentIn("created_at", agent.created),
    ...momentIn("last_used_at", agent.lastUsed),
    ...momentIn("expires_at", agent.expires),
  };
}

/**
 * Returns the user on whose behalf an agent acts. For a delegated agent without a user, this is the user of its host,
 * if the host has one (section 3.2).
 */
export function userOf({ principal, mode }: AgentRecord, host: HostRecord): JsonObject {
  const user = principal ?? (mode === "delegated" ? host.principal : undefined);
  return user === undefined ? {} : { user_id: user };
}

/**
 * Returns an agent's grants for an answer. For each capability name, these are all active and pending grants; if there
 * are none, the newest grant.
 *
 * @param withTokens - Returns whether to include the token of a capability.
 */
export async function grantsAnswer(
  grants: readonly AgentGrant[],
  withTokens: (capability: string) => boolean,
  context: AnswerContext,
): Promise<readonly JsonObject[]> {
  const live = grants.filter(({ status }) => status === "active" || status === "pending");
  const ended = new Map<string, AgentGrant>();
  for (const grant of grants) {
    if (live.some(({ capability }) => capability === grant.capability)) continue;
    const known = ended.get(grant.capability);
    if (known === undefined || known.updated <= grant.updated) ended.set(grant.capability, grant);
  }
  return Promise.all(
    [...live, ...ended.values()].map((grant) => grantAnswer(grant, withTokens, context)),
  );
}

async function grantAnswer(
  grant: AgentGrant,
  withTokens: (capability: string) => boolean,
  { agent, policy, terms }: AnswerContext,
): Promise<JsonObject> {
  const { id, capability, status, grantedBy, expires, reason } = grant;
  const short = { capability, status };
  if (status === "pending") return short;
  // The specification has no status for a revoked grant, so a revoked grant is shown as denied, with the reason.
  if (status !== "active") {
    return { capability, status: "denied", ...(reason === undefined ? {} : { reason }) };
  }
  const term = terms.get(capability);
  const { grant: issuing, operation, principal } = grant;
  const asked = [{ name: id, grant: issuing, operation }];
  const permitted = await permittedCapabilities(principal, grant.agent, asked, { policy });
  const minted = withTokens(capability) ? await agent.grantToken(grant) : undefined;
  return {
    ...short,
    ...(grantedBy === undefined ? {} : { granted_by: grantedBy }),
    ...limitsOf(grant, permitted.get(id)),
    ...momentIn("expires_at", expires),
    ...(term === undefined ? {} : describing(term)),
    ...(minted === undefined ? {} : { token: minted.token, token_expires_at: minted.expires }),
  };
}

/**
 * Returns the limits on arguments, combined over all hops of a grant; an empty object if there are none.
 *
 * @param byPolicy - The hops for the policy's limits.
 */
export function limitsOf(
  { hops, operation }: Pick<AgentGrant, "hops" | "operation">,
  byPolicy: readonly Hop[] = [],
): JsonObject {
  const all = [...byPolicy, ...hops.map(({ hop }) => hop)];
  const constraints = exactConstraints(all, operation);
  return constraints === undefined ? {} : { constraints: constraints as JsonObject };
}

/** Returns the description and the location of a capability, and the schemas of its arguments and its result. */
export function describing({ description, location, input, output }: CapabilityTerm): JsonObject {
  return {
    description,
    ...(location === undefined ? {} : { location }),
    ...(input === undefined ? {} : { input }),
    ...(output === undefined ? {} : { output }),
  };
}

/**
 * Describes how the user can approve.
 *
 * @param userCode - The user code; known only in the answer to a request that opens the approval or repeats that
 *   request.
 */
export function approvalAnswer(
  approval: Approval,
  userCode: string | undefined,
  { clock, verificationUrl }: AnswerContext,
): JsonObject {
  const left = Math.max(0, Math.floor((approval.expires - clock()) / 1000));
  const times = { expires_in: left, interval: INTERVAL };
  if (approval.method === "backchannel") return { method: "ciba", ...times };
  if (userCode === undefined) return { method: "device_authorization", ...times };
  const complete = new URL(verificationUrl);
  complete.searchParams.set("user_code", userCode);
  return {
    method: "device_authorization",
    verification_uri: verificationUrl,
    verification_uri_complete: complete.href,
    user_code: userCode,
    ...times,
  };
}
