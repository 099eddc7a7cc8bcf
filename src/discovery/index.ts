/**
 * Judges agent cards before a call is made, and compares two versions of a card. Cards are plain JSON.
 *
 * @module proviso/discovery
 */
export {
  type CardDelegate,
  type CardGrant,
  type CardInterface,
  type CardReading,
  DISCOVERY_URI,
} from "./card.js";
export { type CardCache, type CardCacheOptions, createCardCache } from "./card-cache.js";
export { type ChainDiscovery, validateChain } from "./chain.js";
export type { CardChange, ChangeImpact } from "./change.js";
export { compareCards } from "./compare.js";
export type {
  DiscoveryCode,
  DiscoveryDenial,
  DiscoveryLink,
  DiscoveryWarning,
} from "./denial.js";
export type { Discovery } from "./discovery.js";
export { type Behaviour, delegatedTo, undeclaredIn } from "./drift.js";
export type { CardFinding } from "./finding.js";
export { judgeCard } from "./judge.js";
export type { ChainLink } from "./link.js";
export { lintCard } from "./lint.js";
export { discoverChain, type LiveChain } from "./live-chain.js";
export { readCard } from "./read-card.js";
export {
  CAPABILITY_REGISTRY,
  type CapabilityRegistry,
  type RegisteredCapability,
} from "./registry.js";
export type { DiscoveryRequirements, GrantRequirement } from "./requirements.js";
export { type DiscoverOptions, safeDiscover } from "./safe-discover.js";
export { type SignOptions, signCard } from "./sign-card.js";
export { checkRegistry, checkStability, type StabilityProblem } from "./stability.js";
