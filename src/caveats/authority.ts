import type { ArgumentDomain, Domain } from "./domain.js";
import type { Hop } from "./hop.js";

/**
 * The authority that all hops of a chain together leave: for display, for the attenuation lint and
 * for comparing tokens. Decisions never rest on it; they are made hop by hop.
 */
export interface Authority {
  /** Operations that remain; absent if no hop names any. */
  readonly operations?: readonly string[];
  /** Handles that remain; absent if no hop names any. */
  readonly resourceHandles?: readonly string[];
  /** The values that remain for each limited argument. */
  readonly constraints?: { readonly [argument: string]: Domain };
  /** The remaining limits on arguments of single operations; `*` stands for every operation. */
  readonly operationConstraints?: {
    readonly [operation: string]: { readonly [argument: string]: ArgumentDomain };
  };
  /** The names that remain of the arguments that calls of an operation, or of `*`, may have. */
  readonly arguments?: { readonly [operation: string]: readonly string[] };
  /** The earliest expiry. */
  readonly expires?: string;
  /** The latest start. */
  readonly notBefore?: string;
  /** Services that remain; absent means any. */
  readonly audience?: readonly string[];
  /** Agents that remain; absent means any holder. */
  readonly invokers?: readonly string[];
  /** Number of links that may still be appended; below 0 if there are too many already. */
  readonly furtherHops?: number;
}

/** One link of a chain, as far as authority goes; `undefined` for a third-party or unreadable caveat. */
export type Link = Hop | undefined;
