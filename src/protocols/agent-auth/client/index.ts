/**
 * The agent's side of Agent-Auth: a host's key, its agents and their grants, and executions at the server or at
 * a capability's location.
 *
 * @module proviso/agent-auth/client
 */

export { ClientError, type ClientErrorCode } from "../../../client/client-error.js";
export type {
  AgentAuthAgent,
  ExecuteOptions,
  WaitOptions,
} from "./agent.js";
export type { AskOptions, CapabilityAsked } from "./asking.js";
export {
  type AgentAuthClient,
  type AgentAuthClientOptions,
  createAgentAuthClient,
  type RegisterOptions,
} from "./host.js";
export { generateKey, type PrivateKey } from "./keys.js";
export type {
  CapabilityDefinition,
  Discovery,
  Listing,
  ReceivedAgent,
  ReceivedApproval,
  ReceivedGrant,
} from "./received.js";
export { AgentAuthError } from "./wire.js";
