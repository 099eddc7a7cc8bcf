import type { Authority, Link } from "./authority.js";
import type { Hop } from "./hop.js";
import { HOP_RULES, overHop } from "./hop-rules.js";

const RULES = Object.values(HOP_RULES);

/** The meet of all hops of the given chains (a token's own, then its discharges'). */
export function meetOf(chains: readonly (readonly Link[])[]): Authority {
  let authority: Authority = {};
  for (const chain of chains) {
    for (const [at, hop] of chain.entries()) {
      if (hop !== undefined) authority = meet(authority, hop, chain.length - at - 1);
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
  const parts = overHop(hop, (rule, value) => rule.meet(authority, value, furtherLinks));
  return Object.assign({}, authority, ...parts);
}

/** The rules under which nothing at all is left; empty if the authority allows something. */
export function emptyRules(authority: Authority): string[] {
  return RULES.flatMap((rule) => [...rule.empty(authority)]);
}
