import { isObject, type JsonObject } from "../bytes/json.js";
import { notA } from "../checks/kinds.js";
import type { DiscoveryDenial } from "./denial.js";
import type { ProtocolVersion, VersionRange } from "./versions.js";

/** A card's claims, in either spelling. None is verified, and no string is safe to display as it is. */
export interface CardReading {
  /** The card as received. */
  readonly document: JsonObject;
  /** Empty if the card has none. */
  readonly name: string;
  /** The agent's own version; empty if the card has none. */
  readonly version: string;
  /** In the card's order, which is the agent's preference. */
  readonly interfaces: readonly CardInterface[];
  /** The protocol versions that the card as a whole claims; both bounds are open if it says nothing. */
  readonly range: VersionRange;
  /** Each capability that the card mentions, under the registry's name; `false` if the card denies it. */
  readonly capabilities: ReadonlyMap<string, boolean>;
  /** URIs of the extensions that it lists. */
  readonly extensions: readonly string[];
  /** `undefined` if the card does not mention grants. */
  readonly grants: readonly CardGrant[] | undefined;
  /** The agents that it delegates to; `undefined` if the card does not say. */
  readonly delegates: readonly CardDelegate[] | undefined;
  /** The number of its signatures, which are not verified. */
  readonly signatures: number;
  /** Every contradiction, and every reason why it is not a card: `card_malformed`. */
  readonly faults: readonly DiscoveryDenial[];
}

/**
 * @throws TypeError if `value` is not a card returned by {@link readCard}, such as the card's own JSON or a
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
  /** As written in the card; it may be unknown here. */
  readonly binding: string;
  readonly tenant?: string;
  /** The versions it names, as far as they are readable; empty if it leaves them to the card's range. */
  readonly versions: readonly ProtocolVersion[];
  /** Every version that it speaks, by its own list and the card's range; empty if unknown. */
  readonly speaks: readonly VersionRange[];
  /** The first version as the card writes it; empty if it has no version. */
  readonly versionText: string;
  /** JSON Pointer to it; empty for the interface at the top of a card of A2A before 1.0. */
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
  /** JSON Pointer to it. */
  readonly path: string;
}

/** An agent that a card claims to delegate to. */
export interface CardDelegate {
  readonly url: string;
  /** The capabilities that the card claims for that agent, whose own card is decisive. */
  readonly capabilities: readonly string[];
  /** JSON Pointer to it. */
  readonly path: string;
}

/** The contract's URI in cards and `metadata` (docs/spec.md). A breaking change needs a new URI. */
export const DISCOVERY_URI = "urn:proviso:a2a:discovery:1";

/** The URI of the capability extension (docs/a2a.md), whose params hold the grants. */
export const CAPABILITIES_URI = "urn:proviso:a2a:capabilities:1";
