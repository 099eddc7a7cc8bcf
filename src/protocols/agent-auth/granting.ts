import { isUsersHost } from "../../agent/parties/hosts.js";
import type { Parties } from "../../agent/parties/parties.js";
import type { Origin } from "../../agent/parties/records.js";
import type { AgentAnswer, AskedAnswer } from "../../agent/parties/requests.js";
import type { JsonObject } from "../../bytes/json.js";
import {
  type AnswerContext,
  agentShortly,
  agentWhole,
  approvalAnswer,
  grantsAnswer,
} from "./answers.js";
import {
  readAsked,
  readAsking,
  readHostName,
  readIdempotencyKey,
  readRegistering,
} from "./bodies.js";
import { type Fault, fault, refusalFault } from "./errors.js";
import { readKey } from "./keys.js";
import { namedAgent } from "./named-agent.js";
import type { AgentParty, HostParty, NewHost, SigningHost } from "./party.js";

// Registration, requests for capabilities, status and reactivation of agents.

export interface GrantingContext extends AnswerContext {
  readonly parties: Parties;
}

type Answer =
  | { readonly ok: true; readonly body: JsonObject; readonly refused?: readonly string[] }
  | Fault;

/** A request to register an agent. */
export interface Registering {
  readonly body: JsonObject;
  readonly party: HostParty | NewHost;
  readonly from: Origin;
  readonly idempotencyKey: string | undefined;
}

/**
 * Registers an agent, and the agent's host if it is new.
 *
 * @throws StorageError
 */
export async function register(
  { body, party, from, idempotencyKey: header }: Registering,
  context: GrantingContext,
): Promise<Answer> {
  const read = readRegistering(body);
  if (!read.ok) return read;
  const idempotency = readIdempotencyKey(header);
  if (!idempotency.ok) return idempotency;
  const agentKey = await readKey(party.jwt.agentKey, "agent_public_key");
  if (!agentKey.ok) {
    if (party.jwt.agentKey !== undefined) return agentKey;
    const message = "agent_public_key: the JWT must hold it; this server fetches no keys";
    return fault("invalid_public_key", message);
  }
  const hostKey =
    party.kind === "newcomer" ? party.ready : await readKey(party.host.key, "host_public_key");
  if (!hostKey.ok) return hostKey;
  const named = readHostName({ host_name: party.jwt.hostName }, "host_name");
  if (!named.ok) return named;
  const { hostName = named.value, ...asked } = read.value;
  const { value: idempotencyKey } = idempotency;
  const outcome = await context.parties.register({
    ...asked,
    hostKey: hostKey.key,
    hostThumbprint: hostKey.thumbprint,
    agentKey: agentKey.key,
    agentThumbprint: agentKey.thumbprint,
    from,
    hostName,
    idempotencyKey,
  });
  if (!outcome.ok) return refusalFault(outcome);
  return { ok: true, body: await askedBody(outcome, context), ...refusedIn(outcome) };
}

/**
 * Returns the codes to record if grants for an agent of an unlinked host were denied. For linked hosts, `Parties`
 * records the denials itself.
 */
function refusedIn({ host, grants }: AskedAnswer): { readonly refused?: readonly string[] } {
  const denied = grants.some(({ status }) => status === "denied");
  return denied && !isUsersHost(host) ? { refused: ["grant_denied"] } : {};
}

/**
 * Requests more capabilities.
 *
 * @throws StorageError
 */
export async function requestCapabilities(
  body: JsonObject,
  { agent: asker, jwt }: AgentParty,
  header: string | undefined,
  context: GrantingContext,
): Promise<Answer> {
  const asked = readAsked(body["capabilities"], 1);
  if (!asked.ok) return asked;
  const asking = readAsking(body);
  if (!asking.ok) return asking;
  const idempotency = readIdempotencyKey(header);
  if (!idempotency.ok) return idempotency;
  const { value: idempotencyKey } = idempotency;
  const outcome = await context.parties.requestGrants(asker.id, {
    ...asking.value,
    capabilities: asked.value,
    idempotencyKey,
  });
  if (!outcome.ok) return refusalFault(outcome);
  const { agent, grants, approval, userCode } = outcome;
  return {
    ok: true,
    ...refusedIn(outcome),
    body: {
      agent_id: agent.id,
      status: approval === undefined ? "active" : "pending",
      agent_capability_grants: await grantsAnswer(grants, tokensFor(jwt), context),
      ...(approval === undefined ? {} : { approval: approvalAnswer(approval, userCode, context) }),
    },
  };
}

/**
 * Returns an agent's state and grants.
 *
 * @throws StorageError
 */
export async function agentStatus(
  agentId: string | undefined,
  asker: SigningHost | AgentParty,
  context: GrantingContext,
): Promise<Answer> {
  const found = await namedAgent(agentId, asker, context.parties, { waiting: true });
  if (!found.ok) return found;
  const { agent, party } = found;
  const grants = await context.parties.grantsOf(agent.id);
  return { ok: true, body: await wholeAnswer({ agent, host: party.host, grants }, party, context) };
}

/**
 * Reactivates an expired agent, with the default capabilities of its host.
 *
 * @throws StorageError
 */
export async function reactivate(
  body: JsonObject,
  asker: SigningHost,
  context: GrantingContext,
): Promise<Answer> {
  const { parties } = context;
  const found = await namedAgent(body["agent_id"], asker, parties);
  if (!found.ok) return found;
  const outcome = await parties.reactivate(found.agent.id);
  if (!outcome.ok) return refusalFault(outcome);
  const { agent, grants, approval, userCode } = outcome;
  const { party } = found;
  return {
    ok: true,
    body: {
      ...(await wholeAnswer({ agent, host: party.host, grants }, party, context)),
      ...(approval === undefined ? {} : { approval: approvalAnswer(approval, userCode, context) }),
    },
  };
}

/**
 * Asks a user to claim an autonomous agent. Only the agent and its host may ask, since the user who approves also takes
 * over the host.
 *
 * @throws StorageError
 */
export async function claim(
  body: JsonObject,
  asker: SigningHost | AgentParty,
  context: GrantingContext,
): Promise<Answer> {
  // Other people may know the id of an agent that is to be claimed. A request that names the agent therefore does not
  // prove that the agent's host has the signing key.
  const found = await namedAgent(body["agent_id"], asker, context.parties, { proves: false });
  if (!found.ok) return found;
  const asking = readAsking(body);
  if (!asking.ok) return asking;
  const asked = { ...asking.value, agent: found.agent.id, by: by(found.party) };
  const outcome = await context.parties.claim(asked);
  if (!outcome.ok) return refusalFault(outcome);
  return { ok: true, body: await askedBody(outcome, context) };
}

/** Returns the body of an answer: the agent, the requested grants, and the approval for which the grants wait. */
async function askedBody(
  { agent, host, grants, approval, userCode }: AskedAnswer,
  context: GrantingContext,
): Promise<JsonObject> {
  return {
    ...agentShortly(agent, host),
    agent_capability_grants: await grantsAnswer(grants, noTokens, context),
    ...(approval === undefined ? {} : { approval: approvalAnswer(approval, userCode, context) }),
  };
}

async function wholeAnswer(
  { agent, host, grants }: AgentAnswer,
  { jwt }: AgentParty | HostParty,
  context: GrantingContext,
): Promise<JsonObject> {
  const tokens = agent.status === "active" ? tokensFor(jwt) : noTokens;
  return {
    ...agentWhole(agent, host),
    agent_capability_grants: await grantsAnswer(grants, tokens, context),
  };
}

const noTokens = (): boolean => false;

/**
 * Returns a function that says whether to include the token of a capability. If the JWT is restricted by
 * `capabilities`, only tokens of these capabilities are included.
 */
function tokensFor({ capabilities }: AgentParty["jwt"]): (capability: string) => boolean {
  return (capability) => capabilities?.includes(capability) ?? true;
}

/** Returns the party as the actor of a change in `Parties`. */
export function by(
  party: AgentParty | HostParty,
): { readonly agent: string } | { readonly host: string } {
  return party.kind === "agent" ? { agent: party.agent.id } : { host: party.host.id };
}
