import { isJsonObject } from "../bytes/json.js";
import { ARGUMENT_OPERATORS } from "./argument-operators.js";
import { findArgument } from "./argument-pointer.js";
import { canonicalLimit } from "./canonical-order.js";
import { argumentOverreaches, intersectLimit } from "./constraint-attenuation.js";
import { type Domain, domainOf, isEmpty, meetDomains } from "./domain.js";
import type { Hop } from "./hop.js";
import {
  firstFailures,
  firstProblems,
  type HopRule,
  NONE,
  type RuleFailure,
  ruleOf,
  wrongValue,
} from "./hop-rule.js";
import { judgeArgument } from "./judge-argument.js";
import { constraintProblems, SCALAR_OPERATORS } from "./operators.js";
import { shown } from "./scalar.js";

type Constraints = NonNullable<Hop["constraints"]>;

/** Returns a hint about an operator that only `operationConstraints` has. */
function hintFor(operator: string): string | undefined {
  if (!Object.hasOwn(ARGUMENT_OPERATORS, operator)) return undefined;
  return `"operationConstraints" has ${shown(operator)}, for one operation or, under "*", for every operation`;
}

/** `constraints`: limits on the arguments of a call, by name. */
export const CONSTRAINTS: HopRule<Constraints> = {
  label: "argument",
  flag: {
    kind: "limits",
    form: "--arg <expr>",
    help:
      "a limit on an argument, such as 'amount<=1000', 'amount>=1', 'currency in USD,EUR', " +
      "to=acc_456 or 'to not in acc_1,acc_2'; for one operation such as 'pay:amount<=50', " +
      "'read:path under /data', 'send:bcc absent', 'list:?limit<=100', 'pay:/to/iban=DE02', " +
      "'send:to each in a,b', 'send:to items<=3', 'send:subject begins with Report' or " +
      "'fetch:url at https://*.example.com/docs'; for every operation '*:path under /data'; " +
      "repeat for more",
  },
  problems(value, suggest) {
    const limits = isJsonObject(value) ? Object.entries(value) : [];
    if (limits.length === 0)
      return [wrongValue("constraints", "an object with at least one argument", value)];
    return firstProblems(limits, ([argument, limit]) =>
      constraintProblems(SCALAR_OPERATORS, constraintRule(argument), limit, suggest, hintFor),
    );
  },
  canonical(value) {
    if (typeof value !== "object" || value === null || Array.isArray(value)) return value;
    const limits = Object.entries(value);
    return Object.fromEntries(limits.map(([name, limit]) => [name, canonicalLimit(limit)]));
  },
  failures(limits, asked, _furtherLinks, suggest) {
    const found: RuleFailure[] = [];
    for (const [argument, limit] of Object.entries(limits)) {
      const named = { rule: constraintRule(argument), argument, limit };
      const place = findArgument(asked.arguments, [argument]);
      found.push(...judgeArgument(named, SCALAR_OPERATORS, place, suggest));
    }
    return found.length === 0 ? NONE : firstFailures(found);
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

/** Returns the rule of a limit on an argument, as denials name it: `constraints.amount`. */
export function constraintRule(argument: string): string {
  return ruleOf("constraints", argument);
}

function domainNamed(
  domains: { readonly [argument: string]: Domain } = {},
  argument: string,
): Domain | undefined {
  return Object.hasOwn(domains, argument) ? domains[argument] : undefined;
}
