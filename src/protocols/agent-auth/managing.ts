import type { Policy } from "../../agent/policy.js";
import { permittedOf, principalOfAgent } from "../../agent/registry/granting.js";
import type { Registry } from "../../agent/registry/registry.js";
import type { JsonObject } from "../../bytes/json.js";
import { limitsOf, momentOf } from "./answers.js";
import { type PartyContext, partyOf } from "./authenticating.js";
import { readHostName, readNames, textIn, wrong } from "./bodies.js";
import { type Fault, refuse, registryFault } from "./errors.js";
import { by, ownAgent } from "./granting.js";
import type { AgentParty, HostParty } from "./party.js";
import { readOwnKey } from "./possession.js";

// How agents and hosts end and change their keys; enrolment; and what a resource server learns of an agent.

type Answer = { readonly ok: true; readonly body: JsonObject } | Fault;

/** Revokes an agent with all its grants; a second time too. @throws StorageError */
export async function revokeAgent(
  body: JsonObject,
  party: AgentParty | HostParty,
  registry: Registry,
): Promise<Answer> {
  const found = await ownAgent(body, party, registry);
  if (!found.ok) return found;
  const outcome = await registry.revokeAgent(found.agent.id, by(party));
  if (!outcome.ok) return registryFault(outcome);
  return { ok: true, body: { agent_id: found.agent.id, status: "revoked" } };
}

/** Revokes grants by the names of their capabilities. @throws StorageError */
export async function revokeCapabilities(
  body: JsonObject,
  party: AgentParty | HostParty,
  registry: Registry,
): Promise<Answer> {
  const names = readNames(body);
  if (!names.ok) return names;
  const found = await ownAgent(body, party, registry);
  if (!found.ok) return found;
  if (found.agent.status === "revoked") return refuse("agent_revoked", "the agent was revoked");
  const outcome = await registry.revokeGrants(found.agent.id, names.value, by(party));
  if (!outcome.ok) return registryFault(outcome);
  const revoked = [...new Set(outcome.grants.map(({ capability }) => capability))];
  const grantIds = outcome.grants.map(({ id }) => id);
  return { ok: true, body: { agent_id: found.agent.id, revoked, grant_ids: grantIds } };
}

/** Revokes the host that asks, with all its agents. @throws StorageError */
export async function revokeHost(
  body: JsonObject,
  party: HostParty,
  registry: Registry,
): Promise<Answer> {
  const { host_id: named = party.host.id } = body;
  if (typeof named !== "string") return wrong("host_id", "must be a text");
  if (named !== party.host.id && named !== party.host.thumbprint) {
    return refuse("unauthorized", "a host can revoke itself alone");
  }
  const outcome = await registry.revokeHost(party.host.id, by(party));
  if (!outcome.ok) return registryFault(outcome);
  const { host, agentsRevoked } = outcome;
  return { ok: true, body: { host_id: host.id, status: "revoked", agents_revoked: agentsRevoked } };
}

/** Gives an agent another key; the one before is good for nothing at once. @throws StorageError */
export async function rotateAgentKey(
  body: JsonObject,
  party: HostParty,
  context: PartyContext,
): Promise<Answer> {
  const { registry } = context;
  const found = await ownAgent(body, party, registry);
  if (!found.ok) return found;
  const giving = { agent: found.agent.id, path: "/agent/rotate-key" };
  const read = await readOwnKey(body, giving, context);
  if (!read.ok) return read;
  const { key, thumbprint } = read.value;
  const outcome = await registry.rotateAgentKey(found.agent.id, key, thumbprint);
  if (!outcome.ok) return registryFault(outcome);
  return { ok: true, body: { agent_id: outcome.agent.id, status: outcome.agent.status } };
}

/** Gives the host that asks another key. @throws StorageError */
export async function rotateHostKey(
  body: JsonObject,
  party: HostParty,
  context: PartyContext,
): Promise<Answer> {
  const read = await readOwnKey(body, { path: "/host/rotate-key" }, context);
  if (!read.ok) return read;
  const { key, thumbprint } = read.value;
  const outcome = await context.registry.rotateHostKey(party.host.id, key, thumbprint);
  if (!outcome.ok) return registryFault(outcome);
  return { ok: true, body: { host_id: outcome.host.id, status: outcome.host.status } };
}

/** Gives a host that a user has made its key, by the token that the user got for it. @throws StorageError */
export async function enrollHost(body: JsonObject, context: PartyContext): Promise<Answer> {
  const token = textIn(body, "token");
  if (!token.ok) return token;
  const name = readHostName(body, "name");
  if (!name.ok) return name;
  const read = await readOwnKey(body, { path: "/host/enroll", once: true }, context);
  if (!read.ok) return read;
  const { key, thumbprint } = read.value;
  const outcome = await context.registry.enrollHost({
    ...{ token: token.value, key, thumbprint },
    ...(name.value === undefined ? {} : { name: name.value }),
  });
  if (!outcome.ok) return registryFault(outcome);
  const { id, name: called = null, defaults, status } = outcome.host;
  return {
    ok: true,
    body: { hostId: id, name: called, default_capabilities: defaults, status },
  };
}

/**
 * What an agent's JWT is good for. This uses it up; whatever is wrong with it, the answer is the same.
 *
 * @throws StorageError
 */
export async function introspect(
  body: JsonObject,
  context: PartyContext & { readonly policy: Policy },
): Promise<Answer> {
  const { token } = body;
  if (typeof token !== "string" || token === "") return wrong("token", "must be a text");
  const headers = { authorization: `Bearer ${token}` };
  const party = await partyOf({ method: "", path: "", headers }, "introspected", context);
  if ("ok" in party || party.kind !== "agent") return { ok: true, body: { active: false } };
  const { agent, host, jwt } = party;
  const grants = (await context.registry.grantsOf(agent.id)).filter(
    ({ status, capability }) =>
      status === "active" && (jwt.capabilities?.includes(capability) ?? true),
  );
  const asked = grants.map(({ id, grant, operation }) => ({ name: id, grant, operation }));
  const principal = principalOfAgent(agent, host);
  const permitted = await permittedOf(principal, agent.id, asked, context);
  const shown = grants.filter(({ id }) => permitted.has(id));
  return {
    ok: true,
    body: {
      active: true,
      agent_id: agent.id,
      host_id: host.id,
      user_id: agent.principal ?? null,
      agent_capability_grants: shown.map(({ capability, status, hops }) => ({
        ...{ capability, status, ...limitsOf(hops) },
      })),
      mode: agent.mode,
      expires_at: momentOf(agent.expires),
    },
  };
}
