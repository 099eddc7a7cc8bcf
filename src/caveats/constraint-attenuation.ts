import type { Json } from "../bytes/json.js";
import type { Suggest } from "../checks/nearest.js";
import { sortedLimit } from "./canonical-order.js";
import { allows, type Domain, domainOf, isEmpty, limitFrom, meetDomains } from "./domain.js";
import type { Constraint } from "./hop.js";
import { beyond, didYouMean, type Overreach } from "./hop-rule.js";
import { type Scalar, shown, shownList } from "./scalar.js";

/**
 * Yields an overreach for each value of the limit that `domain` does not allow, and for each bound outside the range
 * of `domain`. If there is none but the limit would leave no value, yields one overreach for the whole limit.
 *
 * @param domain - The values that all hops so far allow for the argument; `undefined` if no hop limits the argument.
 */
export function* argumentOverreaches(
  rule: string,
  limit: Constraint,
  domain: Domain | undefined,
  suggest: Suggest,
): Iterable<Overreach> {
  const allowed = domain === undefined ? null : domainAsJson(domain);
  let found = false;
  const exceeds = (name: string, value: Json, near: Json | undefined): Overreach => {
    found = true;
    const left = Array.isArray(allowed) ? shownList(allowed) : shown(allowed);
    const hint = didYouMean(typeof near === "string" ? near : undefined);
    return beyond(name, value, allowed, `still allowed: ${left}${hint}`, near);
  };
  if (domain !== undefined) {
    for (const [name, value] of valuesIn(rule, limit)) {
      if (!allows(domain, value)) yield exceeds(name, value, nearestIn(domain, value, suggest));
    }
    const hull = hullOf(domain);
    for (const [name, bound] of boundsIn(rule, limit)) {
      if (hull.numeric && bound >= hull.min && bound <= hull.max) continue;
      const near = hull.numeric ? Math.min(Math.max(bound, hull.min), hull.max) : undefined;
      yield exceeds(name, bound, near);
    }
  }
  if (found) return;
  const own = domainOf(limit);
  if (!isEmpty(domain === undefined ? own : meetDomains(domain, own))) return;
  const message = `"${rule}": ${shown(limit)} would leave no value; still allowed: ${shown(allowed)}`;
  yield { rule, value: limit as Json, allowed, message };
}

/** Yields the values that a limit names as allowed, each with its rule. */
export function* valuesIn(rule: string, limit: Constraint): Iterable<[string, Scalar]> {
  if (limit === null || typeof limit !== "object") yield [rule, limit];
  else for (const value of limit.in ?? []) yield [`${rule}.in`, value];
}

/** Yields the bounds of a limit, each with its rule. */
export function* boundsIn(rule: string, limit: Constraint): Iterable<[string, number]> {
  if (limit === null || typeof limit !== "object") return;
  for (const operator of ["max", "min"] as const) {
    const bound = limit[operator];
    if (bound !== undefined) yield [`${rule}.${operator}`, bound];
  }
}

/** The interval from the least to the greatest number of a domain. */
export interface Hull {
  /** True if the domain contains numbers. */
  readonly numeric: boolean;
  readonly min: number;
  readonly max: number;
}

/** Returns the interval in which a bound may lie: from the least to the greatest number still allowed. */
export function hullOf(domain: Domain): Hull {
  if (domain.in === undefined) {
    const { min = Number.NEGATIVE_INFINITY, max = Number.POSITIVE_INFINITY } = domain;
    return { numeric: domain.types.includes("number"), min, max };
  }
  const numbers = domain.in.filter((item) => typeof item === "number");
  return { numeric: numbers.length > 0, min: Math.min(...numbers), max: Math.max(...numbers) };
}

/** Returns the value in a domain that is most similar to a given value. */
export function nearestIn(domain: Domain, value: Scalar, suggest: Suggest): Scalar | undefined {
  if (typeof value === "string") {
    const texts = (domain.in ?? []).filter((item) => typeof item === "string");
    return suggest(value, texts);
  }
  if (typeof value !== "number" || !domain.types.includes("number")) return undefined;
  const { min, max } = hullOf(domain);
  const clamped = Math.min(Math.max(value, min), max);
  return allows(domain, clamped) ? clamped : undefined;
}

/** Returns a limit that allows exactly the domain; `null` if no single limit does, `false` if no value is allowed. */
function domainAsJson(domain: Domain): Json {
  return isEmpty(domain) ? false : ((limitFrom(domain) ?? null) as Json);
}

/**
 * Reduces a limit to the values that `domain` also allows. If no single limit allows exactly these values, returns
 * the limit unchanged.
 */
export function intersectLimit(limit: Constraint, domain: Domain | undefined): Constraint {
  if (domain === undefined) return limit;
  const both = limitFrom(meetDomains(domain, domainOf(limit)));
  return both === undefined ? limit : sortedLimit(both);
}
