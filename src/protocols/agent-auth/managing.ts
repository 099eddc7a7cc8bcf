import { principalOfAgent } from "../../agent/parties/agents.js";
import { permittedCapabilities } from "../../agent/parties/grants.js";
import type { Parties } from "../../agent/parties/parties.js";
import type { Policy } from "../../agent/policy.js";
import type { JsonObject } from "../../bytes/json.js";
import { limitsOf, momentIn, userOf } from "./answers.js";
import { type PartyContext, partyOf } from "./authenticating.js";
import { readHostName, readNames, textIn, wrong } from "./bodies.js";
import { ENDPOINTS } from "./discovery.js";
import { type Fault, fault, refusalFault } from "./errors.js";
import { by } from "./granting.js";
import { namedAgent, signingHost } from "./named-agent.js";
import { type AgentParty, isStranger, type SigningHost } from "./party.js";
import { readNewKey } from "./possession.js";

// Revocation and key rotation of agents and hosts, enrolment, and introspection for resource servers.

type Answer = { readonly ok: true; readonly body: JsonObject } | Fault;

/**
 * Revokes an agent with all its grants. The request can be repeated.
 *
 * @throws StorageError
 */
export async function revokeAgent(
  body: JsonObject,
  asker: SigningHost | AgentParty,
  parties: Parties,
): Promise<Answer> {
  const found = await namedAgent(body["agent_id"], asker, parties);
  if (!found.ok) return found;
  const outcome = await parties.revokeAgent(found.agent.id, by(found.party));
  if (!outcome.ok) return refusalFault(outcome);
  return { ok: true, body: { agent_id: found.agent.id, status: "revoked" } };
}

/**
 * Revokes grants by capability name.
 *
 * @throws StorageError
 */
export async function revokeCapabilities(
  body: JsonObject,
  asker: SigningHost | AgentParty,
  parties: Parties,
): Promise<Answer> {
  const names = readNames(body);
  if (!names.ok) return names;
  const found = await namedAgent(body["agent_id"], asker, parties);
  if (!found.ok) return found;
  if (found.agent.status === "revoked") return fault("agent_revoked", "the agent was revoked");
  const outcome = await parties.revokeGrants(found.agent.id, names.value, by(found.party));
  if (!outcome.ok) return refusalFault(outcome);
  const revoked = [...new Set(outcome.grants.map(({ capability }) => capability))];
  const grantIds = outcome.grants.map(({ id }) => id);
  return { ok: true, body: { agent_id: found.agent.id, revoked, grant_ids: grantIds } };
}

/**
 * Revokes the asking host with all its agents.
 *
 * @throws StorageError
 */
export async function revokeHost(
  body: JsonObject,
  asker: SigningHost,
  parties: Parties,
): Promise<Answer> {
  const party = await signingHost(asker, parties);
  if ("ok" in party) return party;
  const { host_id: named = party.host.id } = body;
  if (typeof named !== "string") return wrong("host_id", "must be a string");
  if (named !== party.host.id && named !== asker.thumbprint) {
    return fault("unauthorized", "a host can revoke itself alone");
  }
  const outcome = await parties.revokeHost(party.host.id, by(party));
  if (!outcome.ok) return refusalFault(outcome);
  const { host, agentsRevoked } = outcome;
  return { ok: true, body: { host_id: host.id, status: "revoked", agents_revoked: agentsRevoked } };
}

/**
 * Replaces an agent's key; the old key becomes invalid at once.
 *
 * @throws StorageError
 */
export async function rotateAgentKey(
  body: JsonObject,
  asker: SigningHost | AgentParty,
  context: PartyContext,
): Promise<Answer> {
  const { parties } = context;
  const found = await namedAgent(body["agent_id"], asker, parties);
  if (!found.ok) return found;
  const { id } = found.agent;
  const stranger = isStranger(found.party);
  const giving = { agent: id, path: ENDPOINTS.rotate_key, stranger };
  const read = await readNewKey(body, giving, context);
  if (!read.ok) return read;
  const outcome = await parties.rotateAgentKey(id, read.value);
  if (!outcome.ok) return refusalFault(outcome);
  return { ok: true, body: { agent_id: id, status: outcome.agent.status } };
}

/**
 * Replaces the asking host's key.
 *
 * @throws StorageError
 */
export async function rotateHostKey(
  body: JsonObject,
  asker: SigningHost,
  context: PartyContext,
): Promise<Answer> {
  const party = await signingHost(asker, context.parties);
  if ("ok" in party) return party;
  const giving = { path: ENDPOINTS.rotate_host_key, stranger: isStranger(party) };
  const read = await readNewKey(body, giving, context);
  if (!read.ok) return read;
  const outcome = await context.parties.rotateHostKey(party.host.id, read.value);
  if (!outcome.ok) return refusalFault(outcome);
  return { ok: true, body: { host_id: outcome.host.id, status: outcome.host.status } };
}

/**
 * Sets the key of a host that a user has created. The enrolment token in the request identifies the host.
 *
 * @throws StorageError
 */
export async function enrollHost(body: JsonObject, context: PartyContext): Promise<Answer> {
  const token = textIn(body, "token");
  if (!token.ok) return token;
  const name = readHostName(body, "name");
  if (!name.ok) return name;
  const giving = { path: "/host/enroll", stranger: true, once: true } as const;
  const read = await readNewKey(body, giving, context);
  if (!read.ok) return read;
  const outcome = await context.parties.enrollHost({
    ...read.value,
    token: token.value,
    name: name.value,
  });
  if (!outcome.ok) return refusalFault(outcome);
  const { id, name: called = null, status } = outcome.host;
  const defaults = context.parties.defaultsOf(outcome.host);
  return {
    ok: true,
    body: { hostId: id, name: called, default_capabilities: defaults, status },
  };
}

/**
 * Introspects an agent's JWT, and marks the JWT as used. The answer is the same for every invalid JWT.
 *
 * @throws StorageError
 */
export async function introspect(
  body: JsonObject,
  context: PartyContext & { readonly policy: Policy },
): Promise<Answer> {
  const { token } = body;
  if (typeof token !== "string") return wrong("token", "must be a string");
  const headers = { authorization: `Bearer ${token}` };
  const party = await partyOf({ method: "", path: "", headers }, "introspected", context);
  if ("ok" in party || party.kind !== "agent") return { ok: true, body: { active: false } };
  const { agent, host, jwt } = party;
  const { locations, parties } = context;
  const elsewhere = new Set(locations.values()).has(jwt.aud);
  const grants = (await parties.grantsOf(agent.id)).filter(
    ({ status, capability }) =>
      status === "active" &&
      (jwt.capabilities?.includes(capability) ?? true) &&
      // A JWT for a location covers only the capabilities that are executed at this location.
      (!elsewhere || locations.get(capability) === jwt.aud),
  );
  const asked = grants.map(({ id, grant, operation }) => ({ name: id, grant, operation }));
  const principal = principalOfAgent(agent, host);
  const permitted = await permittedCapabilities(principal, agent.id, asked, context);
  const shown = grants.filter(({ id }) => permitted.has(id));
  return {
    ok: true,
    body: {
      active: true,
      agent_id: agent.id,
      host_id: host.id,
      ...userOf(agent, host),
      agent_capability_grants: shown.map(({ id, capability, status, operation, hops }) => ({
        capability,
        status,
        ...limitsOf({ hops, operation }, permitted.get(id)),
      })),
      mode: agent.mode,
      ...momentIn("expires_at", agent.expires),
    },
  };
}
