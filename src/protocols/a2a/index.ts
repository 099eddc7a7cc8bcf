/**
 * An issuing agent over A2A 1.0: served with the official SDK's own handlers, gated at every
 * operation.
 *
 * @packageDocumentation
 */

export { BODY_LIMITS, type BodyLimits } from "../../http/body.js";
export { RATE_LIMIT, type RateLimit } from "../../http/callers.js";
export { CAPABILITY_HEADER, DENIAL_HEADER } from "../../http/headers.js";
export type { ListenOptions } from "../../http/listen.js";
export type { AgentLog } from "../../http/log.js";
export { AgentMetrics, type RevocationGauge } from "../../http/metrics.js";
export { type HealthCheck, type MetricsServer, serveMetrics } from "../../http/status.js";
export type { PushConfigs } from "../../stores/tasks/push-configs.js";
export { type TaskQuota, TaskQuotaError } from "../../stores/tasks/quota.js";
export { setTaskAccess, type TaskAccess, taskAccessOf } from "../../stores/tasks/task-access.js";
export {
  openTaskStore,
  TaskStore,
  type TaskStoreOptions,
} from "../../stores/tasks/task-store.js";
export type { AgentModule, AgentModuleContext, AgentSkills } from "./agent-module.js";
export type { AdvertisedGrant, CardOptions } from "./card.js";
export type { ErrorInfo } from "./errors.js";
export type { AuthorityMarks, TaskCall, TaskRunner } from "./executor.js";
export {
  ERROR_CODES,
  ERROR_DOMAIN,
  EXTENSION_URI,
  METHODS,
} from "./extension.js";
export type { PushOptions } from "./push-target.js";
export {
  type AgentServer,
  type AgentServerOptions,
  serveAgent,
} from "./server.js";
export type { TaskAnswer, TaskAnswerState, TaskTurn } from "./task-answer.js";
