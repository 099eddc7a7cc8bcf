import type { CardReading } from "./card.js";
import type { DiscoveryDenial, DiscoveryWarning } from "./denial.js";
import type { Binding } from "./requirements.js";

/** An agent that may be given the task, with the interface to use, or every reason why not. */
export type Discovery = UsableAgent | RefusedAgent;

export interface UsableAgent {
  readonly ok: true;
  readonly card: CardReading;
  /** The interface to use. */
  readonly interface: ChosenInterface;
  /** The protocol version to use there, such as `1.0`. */
  readonly version: string;
  readonly warnings: readonly DiscoveryWarning[];
}

export interface RefusedAgent {
  readonly ok: false;
  /** Every reason; at least one. */
  readonly denials: readonly DiscoveryDenial[];
  readonly warnings: readonly DiscoveryWarning[];
}

export interface ChosenInterface {
  readonly url: string;
  readonly binding: Binding;
  readonly tenant?: string;
}
