/**
 * A resource server's routes where requests are Fetch's: Hono, Workers, Deno, Bun. Runs everywhere.
 *
 * @module proviso/fetch
 */
export type { CapabilityAuthority, ResourceServerOptions } from "./resource-server/check.js";
export { createCapabilityMiddleware, type FetchRequires } from "./resource-server/fetch.js";
export type { RefusalBody, RefusalError } from "./resource-server/refusal.js";
export type { RouteRequirement } from "./resource-server/requirement.js";
