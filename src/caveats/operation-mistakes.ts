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
import { ENTRY_KEYS } from "./operation-entries.js";
import { shown, shownList } from "./scalar.js";

/**
 * Finds mistakes that make a hop weaker than it looks: an entry for an operation that the token does not have, and a
 * `prefix` for a path or a URL.
 *
 * @param operations - The operations that the token has with this hop; absent if the token may have any.
 * @param holder - The owner of the operations, for messages.
 */
export function mistakesIn(
  hop: Hop,
  operations: readonly string[] | undefined,
  holder = "the token",
): Overreach[] {
  return [...foreignEntries(hop, operations, holder), ...prefixesOfPaths(hop)];
}

/** Yields each entry for an operation that the token does not have. Such an entry limits nothing. */
export function* foreignEntries(
  hop: Hop,
  operations: readonly string[] | undefined,
  holder = "the token",
): Iterable<Overreach> {
  for (const key of ENTRY_KEYS) {
    for (const operation of Object.keys(ownMember(hop, key) ?? {})) {
      if (operation === EVERY_OPERATION || operations?.includes(operation) !== false) continue;
      const rule = entryRule(key, operation);
      const near = nearest(operation, operations);
      const hint = near === undefined ? `; it has ${shownList(operations)}` : didYouMean(near);
      const message = `"${rule}": ${holder} does not have the operation ${shown(operation)}${hint}`;
      const found = { rule, value: operation, allowed: operations, message };
      yield near === undefined ? found : { ...found, nearest: near };
    }
  }
}

/**
 * Yields each `prefix` whose constraint also has `path` or `url`, or that looks like the beginning of a path or a
 * URL.
 */
export function* prefixesOfPaths(hop: Hop): Iterable<Overreach> {
  for (const [operation, entry] of Object.entries(ownMember(hop, "operationConstraints") ?? {})) {
    for (const [argument, constraint] of Object.entries(entry)) {
      const rule = ruleOf(entryRule("operationConstraints", operation), argument);
      for (const operators of operatorsOf(constraint)) {
        const { prefix } = operators;
        if (prefix === undefined) continue;
        const beside = (["path", "url"] as const).find((name) => operators[name] !== undefined);
        const meant = beside ?? operatorFor(prefix);
        if (meant === undefined) continue;
        const what =
          beside === undefined ? `the "prefix" ${shown(prefix)}` : `"prefix" beside "${beside}"`;
        const message = `"${rule}": ${what}; a prefix ends inside a name, so give the folder in "${meant}"`;
        yield { rule: `${rule}.prefix`, value: prefix, allowed: null, message };
      }
    }
  }
}

/** Returns the operator to use in place of a prefix that looks like the beginning of a path or a URL. */
function operatorFor(prefix: string): "path" | "url" | undefined {
  if (prefix.includes("://")) return "url";
  return prefix.startsWith("/") ? "path" : undefined;
}

function operatorsOf(constraint: ArgumentConstraint): readonly ElementOperators[] {
  if (constraint === null || typeof constraint !== "object") return [];
  return constraint.each === undefined ? [constraint] : [constraint, constraint.each];
}

/**
 * Finds operations that can no longer be called because of the hop's entries, although the token allowed calls
 * before.
 *
 * @param before - The token's authority without the hop.
 * @param after - The token's authority with the hop.
 */
export function deadEntries(before: Authority, after: Authority, hop: Hop): Overreach[] {
  const named = ENTRY_KEYS.flatMap((key) => Object.keys(ownMember(hop, key) ?? {}));
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
