import type { Json } from "../bytes/json.js";
import type { Suggest } from "../checks/nearest.js";
import type { Authority } from "./authority.js";
import type { ArgumentDomain, Domain } from "./domain.js";
import type { ArgumentConstraints, Constraint } from "./hop.js";
import type { CheckedInvocation } from "./invocation.js";
import { shown } from "./scalar.js";

/** One reason why a caveat cannot be judged. */
export interface HopProblem {
  readonly code: "caveat_malformed" | "caveat_unknown";
  /** The rule with the problem, such as `constraints.amount`; absent if the problem concerns the whole caveat. */
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

/** One rule of a hop that an invocation violates. */
export interface RuleFailure {
  readonly code: RuleCode;
  /** The rule: a key of the hop, or a limit such as `constraints.amount.max`. */
  readonly rule: string;
  /** The value that the hop requires. */
  readonly expected: Json;
  /**
   * The value in the invocation; absent if there is none. If the argument would be inside a value that is not an
   * object, `actual` is that value.
   */
  readonly actual?: unknown;
  /** The nearest allowed value, if there is one. */
  readonly nearest?: Json;
  /** Number of further failures of the same key that are left out; set only on the last failure in the list. */
  readonly more?: number;
  readonly message: string;
}

/** A value that a hop names as allowed but the token no longer allows. */
export interface Overreach {
  /** The rule, such as `operations` or `constraints.amount.max`. */
  readonly rule: string;
  /** The offending value. */
  readonly value: Json;
  /** The authority that the token still has under this rule. */
  readonly allowed: Json;
  /** The nearest value that is still allowed. */
  readonly nearest?: Json;
  readonly message: string;
}

/** The value of a key in one hop, or in the authority of all hops, prepared for display. */
export type KeyWords =
  | { readonly kind: "set"; readonly items: readonly string[] }
  | { readonly kind: "time"; readonly time: string }
  | { readonly kind: "limits"; readonly limits: { readonly [argument: string]: Constraint } }
  | { readonly kind: "domains"; readonly domains: { readonly [argument: string]: Domain } }
  | {
      readonly kind: "operation-limits";
      readonly operations: { readonly [operation: string]: ArgumentConstraints };
    }
  | {
      readonly kind: "operation-domains";
      readonly operations: {
        readonly [operation: string]: { readonly [argument: string]: ArgumentDomain };
      };
    }
  | {
      readonly kind: "closed-lists";
      readonly lists: { readonly [operation: string]: readonly string[] };
    }
  | { readonly kind: "count"; readonly count: number }
  | { readonly kind: "text"; readonly text: string };

/** The command-line flag for a key. */
export interface Flag {
  readonly kind: "list" | "limits" | "closed-lists" | "moment" | "count" | "text";
  /** The form of the flag, such as `--op <operation>`. */
  readonly form: `--${string} <${string}>`;
  readonly help: string;
}

/**
 * Everything about one key of a hop: how the key is read, judged, intersected, attenuated and displayed. `HOP_RULES`
 * has one rule for each key.
 */
export interface HopRule<Value> {
  /** The name of the key in output for people. */
  readonly label: string;
  /** Absent for a key that has no flag of its own. */
  readonly flag?: Flag;
  /** Returns the problems of a value that was read from a caveat. */
  problems(value: Json, suggest: Suggest): readonly HopProblem[];
  /**
   * Converts a value from a program to canonical form. A value that has no canonical form is returned unchanged;
   * `problems` then refuses it.
   */
  canonical(value: unknown): unknown;
  /**
   * Returns every reason why the value does not allow an invocation.
   *
   * @param furtherLinks - Number of links that follow the hop in its chain.
   */
  failures(
    value: Value,
    asked: CheckedInvocation,
    furtherLinks: number,
    suggest: Suggest,
  ): Iterable<RuleFailure>;
  /** Returns the properties of `authority` that the key affects, narrowed by the value. */
  meet(authority: Authority, value: Value, furtherLinks: number): Authority;
  /** Returns the names of this key's rules that allow nothing, so that `authority` allows no call. */
  empty(authority: Authority): Iterable<string>;
  /** Returns the parts of the value that `authority` no longer allows. */
  overreaches(value: Value, authority: Authority, suggest: Suggest): Iterable<Overreach>;
  /** Reduces the value to what `authority` still allows, as far as a single value can express the result. */
  intersect(value: Value, authority: Authority): Value;
  words(value: Value): KeyWords;
  /** Returns the part of an authority that this key limits; `undefined` if no hop has the key. */
  left(authority: Authority): KeyWords | undefined;
}

/**
 * Maximum number of problems or overreaches reported for a hop, and of failures reported for a key. The author of a
 * hop controls how many there are.
 */
export const MAX_REPORTED = 16;

/** The result of a rule that finds nothing wrong. */
export const NONE: readonly never[] = /* @__PURE__ */ Object.freeze([]);

export function malformed(rule: string | undefined, message: string): HopProblem {
  return { code: "caveat_malformed", message, ...(rule === undefined ? {} : { rule }) };
}

export function wrongValue(rule: string, expected: string, value: Json | undefined): HopProblem {
  return malformed(rule, `"${rule}" must be ${expected}, not ${shown(value)}`);
}

/** The place of a property name that this version does not know, and the names that it knows there. */
interface NamedPlace {
  /** The rule of the object; absent for the hop itself. */
  readonly inside?: string;
  /** The rule of the name. */
  readonly rule: string;
  /** A description of the name, such as `unknown operator`. */
  readonly what: string;
  /** The names that the object may have. */
  readonly known: readonly string[];
  /** A hint that replaces the suggestion. */
  readonly hint?: string | undefined;
}

/** Returns the problem of a name that this version does not know. */
export function unknownName(
  name: string,
  { inside, rule, what, known, hint: given }: NamedPlace,
  suggest: Suggest,
): HopProblem {
  const near = given === undefined ? suggest(name, known) : undefined;
  const place = inside === undefined ? "a hop" : `"${inside}"`;
  const there = `there are ${known.join(", ")}`;
  const hint = given ?? (near === undefined ? there : `did you mean "${near}"?`);
  const message = `${what} ${shown(name)} in ${place}; ${hint}`;
  return {
    code: "caveat_unknown",
    rule,
    message,
    ...(near === undefined ? {} : { nearest: near }),
  };
}

/** Returns the first 16 problems of the parts of a value. */
export function firstProblems<Part>(
  parts: readonly Part[],
  problems: (part: Part) => Iterable<HopProblem>,
): readonly HopProblem[] {
  const found: HopProblem[] = [];
  for (const part of parts) {
    for (const problem of problems(part)) {
      if (found.push(problem) >= MAX_REPORTED) return found;
    }
  }
  return found.length === 0 ? NONE : found;
}

/** Returns the first 16 failures. The last of these says how many further failures were left out. */
export function firstFailures(failures: readonly RuleFailure[]): readonly RuleFailure[] {
  const more = failures.length - MAX_REPORTED;
  if (more <= 0) return failures;
  return failures.slice(0, MAX_REPORTED).map((failure, at) => {
    if (at < MAX_REPORTED - 1) return failure;
    const others = more === 1 ? "1 more limit is" : `${more} more limits are`;
    return { ...failure, more, message: `${failure.message} (${others} not met)` };
  });
}

/** Returns the rule for names below a key, as denials name it: `constraints.amount`, or `constraints["a.b"]`. */
export function ruleOf(key: string, ...names: readonly string[]): string {
  return names.reduce(
    (rule, name) =>
      /^[\w-]+$/.test(name) ? `${rule}.${name}` : `${rule}[${JSON.stringify(name)}]`,
    key,
  );
}

/** Returns the overreach for a value that exceeds what is still allowed. */
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

/** Returns the end of a message about a value that was probably misspelt. */
export function didYouMean(near: Json | undefined): string {
  return near === undefined ? "" : `; did you mean ${shown(near)}?`;
}
