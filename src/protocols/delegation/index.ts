/**
 * Delegation over HTTP, compatible with SentryAgent's: delegate, verify, revoke, introspect. Delegating appends
 * a hop, exactly as a holder can do offline.
 *
 * @module proviso/delegation
 */
export type { ListedAgent } from "../../agent/delegation/agents.js";
export type { ChainState, DelegationVerdict } from "../../agent/delegation/chain-verdict.js";
export type { Delegation, DelegationRequest } from "../../agent/delegation/delegated-hop.js";
export {
  type CapabilityIdentity,
  createDelegations,
  type Delegations,
  type HeldScopes,
} from "../../agent/delegation/delegations.js";
export type { DelegationCaller } from "../../agent/delegation/holdings.js";
export type { DelegationOptions } from "../../agent/delegation/options.js";
export type {
  DelegationCode,
  DelegationField,
  DelegationProblem,
  DelegationRefusal,
} from "../../agent/delegation/refusal.js";
export type { BodyLimits } from "../../http/body.js";
export type { RateLimit } from "../../http/callers.js";
export type { ListenOptions } from "../../http/listen.js";
export type { AgentLog } from "../../http/log.js";
export type { DelegationErrorBody, DelegationErrorCode, ErrorDetail } from "./errors.js";
export {
  type DelegationServer,
  type DelegationServerOptions,
  type OwnDelegationServerOptions,
  serveDelegation,
} from "./server.js";
