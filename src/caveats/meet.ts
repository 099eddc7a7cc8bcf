import type { Authority, Link } from "./authority.js";
import type { Hop } from "./hop.js";
import { NONE } from "./hop-rule.js";
import { HOP_RULES, overHop } from "./hop-rules.js";

const RULES = Object.values(HOP_RULES);

/** The meet of all hops of the given chains (a token's own, then its discharges'). */
export function meetOf(chains: readonly (readonly Link[])[]): Authority {
  const authority: Authority = {};
  for (const chain of chains) {
    for (let at = 0; at < chain.length; at++) {
      const hop = chain[at];
      if (hop !== undefined) narrow(authority, hop, chain.length - at - 1);
    }
  }
  return authority;
}

/**
 * What `authority` and `hop` leave together.
 *
 * @param furtherLinks - How many links follow the hop.
 */
export function meet(authority: Authority, hop: Hop, furtherLinks: number): Authority {
  return narrow({ ...authority }, hop, furtherLinks);
}

/** {@link meet}, in the place of `authority`: each key concerns members that no other does. */
function narrow(authority: Authority, hop: Hop, furtherLinks: number): Authority {
  overHop(hop, (rule, value) =>
    Object.assign(authority, rule.meet(authority, value, furtherLinks)),
  );
  return authority;
}

/** The rules under which nothing at all is left; empty if the authority allows something. */
export function emptyRules(authority: Authority): string[] {
  const found: string[] = [];
  for (const rule of RULES) {
    const empty = rule.empty(authority);
    if (empty !== NONE) found.push(...empty);
  }
  return found;
}
