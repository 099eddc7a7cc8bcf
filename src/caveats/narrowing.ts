import type { Json } from "../bytes/json.js";
import { type Authority, emptyRules, meet } from "./authority.js";
import { allows, type Domain, domainOf, isEmpty, limitFrom, meetDomains } from "./domain.js";
import type { Constraint, Hop, Operators } from "./hop.js";
import { nearest } from "./nearest.js";
import { constraintRule } from "./read-hop.js";
import { type Scalar, shown, shownList } from "./scalar.js";

/** A value that a hop names as allowed but the token no longer allows. */
export interface Overreach {
  /** The rule, such as `operations` or `constraints.amount.max`. */
  readonly rule: string;
  /** The offending value. */
  readonly value: Json;
  /** What the token still allows under this rule. */
  readonly allowed: Json;
  /** The nearest value that is still allowed. */
  readonly nearest?: Json;
  readonly message: string;
}

const SETS = ["operations", "resourceHandles", "audience", "invokers"] as const;

/**
 * The attenuation lint: everything that `hop` names as allowed must be something `authority` still
 * allows, and something must be left. Appending a hop never widens a token whatever this says; the
 * lint exists because a hop that claims more than the token has is almost always a mistake.
 */
export function overreaches(authority: Authority, hop: Hop): Overreach[] {
  const found: Overreach[] = [];
  for (const key of SETS) {
    const allowed = authority[key];
    if (allowed === undefined) continue;
    for (const value of hop[key] ?? []) {
      if (!allowed.includes(value))
        found.push(beyond(key, value, allowed, nearest(value, allowed)));
    }
  }
  for (const [argument, limit] of Object.entries(hop.constraints ?? {})) {
    found.push(...argumentOverreaches(argument, limit, domainNamed(authority, argument)));
  }
  found.push(...timeOverreaches(authority, hop), ...linkOverreaches(authority, hop));
  if (found.length > 0) return found;
  const before = emptyRules(authority);
  return emptyRules(meet({ ...authority }, { ...hop, maxFurtherHops: 0 }, 0))
    .filter((rule) => !before.includes(rule))
    .map((rule) => ({
      rule,
      value: null,
      allowed: null,
      message: `"${rule}" would leave nothing`,
    }));
}

function domainNamed(authority: Authority, argument: string): Domain | undefined {
  const domains = authority.constraints ?? {};
  return Object.hasOwn(domains, argument) ? domains[argument] : undefined;
}

function beyond(
  rule: string,
  value: Json,
  allowed: Json,
  near: Json | undefined,
  what = `still allowed: ${Array.isArray(allowed) ? shownList(allowed) : shown(allowed)}`,
): Overreach {
  const hint =
    typeof near === "string" && rule !== "expires" ? `; did you mean ${shown(near)}?` : "";
  const message = `"${rule}": ${shown(value)} goes beyond the token; ${what}${hint}`;
  return { rule, value, allowed, message, ...(near === undefined ? {} : { nearest: near }) };
}

function argumentOverreaches(
  argument: string,
  limit: Constraint,
  domain: Domain | undefined,
): Overreach[] {
  const rule = constraintRule(argument);
  const allowed = domain === undefined ? null : domainAsJson(domain);
  const found: Overreach[] = [];
  const check = (name: string, value: Scalar, near?: Scalar): void => {
    if (domain === undefined || allows(domain, value)) return;
    found.push(beyond(name, value, allowed, near ?? nearestIn(domain, value)));
  };
  if (limit === null || typeof limit !== "object") check(rule, limit);
  else {
    for (const value of limit.in ?? []) check(`${rule}.in`, value);
    const hull = domain === undefined ? undefined : hullOf(domain);
    for (const operator of ["max", "min"] as const) {
      const bound = limit[operator];
      if (bound === undefined || hull === undefined) continue;
      if (!hull.numeric || bound < hull.min || bound > hull.max) {
        const near = hull.numeric ? Math.min(Math.max(bound, hull.min), hull.max) : undefined;
        found.push(beyond(`${rule}.${operator}`, bound, allowed, near));
      }
    }
  }
  if (found.length > 0) return found;
  const own = domainOf(limit);
  const left = domain === undefined ? own : meetDomains(domain, own);
  if (!isEmpty(left)) return [];
  const message = `"${rule}": ${shown(limit)} would leave no value; still allowed: ${shown(allowed)}`;
  return [{ rule, value: limit as Json, allowed, message }];
}

interface Hull {
  readonly numeric: boolean;
  readonly min: number;
  readonly max: number;
}

// The interval that a bound may name: from the least to the greatest number still allowed.
function hullOf(domain: Domain): Hull {
  if (domain.in === undefined) {
    const { min = Number.NEGATIVE_INFINITY, max = Number.POSITIVE_INFINITY } = domain;
    return { numeric: domain.types.includes("number"), min, max };
  }
  const numbers = domain.in.filter((item) => typeof item === "number");
  return { numeric: numbers.length > 0, min: Math.min(...numbers), max: Math.max(...numbers) };
}

function nearestIn(domain: Domain, value: Scalar): Scalar | undefined {
  if (typeof value === "string") {
    return nearest(
      value,
      (domain.in ?? []).filter((item) => typeof item === "string"),
    );
  }
  if (typeof value !== "number" || !domain.types.includes("number")) return undefined;
  const { min, max } = hullOf(domain);
  const clamped = Math.min(Math.max(value, min), max);
  return allows(domain, clamped) ? clamped : undefined;
}

/** A domain as the limit that says it, or `false` if nothing is left. */
function domainAsJson(domain: Domain): Json {
  return isEmpty(domain) ? false : ((limitFrom(domain) ?? null) as Json);
}

function timeOverreaches(authority: Authority, hop: Hop): Overreach[] {
  const found: Overreach[] = [];
  const { expires, notBefore } = authority;
  if (hop.expires !== undefined && expires !== undefined && hop.expires > expires) {
    found.push(beyond("expires", hop.expires, expires, expires, `it expires at ${expires}`));
  }
  if (hop.notBefore !== undefined && notBefore !== undefined && hop.notBefore < notBefore) {
    const what = `it is not valid before ${notBefore}`;
    found.push({
      ...beyond("notBefore", hop.notBefore, notBefore, undefined, what),
      nearest: notBefore,
    });
  }
  return found;
}

function linkOverreaches(authority: Authority, hop: Hop): Overreach[] {
  const left = authority.furtherHops;
  if (left === undefined) return [];
  if (left < 1) {
    const message = "the token is sealed: no hop may follow (maxFurtherHops)";
    return [{ rule: "maxFurtherHops", value: left, allowed: left, message }];
  }
  const { maxFurtherHops } = hop;
  if (maxFurtherHops === undefined || maxFurtherHops <= left - 1) return [];
  const what = `after this hop at most ${left - 1} may follow`;
  return [beyond("maxFurtherHops", maxFurtherHops, left - 1, left - 1, what)];
}

/**
 * `hop` clipped to what `authority` still allows, for callers who ask for narrowing without
 * complaint. What can not be clipped (an empty result, a sealed token) stays as it is for
 * {@link overreaches} to report.
 */
export function clip(authority: Authority, hop: Hop): Hop {
  const clipped: { -readonly [Key in keyof Hop]: Hop[Key] } = { ...hop };
  for (const key of SETS) {
    const left = hop[key]?.filter((item) => authority[key]?.includes(item) ?? true);
    if (left !== undefined && left.length > 0) clipped[key] = left;
  }
  if (hop.constraints !== undefined) {
    const entries = Object.entries(hop.constraints);
    clipped.constraints = Object.fromEntries(
      entries.map(([name, limit]) => [name, clipLimit(limit, domainNamed(authority, name))]),
    );
  }
  const { expires, notBefore, furtherHops } = authority;
  if (hop.expires !== undefined && expires !== undefined && hop.expires > expires) {
    clipped.expires = expires;
  }
  if (hop.notBefore !== undefined && notBefore !== undefined && hop.notBefore < notBefore) {
    clipped.notBefore = notBefore;
  }
  if (hop.maxFurtherHops !== undefined && furtherHops !== undefined && furtherHops > 0) {
    clipped.maxFurtherHops = Math.min(hop.maxFurtherHops, furtherHops - 1);
  }
  return clipped;
}

function clipLimit(limit: Constraint, domain: Domain | undefined): Constraint {
  if (domain === undefined) return limit;
  const both = limitFrom(meetDomains(domain, domainOf(limit)));
  if (both === undefined) return limit;
  return both === null || typeof both !== "object" ? both : sortedOperators(both);
}

function sortedOperators(limit: Operators): Operators {
  const sort = (values: readonly Scalar[]): Scalar[] =>
    [...values].sort((a, b) => (JSON.stringify(a) < JSON.stringify(b) ? -1 : 1));
  return {
    ...limit,
    ...(limit.in === undefined ? {} : { in: sort(limit.in) }),
    ...(limit.not_in === undefined ? {} : { not_in: sort(limit.not_in) }),
  };
}
