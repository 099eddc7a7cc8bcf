import type { Hop } from "./hop.js";
import { NONE, type RuleFailure, type Suggest } from "./hop-rule.js";
import { overHop } from "./hop-rules.js";
import type { CheckedInvocation } from "./invocation.js";
import { suggestions } from "./nearest.js";

/**
 * Judges an invocation by one hop. Returns every rule that is not met, in the order of the table of
 * keys; none if the hop allows it.
 *
 * @param furtherLinks - How many links follow this hop in its chain.
 * @param suggest - Shared by all hops of one answer, which bounds its work.
 */
export function judgeHop(
  hop: Hop,
  asked: CheckedInvocation,
  furtherLinks: number,
  suggest: Suggest = suggestions(),
): readonly RuleFailure[] {
  let found: RuleFailure[] | undefined;
  overHop(hop, (rule, value) => {
    const failures = rule.failures(value, asked, furtherLinks, suggest);
    if (failures === NONE) return;
    for (const failure of failures) {
      found ??= [];
      found.push(failure);
    }
  });
  return found ?? NONE;
}
