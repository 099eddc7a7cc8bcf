import type { ArgumentDomain, Domain } from "./domain.js";
import type { Hop } from "./hop.js";

/**
 * The authority that all hops of a chain together leave. It is used to display and compare tokens, and to find
 * mistakes in attenuations. Decisions do not use it: they check hop by hop.
 */
export interface Authority {
  /** The operations still allowed; absent if no hop limits them. */
  readonly operations?: readonly string[];
  /** The handles still allowed; absent if no hop limits them. */
  readonly resourceHandles?: readonly string[];
  /** The values still allowed for each limited argument. */
  readonly constraints?: { readonly [argument: string]: Domain };
  /** The remaining limits on arguments of single operations; the entry `*` applies to every operation. */
  readonly operationConstraints?: {
    readonly [operation: string]: { readonly [argument: string]: ArgumentDomain };
  };
  /** The closed list of arguments for each operation; the entry `*` applies to every operation. */
  readonly arguments?: { readonly [operation: string]: readonly string[] };
  /** The earliest expiry of all hops. */
  readonly expires?: string;
  /** The latest `notBefore` of all hops. */
  readonly notBefore?: string;
  /** The services still allowed; absent means any. */
  readonly audience?: readonly string[];
  /** The agents still allowed; absent means any holder. */
  readonly invokers?: readonly string[];
  /** Number of links that may still be appended; negative if the chain already has too many links. */
  readonly furtherHops?: number;
}

/** The hop of a link; `undefined` for a third-party or unreadable caveat. */
export type Link = Hop | undefined;
