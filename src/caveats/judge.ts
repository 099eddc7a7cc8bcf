import type { Json } from "../bytes/json.js";
import type { Constraint, Hop, Operators } from "./hop.js";
import type { CheckedInvocation } from "./invocation.js";
import { nearest } from "./nearest.js";
import { constraintRule } from "./read-hop.js";
import { type Scalar, scalarType, shown, shownList } from "./scalar.js";

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

// Whoever makes a call chooses how many handles it names; what is told of them is bounded.
const MOST_HANDLES_TOLD = 16;

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
  readonly message: string;
}

/**
 * Judges an invocation by one hop. Returns every rule that is not met, in the order of `HOP_KEYS`;
 * none if the hop allows it.
 *
 * @param furtherLinks - How many links follow this hop in its chain.
 */
export function judgeHop(hop: Hop, asked: CheckedInvocation, furtherLinks: number): RuleFailure[] {
  const failures: RuleFailure[] = [];
  if (hop.operations !== undefined && !hop.operations.includes(asked.operation)) {
    failures.push(
      notInSet("operation_denied", "operations", "operation", asked.operation, hop.operations),
    );
  }
  if (hop.resourceHandles !== undefined) {
    const allowed = hop.resourceHandles;
    if (asked.resourceHandles.length === 0) {
      failures.push(
        notInSet("resource_denied", "resourceHandles", "resource handle", undefined, allowed),
      );
    }
    let refused = 0;
    for (const handle of asked.resourceHandles) {
      if (allowed.includes(handle)) continue;
      failures.push(
        notInSet("resource_denied", "resourceHandles", "resource handle", handle, allowed),
      );
      if (++refused === MOST_HANDLES_TOLD) break;
    }
  }
  for (const [argument, limit] of Object.entries(hop.constraints ?? {})) {
    failures.push(...judgeArgument(argument, limit, asked.arguments));
  }
  failures.push(...judgeTime(hop, asked.time));
  if (hop.audience !== undefined && !isIn(hop.audience, asked.audience)) {
    failures.push(
      notInSet("audience_denied", "audience", "audience", asked.audience, hop.audience),
    );
  }
  if (hop.invokers !== undefined && !isIn(hop.invokers, asked.invoker)) {
    failures.push(notInSet("invoker_denied", "invokers", "invoker", asked.invoker, hop.invokers));
  }
  if (hop.maxFurtherHops !== undefined && furtherLinks > hop.maxFurtherHops) {
    failures.push({
      code: "too_many_hops",
      rule: "maxFurtherHops",
      expected: hop.maxFurtherHops,
      actual: furtherLinks,
      message: `${furtherLinks} links follow this hop, which allows ${hop.maxFurtherHops}`,
    });
  }
  return failures;
}

function isIn(set: readonly string[], value: string | undefined): boolean {
  return value !== undefined && set.includes(value);
}

function notInSet(
  code: RuleCode,
  rule: string,
  noun: string,
  actual: string | undefined,
  expected: readonly string[],
): RuleFailure {
  if (actual === undefined) {
    const message = `no ${noun} is given; allowed: ${shownList(expected)}`;
    return { code, rule, expected, message };
  }
  const near = nearest(actual, expected);
  const hint = near === undefined ? "" : `; did you mean ${shown(near)}?`;
  const message = `${noun} ${shown(actual)} is not allowed; allowed: ${shownList(expected)}${hint}`;
  const failure = { code, rule, expected, actual, message };
  return near === undefined ? failure : { ...failure, nearest: near };
}

// Times in canonical form order as text, and a moment's fraction of a second changes nothing: a hop
// speaks of whole seconds.
function judgeTime({ expires, notBefore }: Hop, actual: string): RuleFailure[] {
  const failures: RuleFailure[] = [];
  if (expires !== undefined && !(actual < expires)) {
    const message = `expired at ${expires}; it is ${actual}`;
    failures.push({ code: "expired", rule: "expires", expected: expires, actual, message });
  }
  if (notBefore !== undefined && !(actual >= notBefore)) {
    const message = `not valid before ${notBefore}; it is ${actual}`;
    failures.push({
      code: "not_yet_valid",
      rule: "notBefore",
      expected: notBefore,
      actual,
      message,
    });
  }
  return failures;
}

function judgeArgument(
  argument: string,
  limit: Constraint,
  given: CheckedInvocation["arguments"],
): RuleFailure[] {
  const rule = constraintRule(argument);
  const present = Object.hasOwn(given, argument);
  const value = present ? given[argument] : undefined;
  if (limit === null || typeof limit !== "object") {
    if (present && value === limit) return [];
    return [violated(rule, argument, limit, value, present, `must be ${shown(limit)}`, limit)];
  }
  const failures: RuleFailure[] = [];
  for (const operator of ["in", "max", "min", "not_in"] as const) {
    const failure = judgeOperator(limit, operator, value);
    if (failure === undefined) continue;
    const name = `${rule}.${operator}`;
    failures.push(
      violated(name, argument, failure.expected, value, present, failure.must, failure.near),
    );
  }
  return failures;
}

interface OperatorFailure {
  readonly expected: Json;
  readonly must: string;
  readonly near?: Json | undefined;
}

function judgeOperator(
  limit: Operators,
  operator: keyof Operators,
  value: unknown,
): OperatorFailure | undefined {
  const { min, max, in: listed, not_in: excluded } = limit;
  if (operator === "max" && max !== undefined) {
    if (scalarType(value) === "number" && Number(value) <= max) return undefined;
    return { expected: max, must: `must be a number of at most ${max}`, near: max };
  }
  if (operator === "min" && min !== undefined) {
    if (scalarType(value) === "number" && Number(value) >= min) return undefined;
    return { expected: min, must: `must be a number of at least ${min}`, near: min };
  }
  if (operator === "in" && listed !== undefined) {
    if (listed.some((allowed) => allowed === value)) return undefined;
    const near = nearest(
      value,
      listed.filter((item) => typeof item === "string"),
    );
    return { expected: listed, must: `must be one of ${shownList(listed)}`, near };
  }
  if (operator === "not_in" && excluded !== undefined) {
    return judgeExclusion(excluded, value);
  }
  return undefined;
}

// A value of a type that no member has is refused too: a service that reads "7" and 7 alike could
// otherwise be led past the exclusion.
function judgeExclusion(excluded: readonly Scalar[], value: unknown): OperatorFailure | undefined {
  const type = scalarType(value);
  const types = [...new Set(excluded.map(scalarType))];
  if (type === undefined || !types.includes(type)) {
    return { expected: excluded, must: `must be of type ${types.join(" or ")}` };
  }
  if (!excluded.some((item) => item === value)) return undefined;
  return { expected: excluded, must: `must not be one of ${shownList(excluded)}` };
}

// Arguments may be of any size, so what is not a scalar is only named.
function shownArgument(value: unknown): string {
  if (typeof value !== "object" || value === null) return shown(value);
  return Array.isArray(value) ? "an array" : "an object";
}

function violated(
  rule: string,
  argument: string,
  expected: Json,
  actual: unknown,
  present: boolean,
  must: string,
  near: Json | undefined,
): RuleFailure {
  const had = present ? `it is ${shownArgument(actual)}` : "it is missing";
  return {
    code: "constraint_violated",
    rule,
    expected,
    message: `argument ${shown(argument)} ${must}; ${had}`,
    ...(present ? { actual } : {}),
    ...(near === undefined ? {} : { nearest: near }),
  };
}
