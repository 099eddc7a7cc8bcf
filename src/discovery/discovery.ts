import type { CardReading } from "./card.js";
import type { DiscoveryDenial, DiscoveryWarning } from "./denial.js";
import type { Binding } from "./requirements.js";

/** The verdict on an agent: the interface to use, or every reason for refusing the agent. */
export type Discovery = UsableAgent | RefusedAgent;

export interface UsableAgent {
  readonly ok: true;
  readonly card: CardReading;
  /** The interface to use. */
  readonly interface: ChosenInterface;
  /** The protocol version to use on this interface, such as `1.0`. */
  readonly version: string;
  readonly warnings: readonly DiscoveryWarning[];
}

export interface RefusedAgent {
  readonly ok: false;
  /** Every reason for the refusal; at least one. */
  readonly denials: readonly DiscoveryDenial[];
  readonly warnings: readonly DiscoveryWarning[];
}

export interface ChosenInterface {
  readonly url: string;
  readonly binding: Binding;
  readonly tenant?: string;
}
