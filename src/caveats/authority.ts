import { type Domain, domainOf, isEmpty, meetDomains } from "./domain.js";
import type { Hop } from "./hop.js";

/**
 * What a chain of hops leaves, all of them together: for display, for the attenuation lint and for
 * comparing tokens. Decisions never rest on it; they are made hop by hop.
 */
export interface Authority {
  /** Operations that remain; absent means any. */
  readonly operations?: readonly string[];
  /** Handles that remain; absent means that no hop names any. */
  readonly resourceHandles?: readonly string[];
  /** What remains for each limited argument. */
  readonly constraints?: { readonly [argument: string]: Domain };
  /** The earliest expiry. */
  readonly expires?: string;
  /** The latest start. */
  readonly notBefore?: string;
  /** Services that remain; absent means any. */
  readonly audience?: readonly string[];
  /** Agents that remain; absent means any holder. */
  readonly invokers?: readonly string[];
  /** How many links may still be appended; below 0 if there are too many already. */
  readonly furtherHops?: number;
}

/** One link of a chain as far as authority goes; `undefined` for a third-party caveat. */
export type Link = Hop | undefined;

/**
 * The meet of all hops of the given chains (a token's own, then its discharges').
 */
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
  const merged: { -readonly [Key in keyof Authority]: Authority[Key] } = { ...authority };
  for (const key of ["operations", "resourceHandles", "audience", "invokers"] as const) {
    const set = hop[key];
    if (set !== undefined) {
      merged[key] = merged[key]?.filter((item) => set.includes(item)) ?? set;
    }
  }
  if (hop.constraints !== undefined) {
    merged.constraints = meetConstraints(merged.constraints ?? {}, hop.constraints);
  }
  // Times in canonical form order as text.
  if (
    hop.expires !== undefined &&
    !(merged.expires !== undefined && merged.expires < hop.expires)
  ) {
    merged.expires = hop.expires;
  }
  const { notBefore } = hop;
  if (
    notBefore !== undefined &&
    !(merged.notBefore !== undefined && merged.notBefore > notBefore)
  ) {
    merged.notBefore = notBefore;
  }
  if (hop.maxFurtherHops !== undefined) {
    const left = hop.maxFurtherHops - furtherLinks;
    merged.furtherHops = Math.min(left, merged.furtherHops ?? left);
  }
  return merged;
}

function meetConstraints(
  domains: { readonly [argument: string]: Domain },
  limits: NonNullable<Hop["constraints"]>,
): { readonly [argument: string]: Domain } {
  const merged = new Map(Object.entries(domains));
  for (const [argument, limit] of Object.entries(limits)) {
    const before = merged.get(argument);
    const own = domainOf(limit);
    merged.set(argument, before === undefined ? own : meetDomains(before, own));
  }
  return Object.fromEntries(merged);
}

/** The rules under which nothing at all is left; empty if the authority allows something. */
export function emptyRules(authority: Authority): string[] {
  const empty: string[] = [];
  for (const key of ["operations", "resourceHandles", "audience", "invokers"] as const) {
    if (authority[key]?.length === 0) empty.push(key);
  }
  for (const [argument, domain] of Object.entries(authority.constraints ?? {})) {
    if (isEmpty(domain)) empty.push(`constraints.${argument}`);
  }
  const { expires, notBefore } = authority;
  if (expires !== undefined && notBefore !== undefined && notBefore >= expires)
    empty.push("notBefore");
  if (authority.furtherHops !== undefined && authority.furtherHops < 0)
    empty.push("maxFurtherHops");
  return empty;
}
