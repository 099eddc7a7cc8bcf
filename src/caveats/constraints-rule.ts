import { isJsonObject, type Json } from "../bytes/json.js";
import type { Suggest } from "../checks/nearest.js";
import { canonicalLimit } from "./canonical-order.js";
import { argumentOverreaches, intersectLimit } from "./constraint-attenuation.js";
import { type Domain, domainOf, isEmpty, meetDomains } from "./domain.js";
import type { Hop } from "./hop.js";
import {
  type HopProblem,
  type HopRule,
  MAX_REPORTED,
  NONE,
  type RuleFailure,
  unknownName,
  wrongValue,
} from "./hop-rule.js";
import { judgeArgument } from "./judge-argument.js";
import { isScalar, type Scalar, shown } from "./scalar.js";

type Constraints = NonNullable<Hop["constraints"]>;

const OPERATORS = ["in", "max", "min", "not_in"];

/** `constraints`: limits on the arguments of a call, by name. */
export const CONSTRAINTS: HopRule<Constraints> = {
  label: "argument",
  flag: {
    kind: "limits",
    form: "--arg <expr>",
    help:
      "a limit on an argument, such as 'amount<=1000', 'amount>=1', 'currency in USD,EUR', " +
      "to=acc_456 or 'to not in acc_1,acc_2'; repeat for more",
  },
  problems(value, suggest) {
    const limits = isJsonObject(value) ? Object.entries(value) : [];
    if (limits.length === 0)
      return [wrongValue("constraints", "an object with at least one argument", value)];
    const found: HopProblem[] = [];
    for (const [argument, limit] of limits) {
      addProblems(found, argument, limit, suggest);
      if (found.length >= MAX_REPORTED) return found;
    }
    return found.length === 0 ? NONE : found;
  },
  canonical(value) {
    if (typeof value !== "object" || value === null || Array.isArray(value)) return value;
    const limits = Object.entries(value);
    return Object.fromEntries(limits.map(([name, limit]) => [name, canonicalLimit(limit)]));
  },
  failures(limits, asked, _furtherLinks, suggest) {
    const found: RuleFailure[] = [];
    for (const [argument, limit] of Object.entries(limits)) {
      found.push(...judgeArgument(constraintRule, argument, limit, asked.arguments, suggest));
    }
    return found.length === 0 ? NONE : reported(found);
  },
  meet({ constraints = {} }, limits) {
    const merged = new Map(Object.entries(constraints));
    for (const [argument, limit] of Object.entries(limits)) {
      const before = merged.get(argument);
      const own = domainOf(limit);
      merged.set(argument, before === undefined ? own : meetDomains(before, own));
    }
    return { constraints: Object.fromEntries(merged) };
  },
  empty({ constraints }) {
    if (constraints === undefined) return NONE;
    const empty = Object.entries(constraints).filter(([, domain]) => isEmpty(domain));
    return empty.map(([argument]) => `constraints.${argument}`);
  },
  *overreaches(limits, { constraints }, suggest) {
    for (const [argument, limit] of Object.entries(limits)) {
      const domain = domainNamed(constraints, argument);
      yield* argumentOverreaches(constraintRule(argument), limit, domain, suggest);
    }
  },
  intersect(limits, { constraints }) {
    const entries = Object.entries(limits);
    return Object.fromEntries(
      entries.map(([name, limit]) => [name, intersectLimit(limit, domainNamed(constraints, name))]),
    );
  },
  words: (limits) => ({ kind: "limits", limits }),
  left: ({ constraints: domains }) =>
    domains === undefined ? undefined : { kind: "domains", domains },
};

/** Returns the first 16 failures; the last one counts the others. */
function reported(failures: readonly RuleFailure[]): readonly RuleFailure[] {
  const more = failures.length - MAX_REPORTED;
  if (more <= 0) return failures;
  return failures.slice(0, MAX_REPORTED).map((failure, at) => {
    if (at < MAX_REPORTED - 1) return failure;
    const others = more === 1 ? "1 more limit is" : `${more} more limits are`;
    return { ...failure, more, message: `${failure.message} (${others} not met)` };
  });
}

/** Returns the name of the limit on an argument in denials: `constraints.amount`. */
export function constraintRule(argument: string): string {
  return /^[\w-]+$/.test(argument) ? `constraints.${argument}` : `constraints[${shown(argument)}]`;
}

function domainNamed(
  domains: { readonly [argument: string]: Domain } = {},
  argument: string,
): Domain | undefined {
  return Object.hasOwn(domains, argument) ? domains[argument] : undefined;
}

function addProblems(found: HopProblem[], argument: string, limit: Json, suggest: Suggest): void {
  if (isScalar(limit)) return;
  if (!isJsonObject(limit) || Object.keys(limit).length === 0) {
    const expected = "a value, or an object with at least one operator";
    found.push(wrongValue(constraintRule(argument), expected, limit));
    return;
  }
  for (const [operator, operand] of Object.entries(limit)) {
    const name = (): string => `${constraintRule(argument)}.${operator}`;
    if (!OPERATORS.includes(operator)) {
      found.push(unknownName(operator, name(), OPERATORS, "unknown operator", suggest));
    } else if (operator === "min" || operator === "max") {
      if (typeof operand !== "number") found.push(wrongValue(name(), "a number", operand));
    } else if (!isScalars(operand)) {
      const expected = "a non-empty array of strings, numbers, booleans or null";
      found.push(wrongValue(name(), expected, operand));
    } else if (!isAscending(operand)) {
      const expected = "strictly ascending by canonical text, each value once";
      found.push(wrongValue(name(), expected, operand));
    }
    if (found.length >= MAX_REPORTED) return;
  }
}

function isScalars(value: Json | undefined): value is readonly Scalar[] {
  return Array.isArray(value) && value.length > 0 && value.every(isScalar);
}

function isAscending(values: readonly Scalar[]): boolean {
  const texts = values.map((value) => JSON.stringify(value));
  return texts.every((text, at) => at === 0 || (texts[at - 1] ?? "") < text);
}
