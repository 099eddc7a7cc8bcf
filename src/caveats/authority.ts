import type { ArgumentDomain, Domain } from "./domain.js";
import type { Hop } from "./hop.js";

/**
 * The authority that all hops of a chain together leave: for display, for the attenuation lint and for comparing tokens. It
 * is not used for decisions, which are made hop by hop.
 */
export interface Authority {
  /** The operations still allowed; absent if no hop limits them. */
  readonly operations?: readonly string[];
  /** The handles still allowed; absent if no hop limits them. */
  readonly resourceHandles?: readonly string[];
  /** The values still allowed for each limited argument. */
  readonly constraints?: { readonly [argument: string]: Domain };
  /** The remaining limits on arguments of single operations; `*` stands for every operation. */
  readonly operationConstraints?: {
    readonly [operation: string]: { readonly [argument: string]: ArgumentDomain };
  };
  /** The closed list of arguments for an operation, or for `*`. */
  readonly arguments?: { readonly [operation: string]: readonly string[] };
  /** The earliest expiry. */
  readonly expires?: string;
  /** The latest start. */
  readonly notBefore?: string;
  /** The services still allowed; absent means any. */
  readonly audience?: readonly string[];
  /** The agents still allowed; absent means any holder. */
  readonly invokers?: readonly string[];
  /** Number of links that may still be appended; negative if there are too many already. */
  readonly furtherHops?: number;
}

/** The hop of a link; `undefined` for a third-party or unreadable caveat. */
export type Link = Hop | undefined;
