import { isObject, type JsonObject } from "../bytes/json.js";
import { notA } from "../checks/kinds.js";
import type { DiscoveryDenial } from "./denial.js";
import type { ProtocolVersion, VersionRange } from "./versions.js";

/**
 * The claims of a card, which may be written in camelCase or snake_case. Nothing is verified, and no string is
 * safe to display unescaped.
 */
export interface CardReading {
  /** The card as received. */
  readonly document: JsonObject;
  /** The agent's name; empty if the card has none. */
  readonly name: string;
  /** The agent's own version; empty if the card has none. */
  readonly version: string;
  /** The interfaces in the order of the card; the agent prefers the first. */
  readonly interfaces: readonly CardInterface[];
  /** The protocol versions of the card as a whole; both bounds are absent if the card names no version. */
  readonly range: VersionRange;
  /**
   * The capabilities that the card mentions, by their names in the registry, or as written if they are not in the
   * registry. The value is `false` if the card denies the capability.
   */
  readonly capabilities: ReadonlyMap<string, boolean>;
  /** URIs of the extensions that the card lists. */
  readonly extensions: readonly string[];
  /** The grants that the agent offers; `undefined` if the card does not mention grants. */
  readonly grants: readonly CardGrant[] | undefined;
  /** The agents that this agent delegates to; `undefined` if the card does not name them. */
  readonly delegates: readonly CardDelegate[] | undefined;
  /** The number of signatures; none has been verified. */
  readonly signatures: number;
  /**
   * Faults of the card, such as contradictions and unreadable versions, or the reason why the document is not a card.
   * Each fault has the code `card_malformed`.
   */
  readonly faults: readonly DiscoveryDenial[];
}

/**
 * @throws TypeError if `card` is not a card returned by {@link readCard}, for example the card's own JSON or a Promise.
 */
export function assertReading(card: unknown, where: string): void {
  if (isObject(card) && card["capabilities"] instanceof Map && Array.isArray(card["faults"]))
    return;
  throw notA(where, "a card as readCard() gives it", card);
}

/** One way to reach the agent. */
export interface CardInterface {
  readonly url: string;
  /** The protocol binding, as written in the card. The binding may be unknown to this package. */
  readonly binding: string;
  readonly tenant?: string;
  /** The versions that the interface names, without unreadable versions; empty if the card's range applies instead. */
  readonly versions: readonly ProtocolVersion[];
  /** Every version that the interface speaks, from its own list and the card's range; empty if unknown. */
  readonly speaks: readonly VersionRange[];
  /** The first version of the interface, as written in the card; empty if there is none. */
  readonly versionText: string;
  /** JSON Pointer to the interface; empty for the interface in the top-level properties of a card of A2A before 1.0. */
  readonly path: string;
}

/** A grant that the agent offers. */
export interface CardGrant {
  readonly id: string;
  readonly description: string;
  /** The operations that the grant allows; `*` allows every operation. */
  readonly operations: readonly string[];
  readonly attenuable: boolean;
  readonly requires: readonly string[];
  /** The guarantees that a legacy grant lacks, in words; absent if the grant is not legacy. */
  readonly legacy?: string;
  /** JSON Pointer to the entry in the card. */
  readonly path: string;
}

/** An agent that a card claims to delegate to. */
export interface CardDelegate {
  readonly url: string;
  /**
   * Capabilities that the delegating card claims for this delegate. They are checked against the delegate's own
   * card.
   */
  readonly capabilities: readonly string[];
  /** JSON Pointer to the entry in the card. */
  readonly path: string;
}

/**
 * The URI of the discovery contract, in cards and in `metadata` (docs/spec.md). A breaking change of the
 * contract needs a new URI.
 */
export const DISCOVERY_URI = "urn:proviso:a2a:discovery:1";

/** The URI of the capability extension (docs/a2a.md), whose params hold the grants. */
export const CAPABILITIES_URI = "urn:proviso:a2a:capabilities:1";
