/**
 * An issuing agent over A2A 1.0: served with the official SDK's own handlers, gated at every
 * operation.
 *
 * @packageDocumentation
 */

export { BODY_LIMITS, type BodyLimits } from "../../http/body.js";
export { RATE_LIMIT, type RateLimit } from "../../http/callers.js";
export type { ListenOptions } from "../../http/listen.js";
export type { AgentLog } from "../../http/log.js";
export { AgentMetrics, type RevocationGauge } from "../../http/metrics.js";
export {
  type Mounted,
  type Place,
  type Served,
  type ServeOptions,
  serve,
} from "../../http/serve.js";
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
export type { AuthorityMarks } from "./authority-marks.js";
export { type AdvertisedGrant, type CardOptions, capabilityExtension } from "./card.js";
export type { ErrorInfo } from "./errors.js";
export {
  CAPABILITY_HEADER,
  DENIAL_HEADER,
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
  type NeedsOf,
} from "./operation-gate.js";
export type { PushOptions } from "./push-target.js";
export {
  type A2AOptions,
  type AgentServer,
  type AgentServerOptions,
  type MountedA2A,
  mountA2A,
  serveAgent,
} from "./server.js";
export type { TaskAnswer, TaskAnswerState, TaskTurn } from "./task-answer.js";
export type { TaskCall, TaskRunner } from "./task-call.js";
