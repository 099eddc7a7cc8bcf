import { isTexts, type Json } from "../bytes/json.js";
import type { Suggest } from "../checks/nearest.js";
import { isSet, sortedSet } from "./canonical-order.js";
import {
  beyond,
  didYouMean,
  type Flag,
  type HopRule,
  MAX_REPORTED,
  NONE,
  type RuleCode,
  type RuleFailure,
  wrongValue,
} from "./hop-rule.js";
import type { CheckedInvocation } from "./invocation.js";
import { repeated, shown, shownList } from "./scalar.js";

type SetKey = "operations" | "resourceHandles" | "audience" | "invokers";

/** The properties in which the kinds of sets differ. */
export interface SetKind {
  readonly code: RuleCode;
  readonly label: string;
  /** The noun for an element of the set. */
  readonly noun: string;
  readonly flag: Flag;
  /** `true` if the elements mean nothing to people; a denial then suggests no similar element. */
  readonly opaque?: boolean;
  /** Returns the value or values that an invocation names. There must be at least one, and each must be in the set. */
  named(asked: CheckedInvocation): string | readonly string[] | undefined;
}

/**
 * Returns the rule for a key whose value is a set of strings. The set must contain every value that an invocation
 * names.
 */
export function setRule(key: SetKey, kind: SetKind): HopRule<readonly string[]> {
  const { code, label, noun, flag, opaque = false } = kind;
  /** Yields the reasons for refusing an invocation: it names no value, or values outside the set. */
  function* failuresOf(
    allowed: readonly string[],
    named: readonly string[],
    suggest: Suggest,
  ): Iterable<RuleFailure> {
    const refused: string[] = [];
    for (const one of named) {
      if (!allowed.includes(one) && refused.push(one) === MAX_REPORTED) break;
    }
    const list = shownList(allowed);
    if (named.length === 0) {
      const message = `no ${noun} is given; allowed: ${list}`;
      yield { code, rule: key, expected: allowed, message };
    }
    for (const one of refused) {
      const near = opaque ? undefined : suggest(one, allowed);
      const actual = repeated(one);
      const message = `${noun} ${shown(one)} is not allowed; allowed: ${list}${didYouMean(near)}`;
      const found: RuleFailure = { code, rule: key, expected: allowed, actual, message };
      yield near === undefined ? found : { ...found, nearest: near };
    }
  }

  return {
    label,
    flag,
    problems: (value) => (isSet(value) ? NONE : [wrongValue(key, expectedOf(value), value)]),
    canonical: (value) => (Array.isArray(value) ? sortedSet(value) : value),
    failures(allowed, asked, _furtherLinks, suggest) {
      const named = kind.named(asked) ?? NONE;
      if (typeof named !== "string") {
        if (named.length > 0 && areAll(named, allowed)) return NONE;
        return failuresOf(allowed, named, suggest);
      }
      return allowed.includes(named) ? NONE : failuresOf(allowed, [named], suggest);
    },
    meet: (authority, value) => ({
      [key]: authority[key]?.filter((item) => value.includes(item)) ?? value,
    }),
    empty: (authority) => (authority[key]?.length === 0 ? [key] : NONE),
    overreaches(value, authority, suggest) {
      const allowed = authority[key];
      if (allowed === undefined || areAll(value, allowed)) return NONE;
      const list = shownList(allowed);
      const beyondIt = value.filter((item) => !allowed.includes(item)).slice(0, MAX_REPORTED);
      return beyondIt.map((item) => {
        const near = opaque ? undefined : suggest(item, allowed);
        return beyond(key, item, allowed, `still allowed: ${list}${didYouMean(near)}`, near);
      });
    },
    intersect(value, authority) {
      const left = value.filter((item) => authority[key]?.includes(item) ?? true);
      return left.length > 0 ? left : value;
    },
    words: (items) => ({ kind: "set", items }),
    left(authority) {
      const items = authority[key];
      return items === undefined ? undefined : { kind: "set", items };
    },
  };
}

function areAll(named: readonly string[], allowed: readonly string[]): boolean {
  for (const one of named) if (!allowed.includes(one)) return false;
  return true;
}

/** Returns the requirement that a value violates: to be a set, or to be in canonical order. */
function expectedOf(value: Json): string {
  return isTexts(value) && value.length > 0
    ? "strictly ascending, each string once"
    : "a non-empty array of strings";
}
