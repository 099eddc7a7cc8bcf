import { type Suggest, suggestions } from "../checks/nearest.js";
import { type Hop, ownMember } from "./hop.js";
import { type HopRule, NONE, type RuleFailure } from "./hop-rule.js";
import { HOP_KEYS, HOP_RULES, type HopKey, type HopValue } from "./hop-rules.js";
import type { CheckedInvocation } from "./invocation.js";

/**
 * Judges an invocation by one hop. Returns a failure for every violated rule, in the order of `HOP_RULES`; the list
 * is empty if the hop allows the invocation.
 *
 * @param furtherLinks - Number of links that follow this hop in its chain.
 * @param suggest - Finds similar names for messages. All hops of one decision share this function, which bounds the
 *   work.
 */
export function judgeHop(
  hop: Hop,
  asked: CheckedInvocation,
  furtherLinks: number,
  suggest: Suggest = suggestions(),
): readonly RuleFailure[] {
  const found: RuleFailure[] = [];
  for (const key of HOP_KEYS) {
    found.push(...failuresOf(hop, key, asked, furtherLinks, suggest));
  }
  return found;
}

function failuresOf<Key extends HopKey>(
  hop: { readonly [Own in HopKey]?: HopValue<Own> },
  key: Key,
  asked: CheckedInvocation,
  furtherLinks: number,
  suggest: Suggest,
): Iterable<RuleFailure> {
  const value: HopValue<Key> | undefined = ownMember(hop, key);
  if (value === undefined) return NONE;
  const rule: HopRule<HopValue<Key>> = HOP_RULES[key];
  return rule.failures(value, asked, furtherLinks, suggest);
}
