/**
 * A resource server's routes on `node:http` alone.
 *
 * @module proviso/node
 */
export type { CapabilityAuthority, ResourceServerOptions } from "./resource-server/check.js";
export {
  createCapabilityMiddleware,
  type NodeOptions,
  type NodeRequires,
} from "./resource-server/node.js";
export type { RefusalBody, RefusalError } from "./resource-server/refusal.js";
export type { RouteRequirement } from "./resource-server/requirement.js";
