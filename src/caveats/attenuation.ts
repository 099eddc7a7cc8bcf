import { suggestions } from "../checks/nearest.js";
import type { Authority } from "./authority.js";
import type { Hop } from "./hop.js";
import { MAX_REPORTED, type Overreach } from "./hop-rule.js";
import { overHop } from "./hop-rules.js";
import { emptyRules, meet } from "./meet.js";
import { authoritiesOver, deadArguments } from "./operation-authority.js";
import { forOperations, operationsIn } from "./operation-entries.js";
import { deadEntries, foreignEntries } from "./operation-mistakes.js";

/**
 * Returns the values of `hop` that `authority` does not allow. If there are no such values, returns the rules under
 * which the hop would leave nothing. If there are no such rules either, returns the operations of which the hop would
 * leave no call, and its entries for operations that the token does not have.
 *
 * The result only points out mistakes: no hop can widen a token, but a hop that names more than the token allows is
 * almost always a mistake.
 *
 * @returns The first 16 overreaches, in the order of `HOP_RULES`; empty if the hop has no mistake.
 */
export function overreaches(authority: Authority, hop: Hop): Overreach[] {
  const suggest = suggestions();
  const found: Overreach[] = [];
  const { furtherHops } = authority;
  if (furtherHops !== undefined && furtherHops < 1) {
    const message = "the token is sealed: no hop may follow (maxFurtherHops)";
    found.push({ rule: "maxFurtherHops", value: furtherHops, allowed: furtherHops, message });
  }
  overHop(hop, (rule, value) => {
    for (const overreach of rule.overreaches(value, authority, suggest)) {
      if (found.push(overreach) >= MAX_REPORTED) return;
    }
  });
  if (found.length > 0) return found.slice(0, MAX_REPORTED);
  const after = meet(authority, hop, 0);
  const empty = emptyRules(after).map((rule) => {
    const message = `"${rule}" would leave nothing`;
    return { rule, value: null, allowed: null, message };
  });
  if (empty.length > 0) return empty.slice(0, MAX_REPORTED);
  const others = [...deadEntries(authority, after, hop), ...foreignEntries(hop, after.operations)];
  return others.slice(0, MAX_REPORTED);
}

/**
 * Returns the operations for which `hop` has entries and of which it leaves no call; empty if it leaves no call of any
 * operation.
 */
export function deadOperations(authority: Authority, hop: Hop): readonly string[] {
  const after = meet(authority, hop, 0);
  if (emptyRules(after).length > 0) return [];
  const over = authoritiesOver(after);
  return operationsIn(hop).filter((operation) => deadArguments(over(operation)).length > 0);
}

/**
 * Reduces `hop` to what `authority` still allows. A value that cannot be reduced (because nothing remains, or the
 * token is sealed) stays as it is; {@link overreaches} reports that value.
 */
export function intersectHop(authority: Authority, hop: Hop): Hop {
  const values = overHop(hop, (rule, value, key) => [key, rule.intersect(value, authority)]);
  const lowered: Hop = Object.fromEntries(values);
  const { operations } = meet(authority, hop, 0);
  const own = operations === undefined ? lowered : forOperations(lowered, operations);
  return Object.keys(own).length === 0 ? lowered : own;
}
