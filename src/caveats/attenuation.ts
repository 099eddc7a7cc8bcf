import { suggestions } from "../checks/nearest.js";
import type { Authority } from "./authority.js";
import type { Hop } from "./hop.js";
import type { Overreach } from "./hop-rule.js";
import { overHop } from "./hop-rules.js";
import { emptyRules, meet } from "./meet.js";

// The caller chooses how much a hop names, so cap how many overreaches are reported.
const MAX_REPORTED = 16;

/**
 * The attenuation lint: everything that `hop` names as allowed must be something `authority` still
 * allows, and something must be left. Appending a hop never widens a token whatever this says; the
 * lint exists because a hop that claims more than the token has is almost always a mistake.
 *
 * @returns The first 16 overreaches, in the order of the table of keys; none if the hop fits.
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
  const empty = emptyRules(meet(authority, hop, 0)).slice(0, MAX_REPORTED);
  return empty.map((rule) => ({
    rule,
    value: null,
    allowed: null,
    message: `"${rule}" would leave nothing`,
  }));
}

/**
 * `hop` lowered to what `authority` still allows, for callers who ask for it without complaint. What
 * cannot be lowered (an empty result, a sealed token) stays as it is for {@link overreaches} to
 * report.
 */
export function intersectHop(authority: Authority, hop: Hop): Hop {
  const members = overHop(hop, (rule, value, key) => [key, rule.intersect(value, authority)]);
  return Object.fromEntries(members);
}
