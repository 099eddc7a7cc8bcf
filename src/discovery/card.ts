import { isObject, type JsonObject } from "../bytes/json.js";
import { notA } from "../checks/kinds.js";
import type { DiscoveryDenial } from "./denial.js";
import type { ProtocolVersion, VersionRange } from "./versions.js";

/** A card's claims, in either spelling. Nothing is verified, and no string is safe to display as it is. */
export interface CardReading {
  /** The card as received. */
  readonly document: JsonObject;
  /** Empty if the card has none. */
  readonly name: string;
  /** The agent's own version; empty if the card has none. */
  readonly version: string;
  /** In the order of the card, which is the agent's preference. */
  readonly interfaces: readonly CardInterface[];
  /** The protocol versions of the card as a whole; both bounds are open if it names none. */
  readonly range: VersionRange;
  /** Each capability that the card mentions, under the registry's name; `false` if the card denies it. */
  readonly capabilities: ReadonlyMap<string, boolean>;
  /** URIs of the extensions that the card lists. */
  readonly extensions: readonly string[];
  /** `undefined` if the card does not mention grants. */
  readonly grants: readonly CardGrant[] | undefined;
  /** The agents that this agent delegates to; `undefined` if the card does not say. */
  readonly delegates: readonly CardDelegate[] | undefined;
  /** The number of signatures; none has been verified. */
  readonly signatures: number;
  /** Every contradiction in the card, and every reason why it is not a card (`card_malformed`). */
  readonly faults: readonly DiscoveryDenial[];
}

/**
 * @throws TypeError if `value` is not a card returned by {@link readCard}, for example the card's own JSON or a
 *   Promise.
 */
export function assertReading(card: unknown, where: string): void {
  if (isObject(card) && card["capabilities"] instanceof Map && Array.isArray(card["faults"]))
    return;
  throw notA(where, "a card as readCard() gives it", card);
}

/** One way to reach the agent. */
export interface CardInterface {
  readonly url: string;
  /** As written in the card; may be a binding unknown here. */
  readonly binding: string;
  readonly tenant?: string;
  /** The versions that it names and that could be parsed; empty if the card's range applies. */
  readonly versions: readonly ProtocolVersion[];
  /** Every version that it speaks, from its own list and the card's range; empty if unknown. */
  readonly speaks: readonly VersionRange[];
  /** The first version as written in the card; empty if there is none. */
  readonly versionText: string;
  /** JSON Pointer to the interface; empty for the one in top-level properties of a card of A2A before 1.0. */
  readonly path: string;
}

/** A grant that the agent offers. */
export interface CardGrant {
  readonly id: string;
  readonly description: string;
  /** `*` stands for every operation. */
  readonly operations: readonly string[];
  readonly attenuable: boolean;
  readonly requires: readonly string[];
  /** The guarantees that a legacy grant lacks, in words; absent if the grant is not legacy. */
  readonly legacy?: string;
  /** JSON Pointer to the entry. */
  readonly path: string;
}

/** An agent that a card claims to delegate to. */
export interface CardDelegate {
  readonly url: string;
  /** The capabilities that the card claims for that agent. The agent's own card decides. */
  readonly capabilities: readonly string[];
  /** JSON Pointer to the entry. */
  readonly path: string;
}

/** The contract's URI in cards and `metadata` (docs/spec.md). A breaking change needs a new URI. */
export const DISCOVERY_URI = "urn:proviso:a2a:discovery:1";

/** The URI of the capability extension (docs/a2a.md), whose params hold the grants. */
export const CAPABILITIES_URI = "urn:proviso:a2a:capabilities:1";
