import { isJsonObject, isObject } from "../bytes/json.js";
import { isSet, sortedSet } from "./canonical-order.js";
import type { Hop } from "./hop.js";
import {
  beyond,
  didYouMean,
  firstFailures,
  firstProblems,
  type HopProblem,
  type HopRule,
  NONE,
  type Overreach,
  type RuleFailure,
  wrongValue,
} from "./hop-rule.js";
import { entriesFor, entryRule } from "./operation-authority.js";
import { repeated, shown, shownList } from "./scalar.js";

type ClosedLists = NonNullable<Hop["arguments"]>;

/** The name of this key in denials. */
const KEY = "arguments";

/** `arguments`: closed lists of the arguments that calls of an operation may have. */
export const CLOSED_LISTS: HopRule<ClosedLists> = {
  label: "only arguments",
  flag: {
    kind: "closed-lists",
    form: "--only-args <names>",
    help:
      "all arguments that calls may have, such as to,amount; for one operation such as pay:to,amount " +
      "or, without any argument, 'ping:'; repeat for more",
  },
  problems(value) {
    const entries = isJsonObject(value) ? Object.entries(value) : [];
    if (entries.length === 0)
      return [wrongValue(KEY, "an object with at least one operation, or *", value)];
    return firstProblems(entries, function* ([operation, names]): Iterable<HopProblem> {
      const isEmpty = Array.isArray(names) && names.length === 0;
      if (isEmpty || isSet(names)) return;
      const expected = "an array of names of arguments, strictly ascending, each string once";
      yield wrongValue(entryRule(KEY, operation), expected, names);
    });
  },
  canonical(value) {
    if (!isObject(value)) return value;
    return Object.fromEntries(
      Object.entries(value).map(([operation, names]) => [
        operation,
        Array.isArray(names) ? sortedSet(names) : names,
      ]),
    );
  },
  failures(lists, asked, _furtherLinks, suggest) {
    const failures: RuleFailure[] = [];
    const given = Object.keys(asked.arguments);
    for (const [operation, names] of entriesFor(lists, asked.operation)) {
      for (const name of given) {
        if (names.includes(name)) continue;
        const near = suggest(name, names);
        failures.push({
          code: "constraint_violated",
          rule: entryRule(KEY, operation),
          expected: names,
          actual: repeated(name),
          ...(near === undefined ? {} : { nearest: near }),
          message: `argument ${shown(name)} is not allowed; allowed: ${shownList(names)}${didYouMean(near)}`,
        });
      }
    }
    return failures.length === 0 ? NONE : firstFailures(failures);
  },
  meet({ arguments: before = {} }, lists) {
    const merged = new Map(Object.entries(before));
    for (const [operation, names] of Object.entries(lists)) {
      merged.set(operation, merged.get(operation)?.filter((name) => names.includes(name)) ?? names);
    }
    return { arguments: Object.fromEntries(merged) };
  },
  // The rule of `operationConstraints` reports arguments for which the two keys together leave no value.
  empty: () => NONE,
  *overreaches(lists, { arguments: before = {} }, suggest): Iterable<Overreach> {
    for (const [operation, names] of Object.entries(lists)) {
      for (const [, allowed] of entriesFor(before, operation)) {
        for (const name of names) {
          if (allowed.includes(name)) continue;
          const near = suggest(name, allowed);
          const why = `still allowed: ${shownList(allowed)}${didYouMean(near)}`;
          yield beyond(entryRule(KEY, operation), name, allowed, why, near);
        }
      }
    }
  },
  intersect(lists, { arguments: before = {} }) {
    return Object.fromEntries(
      Object.entries(lists).map(([operation, names]) => {
        const sets = entriesFor(before, operation).map(([, allowed]) => allowed);
        return [operation, names.filter((name) => sets.every((set) => set.includes(name)))];
      }),
    );
  },
  words: (lists) => ({ kind: "closed-lists", lists }),
  left: ({ arguments: lists }) =>
    lists === undefined ? undefined : { kind: "closed-lists", lists },
};
