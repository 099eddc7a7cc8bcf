/**
 * The holder's side of A2A: request capabilities, send them with the SDK's client, read refusals.
 *
 * @module proviso/a2a/client
 */
export { CAPABILITY_HEADER } from "../../../http/headers.js";
export type { PendingAnswer, PendingGrant } from "../capability-methods.js";
export { AMBIENT, AUTHORITY_HEADER, EXTENSION_URI } from "../extension.js";
export {
  type AgentCheckOptions,
  AgentRefusedError,
  UndeclaredBehaviourError,
} from "./agent-check.js";
export {
  type CapabilityClient,
  type CapabilityQuery,
  createCapabilityClient,
  type GrantedCapabilities,
  type SkillAnswer,
  type WaitOptions,
} from "./capability-client.js";
export { type AgentFetchOptions, createAgentFetch } from "./fetch.js";
export { withAmbientAuthority, withCapability } from "./interceptor.js";
export { type ClientRefusal, refusalOf } from "./refusal.js";
