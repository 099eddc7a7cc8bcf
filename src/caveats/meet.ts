import type { Authority, Link } from "./authority.js";
import type { Hop } from "./hop.js";
import { HOP_RULES, overHop } from "./hop-rules.js";

const RULES = Object.values(HOP_RULES);

/** Returns what all hops of the given chains together allow (a token's own chain, and those of its discharges). */
export function meetOf(chains: readonly (readonly Link[])[]): Authority {
  const authority: Authority = {};
  for (const chain of chains) {
    for (let at = 0; at < chain.length; at++) {
      const hop = chain[at];
      if (hop !== undefined) meetInPlace(authority, hop, chain.length - at - 1);
    }
  }
  return authority;
}

/**
 * Returns what `authority` and `hop` together allow.
 *
 * @param furtherLinks - Number of links that follow the hop.
 */
export function meet(authority: Authority, hop: Hop, furtherLinks: number): Authority {
  return meetInPlace({ ...authority }, hop, furtherLinks);
}

/** Narrows `authority` itself. No two keys set the same property, so their order does not matter. */
function meetInPlace(authority: Authority, hop: Hop, furtherLinks: number): Authority {
  overHop(hop, (rule, value) =>
    Object.assign(authority, rule.meet(authority, value, furtherLinks)),
  );
  return authority;
}

/** Returns the rules because of which nothing is allowed; empty if the authority allows something. */
export function emptyRules(authority: Authority): string[] {
  return RULES.flatMap((rule) => [...rule.empty(authority)]);
}
