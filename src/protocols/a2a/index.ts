/**
 * An issuing agent over A2A 1.0, served with the official SDK's handlers. Every operation is checked before it
 * runs.
 *
 * @module proviso/a2a
 */

export type { BodyLimits } from "../../http/body.js";
export type { RateLimit } from "../../http/callers.js";
export { CAPABILITY_HEADER, DENIAL_HEADER } from "../../http/headers.js";
export type { ListenOptions } from "../../http/listen.js";
export type { AgentLog } from "../../http/log.js";
export { type AgentMetrics, createAgentMetrics } from "../../http/metrics.js";
export { type HealthCheck, serveMetrics } from "../../http/status.js";
export type { AgentModule, AgentModuleContext, AgentSkills } from "./agent-module.js";
export type { AuthorityMarks } from "./authority-marks.js";
export { type CardOptions, capabilityExtension } from "./card.js";
export type { ErrorInfo } from "./errors.js";
export {
  ERROR_CODES,
  ERROR_DOMAIN,
  EXTENSION_URI,
  METHODS,
} from "./extension.js";
export { type Guard, type GuardOptions, guard } from "./guard.js";
export {
  clearanceOf,
  type MessageClearance,
  type NeededOperation,
} from "./operation-gate.js";
export type { PushOptions } from "./push.js";
export {
  type AgentServer,
  type AgentServerOptions,
  serveAgent,
} from "./server.js";
export type { TaskAnswer, TaskCall, TaskRunner, TaskTurn } from "./task-runner.js";
export { type TaskQuota, TaskQuotaError } from "./tasks/quota.js";
export {
  openTaskStore,
  type TaskStore,
  type TaskStoreOptions,
} from "./tasks/task-store.js";
