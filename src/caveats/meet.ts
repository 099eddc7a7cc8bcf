import type { Authority, Link } from "./authority.js";
import type { Hop } from "./hop.js";
import { HOP_RULES, overHop } from "./hop-rules.js";

const RULES = Object.values(HOP_RULES);

/**
 * Returns the authority that all hops of the given chains together leave: the chain of a token, and the chains of its
 * discharges.
 */
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
 * Returns the authority that remains of `authority` after `hop`.
 *
 * @param furtherLinks - Number of links that follow the hop.
 */
export function meet(authority: Authority, hop: Hop, furtherLinks: number): Authority {
  return meetInPlace({ ...authority }, hop, furtherLinks);
}

/** Narrows `authority` itself. No two keys set the same property, so the order of the keys does not matter. */
function meetInPlace(authority: Authority, hop: Hop, furtherLinks: number): Authority {
  overHop(hop, (rule, value) =>
    Object.assign(authority, rule.meet(authority, value, furtherLinks)),
  );
  return authority;
}

/** Returns the names of the rules that allow nothing; empty if every rule allows something. */
export function emptyRules(authority: Authority): string[] {
  return RULES.flatMap((rule) => [...rule.empty(authority)]);
}
