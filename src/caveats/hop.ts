// The type of a hop. hop-rule.ts has the interface of a key's rule. hop-rules.ts has a rule for each key; reading,
// judging, intersecting and attenuating are derived from these rules. This folder contains no cryptography and does
// not import macaroons.

import type { Scalar } from "./scalar.js";

/** Operators on one argument. The argument must satisfy every operator that is present. */
export interface Operators {
  /** The least number allowed. The argument must be a number. */
  readonly min?: number;
  /** The greatest number allowed. The argument must be a number. */
  readonly max?: number;
  /** The argument is one of these values. */
  readonly in?: readonly Scalar[];
  /** The argument is none of these values, but has the JSON type of one of them. */
  readonly not_in?: readonly Scalar[];
}

/** A limit on one argument: exactly this value, or operators. */
export type Constraint = Scalar | Operators;

/** The URLs that a constraint allows, in the strict form of docs/spec.md, section 5.3. */
export interface UrlLimit {
  /** `http`, `https`, `ws` or `wss`. */
  readonly schemes: readonly string[];
  /** Hosts; a suffix such as `.example.com` allows every host below `example.com`. */
  readonly hosts: readonly string[];
  /** Ports in decimal digits; absent means the scheme's default port. */
  readonly ports?: readonly string[];
  /** A folder such as `/v1`, written as in a URL; absent means any path. */
  readonly path?: string;
}

/** Bounds on the number of elements of an array, each from 0 to 256. At least one of the two must be present. */
export interface ItemsLimit {
  readonly min?: number;
  readonly max?: number;
}

/** Operators on the elements of an array. Every element must satisfy every operator that is present. */
export interface ElementOperators extends Operators {
  /** The element is this folder or a path below it, in the strict form of docs/spec.md, section 5.2. */
  readonly path?: string;
  /** The element is a URL with these parts. */
  readonly url?: UrlLimit;
  /** The element is a string that begins with this prefix. For paths and URLs, use `path` and `url` instead. */
  readonly prefix?: string;
  /** The element is an array whose number of elements is within these bounds. */
  readonly items?: ItemsLimit;
}

/** Operators on one argument of an operation. The argument must satisfy every operator that is present. */
export interface ArgumentOperators extends ElementOperators {
  /** A call may leave the argument out. Needs another operator beside it. */
  readonly optional?: true;
  /** A call must leave the argument out. Allows no other operator beside it. */
  readonly absent?: true;
  /** The argument is an array whose elements all satisfy these operators. */
  readonly each?: ElementOperators;
}

/** A limit on one argument of an operation: exactly this value, or operators. */
export type ArgumentConstraint = Scalar | ArgumentOperators;

/** Limits on the arguments of one operation, by name; a name that begins with `/` is a JSON Pointer (RFC 6901). */
export interface ArgumentConstraints {
  readonly [argument: string]: ArgumentConstraint;
}

/**
 * One hop of delegation: the limits that one party adds. Every key that is present must allow an invocation; an
 * absent key restricts nothing (docs/spec.md, section 5).
 */
export interface Hop {
  /** The operations still allowed, strictly ascending by UTF-16 code units. */
  readonly operations?: readonly string[];
  /** The resource handles still allowed. If present, an invocation must name at least one handle. */
  readonly resourceHandles?: readonly string[];
  /** Limits on arguments, by name. An invocation must have every argument that has a limit. */
  readonly constraints?: { readonly [argument: string]: Constraint };
  /** Limits on the arguments of single operations; the limits under `*` apply to every operation. */
  readonly operationConstraints?: { readonly [operation: string]: ArgumentConstraints };
  /** Closed lists: the only top-level arguments that calls of an operation, or of any operation (`*`), may have. */
  readonly arguments?: { readonly [operation: string]: readonly string[] };
  /** The time before which the hop allows invocations: `YYYY-MM-DDTHH:MM:SSZ`. */
  readonly expires?: string;
  /** The earliest time at which the hop allows invocations: `YYYY-MM-DDTHH:MM:SSZ`. */
  readonly notBefore?: string;
  /** The services that may accept the capability. */
  readonly audience?: readonly string[];
  /** The authenticated agents that may use the capability. */
  readonly invokers?: readonly string[];
  /** Number of links that may follow this hop; 0 seals the token. */
  readonly maxFurtherHops?: number;
  /** The reason for this hop in its author's words; ignored in checks. */
  readonly purpose?: string;
  /** 16 base64url characters that distinguish hops with otherwise equal contents; ignored in checks. */
  readonly nonce?: string;
}

/**
 * Returns an own property of a hop or a limit, ignoring properties that other code may have set on
 * `Object.prototype`.
 */
export function ownMember<T extends object, Key extends keyof T>(
  value: T,
  key: Key,
): T[Key] | undefined {
  return Object.hasOwn(value, key) ? value[key] : undefined;
}

/**
 * A hop as a program may write it. Sets may be in any order. A time may also be a `Date`, or have a fraction of a
 * second. When minting or attenuating, a time may also be a duration from now: `90s`, `15m`, `2h` or `1d`.
 */
export interface HopInit extends Omit<Hop, "expires" | "notBefore"> {
  /**
   * A `Date` is rounded down to the second. A duration is counted from now; attenuating reduces it to the remaining
   * lifetime of the token.
   */
  readonly expires?: string | Date;
  /** A `Date` is rounded up to the second. */
  readonly notBefore?: string | Date;
}
