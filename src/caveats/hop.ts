// src/caveats: the hop. This file has its type; hop-rule.ts has the interface of a key's rule, and hop-rules.ts one rule
// for each key, from which reading, judging, meeting and attenuating are derived. Knows no cryptography and no macaroon.

import type { Scalar } from "./scalar.js";

/** Limits on one argument; all that are given must hold. */
export interface Operators {
  /** The argument is a number of at least this. */
  readonly min?: number;
  /** The argument is a number of at most this. */
  readonly max?: number;
  /** The argument is one of these. */
  readonly in?: readonly Scalar[];
  /** The argument differs from all of these, and has the JSON type of one of them. */
  readonly not_in?: readonly Scalar[];
}

/** A limit on one argument: exactly this value, or operators. */
export type Constraint = Scalar | Operators;

/** The URLs that a constraint allows, in the strict form of docs/spec.md, section 5.3. */
export interface UrlLimit {
  /** `http`, `https`, `ws` or `wss`. */
  readonly schemes: readonly string[];
  /** Hosts, and suffixes such as `.example.com` for every host below `example.com`. */
  readonly hosts: readonly string[];
  /** Ports in decimal digits; absent means the default of the scheme. */
  readonly ports?: readonly string[];
  /** A folder such as `/v1`, written as in a URL; absent means any path. */
  readonly path?: string;
}

/** Bounds on the number of elements of an array; at least one of the two, each from 0 to 256. */
export interface ItemsLimit {
  readonly min?: number;
  readonly max?: number;
}

/** Operators that an element of an array satisfies; all that are given must hold. */
export interface ElementOperators extends Operators {
  /** It is a path that is this folder or lies below it, in the strict form of docs/spec.md, section 5.2. */
  readonly path?: string;
  /** It is a URL with these parts. */
  readonly url?: UrlLimit;
  /** It is a string that begins with this one; never meant for paths and URLs. */
  readonly prefix?: string;
  /** It is an array of so many elements. */
  readonly items?: ItemsLimit;
}

/** Limits on one argument of an operation; all that are given must hold. */
export interface ArgumentOperators extends ElementOperators {
  /** A call may leave the argument out; stands beside another operator. */
  readonly optional?: true;
  /** A call must leave the argument out; stands alone. */
  readonly absent?: true;
  /** The argument is an array, and each of its elements satisfies these. */
  readonly each?: ElementOperators;
}

/** A limit on one argument of an operation: exactly this value, or operators. */
export type ArgumentConstraint = Scalar | ArgumentOperators;

/** Limits on the arguments of one operation, by name or, from `/` on, by JSON Pointer (RFC 6901). */
export interface ArgumentConstraints {
  readonly [argument: string]: ArgumentConstraint;
}

/**
 * One hop of delegation: what one party takes away. Every key that is given must allow an
 * invocation; a key that is absent restricts nothing (docs/spec.md, section 5).
 */
export interface Hop {
  /** The operations that stay allowed, strictly ascending by UTF-16 code units. */
  readonly operations?: readonly string[];
  /** The resource handles that stay allowed; an invocation must then name at least one. */
  readonly resourceHandles?: readonly string[];
  /** Limits by argument name; an invocation must have every argument named here. */
  readonly constraints?: { readonly [argument: string]: Constraint };
  /** Limits on the arguments of single operations; those of `*` hold for every operation. */
  readonly operationConstraints?: { readonly [operation: string]: ArgumentConstraints };
  /** The names of all arguments that calls of an operation, or of `*`, may have at the top level. */
  readonly arguments?: { readonly [operation: string]: readonly string[] };
  /** Expiry, `YYYY-MM-DDTHH:MM:SSZ`: the hop allows invocations strictly before it. */
  readonly expires?: string;
  /** Start, `YYYY-MM-DDTHH:MM:SSZ`: the hop allows invocations from it on. */
  readonly notBefore?: string;
  /** The services that may accept the capability. */
  readonly audience?: readonly string[];
  /** The authenticated agents that may use the capability. */
  readonly invokers?: readonly string[];
  /** Number of links that may follow this one; 0 seals the token. */
  readonly maxFurtherHops?: number;
  /** The reason for this hop, in its author's own words; never judged. */
  readonly purpose?: string;
  /** 16 base64url characters that make two otherwise equal hops distinct; never judged. */
  readonly nonce?: string;
}

/** Returns an own property of a hop or a limit; ignores one that other code set on `Object.prototype`. */
export function ownMember<T extends object, Key extends keyof T>(
  value: T,
  key: Key,
): T[Key] | undefined {
  return Object.hasOwn(value, key) ? value[key] : undefined;
}

/**
 * A hop as a program writes it. Sets may have any order. A time may also be a `Date`, have a
 * fraction of a second, or, where a token is minted or attenuated, be a duration from now: `90s`,
 * `15m`, `2h` or `1d`.
 */
export interface HopInit extends Omit<Hop, "expires" | "notBefore"> {
  /**
   * A `Date` is rounded down to the second. A duration means "at most so long from now": attenuating
   * lowers it to what is left.
   */
  readonly expires?: string | Date;
  /** A `Date` is rounded up to the second. */
  readonly notBefore?: string | Date;
}
