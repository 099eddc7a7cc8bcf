import type { DiscoveryCode, DiscoveryDenial } from "../../../discovery/denial.js";

/** An agent is not called: its card does not say what a caller needs it to say. Nothing was sent to it. */
export class AgentRefusedError extends Error {
  override readonly name = "AgentRefusedError";
  /** The first reason's. */
  readonly code: DiscoveryCode;
  /** Every reason. */
  readonly denials: readonly DiscoveryDenial[];

  constructor(denials: readonly [DiscoveryDenial, ...DiscoveryDenial[]]) {
    const [first, ...others] = denials;
    const more = others.length === 0 ? "" : ` (and ${others.length} more)`;
    super(`the agent is not called: ${first.message}${more}`);
    this.code = first.code;
    this.denials = denials;
  }
}

/** An agent has done what its card does not declare. What was asked of it may be done. */
export class UndeclaredBehaviourError extends Error {
  override readonly name = "UndeclaredBehaviourError";
  readonly code: DiscoveryCode;
  readonly denial: DiscoveryDenial;

  constructor(denial: DiscoveryDenial) {
    super(denial.message);
    this.code = denial.code;
    this.denial = denial;
  }
}
