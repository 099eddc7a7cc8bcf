import { isJsonObject, isObject } from "../bytes/json.js";
import {
  ARGUMENT_OPERATORS,
  argumentConstraintProblems,
  judgedValue,
} from "./argument-operators.js";
import { type Found, findArgument, readArgumentName } from "./argument-pointer.js";
import { canonicalConstraint } from "./canonical-order.js";
import { type ArgumentConstraint, type Hop, ownMember } from "./hop.js";
import {
  firstFailures,
  firstProblems,
  type HopProblem,
  type HopRule,
  malformed,
  NONE,
  type RuleFailure,
  ruleOf,
  wrongValue,
} from "./hop-rule.js";
import { judgeArgument } from "./judge-argument.js";
import { intersectEntries, operationOverreaches } from "./operation-attenuation.js";
import { deadRules, domainsOf, entriesFor, entryRule, meetAll } from "./operation-authority.js";
import { shown } from "./scalar.js";

type OperationConstraints = NonNullable<Hop["operationConstraints"]>;

/** The name of this key in denials. */
const KEY = "operationConstraints";

/** `operationConstraints`: limits on the arguments of single operations. */
export const OPERATION_CONSTRAINTS: HopRule<OperationConstraints> = {
  label: "argument of",
  problems(value, suggest) {
    const entries = isJsonObject(value) ? Object.entries(value) : [];
    if (entries.length === 0)
      return [wrongValue(KEY, "an object with at least one operation, or *", value)];
    return firstProblems(entries, function* ([operation, entry]): Iterable<HopProblem> {
      const rule = entryRule(KEY, operation);
      const constraints = isJsonObject(entry) ? Object.entries(entry) : [];
      if (constraints.length === 0)
        yield wrongValue(rule, "an object with at least one argument", entry);
      for (const [argument, constraint] of constraints) {
        const own = ruleOf(rule, argument);
        if (readArgumentName(argument) === undefined) yield wrongName(own, argument);
        yield* argumentConstraintProblems(own, constraint, suggest);
      }
    });
  },
  canonical(value) {
    if (!isObject(value)) return value;
    return mapped(value, (entry) =>
      isObject(entry) ? mapped(entry, (constraint) => canonicalConstraint(constraint)) : entry,
    );
  },
  failures(entries, asked, _furtherLinks, suggest) {
    const failures: RuleFailure[] = [];
    for (const [operation, constraints] of entriesFor(entries, asked.operation)) {
      for (const [argument, limit] of Object.entries(constraints)) {
        const place = placeOf(argument, asked.arguments);
        if (place.kind === "missing" && mayBeMissing(limit)) continue;
        const rule = ruleOf(entryRule(KEY, operation), argument);
        failures.push(
          ...judgeArgument({ rule, argument, limit }, ARGUMENT_OPERATORS, place, suggest),
        );
      }
    }
    return failures.length === 0 ? NONE : firstFailures(failures);
  },
  meet({ operationConstraints = {} }, entries) {
    const merged = new Map(Object.entries(operationConstraints));
    for (const [operation, constraints] of Object.entries(entries)) {
      const before = new Map(Object.entries(merged.get(operation) ?? {}));
      merged.set(operation, Object.fromEntries(meetAll(before, domainsOf(constraints))));
    }
    return { operationConstraints: Object.fromEntries(merged) };
  },
  empty: deadRules,
  overreaches: operationOverreaches,
  intersect: intersectEntries,
  words: (operations) => ({ kind: "operation-limits", operations }),
  left: ({ operationConstraints: operations }) =>
    operations === undefined ? undefined : { kind: "operation-domains", operations },
};

function wrongName(rule: string, name: string): HopProblem {
  const form = "a name, or a JSON Pointer such as /to/iban to an argument inside another";
  return malformed(rule, `"${rule}" must have ${form}, not ${shown(name)}`);
}

function mapped(
  value: { readonly [name: string]: unknown },
  map: (one: unknown) => unknown,
): { readonly [name: string]: unknown } {
  return Object.fromEntries(Object.entries(value).map(([name, one]) => [name, map(one)]));
}

/** Finds an argument. The result is `oversized` if the argument is too long to be judged. */
function placeOf(name: string, given: { readonly [name: string]: unknown }): Found {
  const place = findArgument(given, readArgumentName(name) ?? [name]);
  if (place.kind !== "present" || judgedValue(place.value) !== undefined) return place;
  const { value } = place;
  if (typeof value === "string") {
    return { kind: "oversized", value, size: `${value.length} UTF-16 code units` };
  }
  return Array.isArray(value)
    ? { kind: "oversized", value, size: `${value.length} elements` }
    : place;
}

function mayBeMissing(limit: ArgumentConstraint): boolean {
  if (limit === null || typeof limit !== "object") return false;
  return ownMember(limit, "optional") === true || ownMember(limit, "absent") === true;
}
