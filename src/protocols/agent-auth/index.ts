/**
 * Serves an issuing agent over Agent-Auth 1.0-draft: hosts and agents register themselves, users approve
 * grants, and agents execute capabilities.
 *
 * @module proviso/agent-auth
 */

export type { BodyLimits } from "../../http/body.js";
export type { RateLimit } from "../../http/callers.js";
export { CAPABILITY_HEADER, DENIAL_HEADER } from "../../http/headers.js";
export type { ListenOptions } from "../../http/listen.js";
export type { AgentLog } from "../../http/log.js";
export type { Provider } from "./discovery.js";
export { type AgentAuthCode, STATUS as ERROR_STATUS } from "./errors.js";
export {
  type AgentAuthOptions,
  type AgentAuthServer,
  type AgentAuthServerOptions,
  type MountedAgentAuth,
  prepareAgentAuth,
  serveAgentAuth,
} from "./server.js";
