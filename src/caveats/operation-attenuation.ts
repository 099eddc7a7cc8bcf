import type { Json } from "../bytes/json.js";
import type { Suggest } from "../checks/nearest.js";
import {
  allowsArgument,
  argumentDomainOf,
  constraintFrom,
  isDead,
  meetArguments,
  scalarsOf,
} from "./argument-domain.js";
import type { Authority } from "./authority.js";
import { boundsIn, hullOf, nearestIn, valuesIn } from "./constraint-attenuation.js";
import type { ArgumentDomain } from "./domain.js";
import type { ArgumentConstraint, Hop, UrlLimit } from "./hop.js";
import { beyond, didYouMean, type Overreach, ruleOf } from "./hop-rule.js";
import { authoritiesOver, entryRule, leftOfArgument } from "./operation-authority.js";
import { isBelow } from "./path-form.js";
import { shown } from "./scalar.js";
import { defaultPort } from "./url-form.js";
import { allowsHostEntry } from "./url-host.js";

type OperationConstraints = NonNullable<Hop["operationConstraints"]>;

/** Yields an overreach for each value that the entries of a hop allow and `authority` does not allow. */
export function* operationOverreaches(
  entries: OperationConstraints,
  authority: Authority,
  suggest: Suggest,
): Iterable<Overreach> {
  const authorities = authoritiesOver(authority);
  for (const [operation, constraints] of Object.entries(entries)) {
    const over = authorities(operation);
    for (const [argument, constraint] of Object.entries(constraints)) {
      const rule = ruleOf(entryRule("operationConstraints", operation), argument);
      yield* constraintOverreaches(rule, constraint, leftOfArgument(over, argument), suggest);
    }
  }
}

/**
 * Reduces the entries of a hop to what `authority` still allows, as far as a single constraint can express the
 * result.
 */
export function intersectEntries(
  entries: OperationConstraints,
  authority: Authority,
): OperationConstraints {
  const authorities = authoritiesOver(authority);
  return Object.fromEntries(
    Object.entries(entries).map(([operation, constraints]) => {
      const over = authorities(operation);
      const lowered = Object.entries(constraints).map(([argument, constraint]) => {
        const left = meetArguments(leftOfArgument(over, argument), argumentDomainOf(constraint));
        const both = constraintFrom(left);
        return [argument, both === undefined ? constraint : both] as const;
      });
      return [operation, Object.fromEntries(lowered)];
    }),
  );
}

function* constraintOverreaches(
  rule: string,
  constraint: ArgumentConstraint,
  domain: ArgumentDomain,
  suggest: Suggest,
): Iterable<Overreach> {
  const found = [...operandOverreaches(rule, constraint, domain, suggest)];
  yield* found;
  if (found.length > 0 || !isDead(meetArguments(domain, argumentDomainOf(constraint)))) return;
  const allowed = (constraintFrom(domain) ?? null) as Json;
  const left = allowed === null ? "" : `; still allowed: ${shown(allowed)}`;
  const message = `"${rule}": ${shown(constraint)} would leave no value${left}`;
  yield { rule, value: constraint as Json, allowed, message };
}

/** Yields an overreach for each operand that allows more than the same operator in `domain`. */
function* operandOverreaches(
  rule: string,
  constraint: ArgumentConstraint,
  domain: ArgumentDomain,
  suggest: Suggest,
): Iterable<Overreach> {
  const allowed = (constraintFrom(domain) ?? null) as Json;
  const exceeds = (name: string, value: Json, near?: Json, hint = ""): Overreach =>
    beyond(name, value, allowed, `still allowed: ${shown(allowed)}${hint}`, near);
  const scalars = scalarsOf(domain);
  for (const [name, value] of valuesIn(rule, constraint)) {
    if (allowsArgument(domain, value)) continue;
    const near = nearestIn(scalars, value, suggest);
    yield exceeds(name, value, near, didYouMean(typeof near === "string" ? near : undefined));
  }
  if (constraint === null || typeof constraint !== "object") return;
  const hull = hullOf(scalars);
  for (const [name, bound] of hull.numeric ? boundsIn(rule, constraint) : []) {
    if (bound >= hull.min && bound <= hull.max) continue;
    yield exceeds(name, bound, Math.min(Math.max(bound, hull.min), hull.max));
  }
  const { path, prefix, url, items = {}, each } = constraint;
  if (path !== undefined && domain.path !== undefined && !isBelow(domain.path, path)) {
    yield exceeds(`${rule}.path`, path, domain.path);
  }
  if (prefix !== undefined && !prefix.startsWith(domain.prefix ?? "")) {
    yield exceeds(`${rule}.prefix`, prefix, domain.prefix);
  }
  if (url !== undefined && domain.url !== undefined) {
    for (const [part, value] of partsBeyond(domain.url, url)) {
      yield exceeds(`${rule}.url.${part}`, value);
    }
  }
  for (const [name, bound] of Object.entries(items)) {
    const { min, max } = domain.items ?? { min: bound, max: bound };
    if (bound >= min && bound <= max) continue;
    yield exceeds(`${rule}.items.${name}`, bound, Math.min(Math.max(bound, min), max));
  }
  if (each !== undefined && domain.each !== undefined) {
    yield* operandOverreaches(`${rule}.each`, each, domain.each, suggest);
  }
}

/** Yields the name and the value of each part of `inner` that allows a URL which `outer` refuses. */
function* partsBeyond(outer: UrlLimit, inner: UrlLimit): Iterable<readonly [string, string]> {
  for (const host of inner.hosts) {
    if (!outer.hosts.some((entry) => allowsHostEntry(entry, host))) yield ["hosts", host];
  }
  for (const scheme of inner.schemes) {
    if (!outer.schemes.includes(scheme)) {
      yield ["schemes", scheme];
      continue;
    }
    const allowed = outer.ports ?? [defaultPort(scheme)];
    for (const port of inner.ports ?? [defaultPort(scheme)]) {
      if (!allowed.includes(port)) yield ["ports", port];
    }
  }
  const { path } = inner;
  if (path !== undefined && outer.path !== undefined && !isBelow(outer.path, path)) {
    yield ["path", path];
  }
}
