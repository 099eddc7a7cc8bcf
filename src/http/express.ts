/**
 * A resource server's routes in Express: which capability each requires, and the one that a request has.
 *
 * @module proviso/express
 */
export type { CapabilityAuthority, ResourceServerOptions } from "./resource-server/check.js";
export {
  capabilityOf,
  createCapabilityMiddleware,
  type ExpressRequires,
} from "./resource-server/express.js";
export type { RefusalBody, RefusalError } from "./resource-server/refusal.js";
export type { RouteRequirement } from "./resource-server/requirement.js";
