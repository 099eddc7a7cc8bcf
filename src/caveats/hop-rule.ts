import type { Json } from "../bytes/json.js";
import type { Authority } from "./authority.js";
import type { Domain } from "./domain.js";
import type { Constraint } from "./hop.js";
import type { CheckedInvocation } from "./invocation.js";
import { shown } from "./scalar.js";

/** Why a caveat cannot be judged. */
export interface HopProblem {
  readonly code: "caveat_malformed" | "caveat_unknown";
  /** The key concerned, such as `constraints.amount`; absent if it is the whole caveat. */
  readonly rule?: string;
  readonly message: string;
  readonly nearest?: string;
}

/** The denial codes of a hop's rules. */
export type RuleCode =
  | "expired"
  | "not_yet_valid"
  | "operation_denied"
  | "resource_denied"
  | "constraint_violated"
  | "audience_denied"
  | "invoker_denied"
  | "too_many_hops";

/** One rule of a hop that an invocation does not meet. */
export interface RuleFailure {
  readonly code: RuleCode;
  /** The rule: a key of the hop, or a limit such as `constraints.amount.max`. */
  readonly rule: string;
  /** What the hop asks for. */
  readonly expected: Json;
  /** What the invocation had; absent if it had nothing. */
  readonly actual?: unknown;
  /** The nearest value that the rule allows, where there is one. */
  readonly nearest?: Json;
  /** Failures of the same key that are not listed, in the last one that is; absent if all are listed. */
  readonly more?: number;
  readonly message: string;
}

/** A value that a hop names as allowed but the token no longer allows. */
export interface Overreach {
  /** The rule, such as `operations` or `constraints.amount.max`. */
  readonly rule: string;
  /** The offending value. */
  readonly value: Json;
  /** What the token still allows under this rule. */
  readonly allowed: Json;
  /** The nearest value that is still allowed. */
  readonly nearest?: Json;
  readonly message: string;
}

/** Finds the value that was probably meant; within one answer its work is bounded. */
export type Suggest = (text: unknown, candidates: readonly string[]) => string | undefined;

/** What a key says, or what all hops leave of it, for people. */
export type KeyWords =
  | { readonly kind: "set"; readonly items: readonly string[] }
  | { readonly kind: "time"; readonly time: string }
  | { readonly kind: "limits"; readonly limits: { readonly [argument: string]: Constraint } }
  | { readonly kind: "domains"; readonly domains: { readonly [argument: string]: Domain } }
  | { readonly kind: "count"; readonly count: number }
  | { readonly kind: "text"; readonly text: string };

/** How the command takes a key's value. */
export interface Flag {
  readonly kind: "list" | "limits" | "moment" | "count" | "text";
  /** As in `--op <operation>`. */
  readonly form: `--${string} <${string}>`;
  readonly help: string;
}

/**
 * All that there is to know about one key of a hop: how it reads, when it allows, how it meets what
 * other hops say, and its words. `HOP_RULES` has one for each key.
 */
export interface HopRule<Value> {
  /** What people call it. */
  readonly label: string;
  /** Absent for a key that the command sets by itself. */
  readonly flag?: Flag;
  /** What is wrong with a value as it stands in a caveat. */
  problems(value: Json, suggest: Suggest): readonly HopProblem[];
  /** A program's value in the form that a caveat has. What cannot be one is left for `problems`. */
  canonical(value: unknown): unknown;
  /**
   * Every reason why the value does not allow an invocation.
   *
   * @param furtherLinks - How many links follow the hop in its chain.
   */
  failures(
    value: Value,
    asked: CheckedInvocation,
    furtherLinks: number,
    suggest: Suggest,
  ): Iterable<RuleFailure>;
  /** What `authority` and the value leave together: the members of it that the key concerns. */
  meet(authority: Authority, value: Value, furtherLinks: number): Authority;
  /** The rules of this key under which `authority` allows nothing at all. */
  empty(authority: Authority): Iterable<string>;
  /** What the value names as allowed and `authority` no longer allows. */
  overreaches(value: Value, authority: Authority, suggest: Suggest): Iterable<Overreach>;
  /** The value lowered to what `authority` still allows, as far as that can be said. */
  intersect(value: Value, authority: Authority): Value;
  words(value: Value): KeyWords;
  /** The key's part of an authority; absent if no hop limits it. */
  left(authority: Authority): KeyWords | undefined;
}

/** How many problems of a hop are reported: its author chooses how much is wrong with it. */
export const MAX_REPORTED = 16;

/** What a rule returns where nothing is wrong: the same each time, since that is what nearly every check finds. */
export const NONE: readonly never[] = /* @__PURE__ */ Object.freeze([]);

export function malformed(rule: string | undefined, message: string): HopProblem {
  return { code: "caveat_malformed", message, ...(rule === undefined ? {} : { rule }) };
}

export function wrongValue(rule: string, expected: string, value: Json | undefined): HopProblem {
  return malformed(rule, `"${rule}" must be ${expected}, not ${shown(value)}`);
}

/** A name in a hop that this version does not know. */
export function unknownName(
  name: string,
  rule: string,
  known: readonly string[],
  what: string,
  suggest: Suggest,
): HopProblem {
  const near = suggest(name, known);
  const hint = near === undefined ? `there are ${known.join(", ")}` : `did you mean "${near}"?`;
  const message = `${what} ${shown(name)} in a hop; ${hint}`;
  return {
    code: "caveat_unknown",
    rule,
    message,
    ...(near === undefined ? {} : { nearest: near }),
  };
}

/** A value that goes beyond what is still allowed. */
export function beyond(
  rule: string,
  value: Json,
  allowed: Json,
  why: string,
  near?: Json,
): Overreach {
  const message = `"${rule}": ${shown(value)} goes beyond the token; ${why}`;
  return { rule, value, allowed, message, ...(near === undefined ? {} : { nearest: near }) };
}

/** The end of a message about a value that was probably misspelt. */
export function didYouMean(near: Json | undefined): string {
  return near === undefined ? "" : `; did you mean ${shown(near)}?`;
}
