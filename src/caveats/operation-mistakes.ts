import { nearest } from "../checks/nearest.js";
import type { Authority } from "./authority.js";
import { type ArgumentConstraint, type ElementOperators, type Hop, ownMember } from "./hop.js";
import { didYouMean, type Overreach, ruleOf } from "./hop-rule.js";
import {
  authoritiesOver,
  deadArguments,
  EVERY_OPERATION,
  entryRule,
} from "./operation-authority.js";
import { shown, shownList } from "./scalar.js";

/**
 * Finds the mistakes that make a hop weaker than it reads: an entry for an operation that the token does
 * not have, and `prefix` beside `path` or `url`.
 *
 * @param operations - The operations that the token has with this hop; absent if it may have any.
 */
export function mistakesIn(hop: Hop, operations: readonly string[] | undefined): Overreach[] {
  return [...foreignEntries(hop, operations), ...prefixesOfPaths(hop)];
}

const KEYS = ["operationConstraints", "arguments"] as const;

/** Yields each entry for an operation that the token does not have, which limits nothing. */
export function* foreignEntries(
  hop: Hop,
  operations: readonly string[] | undefined,
): Iterable<Overreach> {
  for (const key of KEYS) {
    for (const operation of Object.keys(ownMember(hop, key) ?? {})) {
      if (operation === EVERY_OPERATION || operations?.includes(operation) !== false) continue;
      const rule = entryRule(key, operation);
      const near = nearest(operation, operations);
      const hint = near === undefined ? `; it has ${shownList(operations)}` : didYouMean(near);
      const message = `"${rule}": the token does not have the operation ${shown(operation)}${hint}`;
      const found = { rule, value: operation, allowed: operations, message };
      yield near === undefined ? found : { ...found, nearest: near };
    }
  }
}

/** Yields each `prefix` beside `path` or `url`. */
export function* prefixesOfPaths(hop: Hop): Iterable<Overreach> {
  for (const [operation, entry] of Object.entries(ownMember(hop, "operationConstraints") ?? {})) {
    for (const [argument, constraint] of Object.entries(entry)) {
      const rule = `${ruleOf(entryRule("operationConstraints", operation), argument)}`;
      for (const { prefix, path, url } of operatorsOf(constraint)) {
        if (prefix === undefined || (path === undefined && url === undefined)) continue;
        const other = path === undefined ? "url" : "path";
        const message = `"${rule}": "prefix" beside "${other}"; a prefix ends inside a name, so give the folder in "${other}"`;
        yield { rule: `${rule}.prefix`, value: prefix, allowed: null, message };
      }
    }
  }
}

function operatorsOf(constraint: ArgumentConstraint): readonly ElementOperators[] {
  if (constraint === null || typeof constraint !== "object") return [];
  return constraint.each === undefined ? [constraint] : [constraint, constraint.each];
}

/**
 * Finds the operations that an entry of the hop leaves without any call, though the token before it had some.
 *
 * @param before - What the token leaves.
 * @param after - What it leaves with the hop.
 */
export function deadEntries(before: Authority, after: Authority, hop: Hop): Overreach[] {
  const named = KEYS.flatMap((key) => Object.keys(ownMember(hop, key) ?? {}));
  const left = authoritiesOver(after);
  const had = authoritiesOver(before);
  return [...new Set(named)].flatMap((operation) => {
    const [dead] = deadArguments(left(operation));
    if (dead === undefined || deadArguments(had(operation)).length > 0) return [];
    const rule = ruleOf(entryRule("operationConstraints", operation), dead);
    const message = `"${rule}": no call of ${shown(operation)} would be left, since ${shown(dead)} is required and has no value left`;
    return [{ rule, value: null, allowed: null, message }];
  });
}
