import { judgedValue, MAX_JUDGED_ELEMENTS } from "./argument-operators.js";
import { sortedConstraint, sortedSet } from "./canonical-order.js";
import {
  type ArgumentDomain,
  type ArgumentType,
  allows,
  type Domain,
  domainOf,
  meetDomains,
} from "./domain.js";
import type { ArgumentConstraint, ArgumentOperators, ItemsLimit, UrlLimit } from "./hop.js";
import { isBelow, isPath } from "./path-form.js";
import { allowsUrl, defaultPort } from "./url-form.js";
import { allowsHostEntry } from "./url-host.js";

const TYPES: readonly ArgumentType[] = ["array", "boolean", "null", "number", "string"];

/** The domain of an argument without limits. */
export const UNLIMITED: ArgumentDomain = { missing: true, types: TYPES };

/** The domain of an argument that a call must leave out. */
export const LEFT_OUT: ArgumentDomain = { missing: true, types: [] };

/** Returns the domain of the values that one constraint allows. */
export function argumentDomainOf(constraint: ArgumentConstraint): ArgumentDomain {
  if (constraint === null || typeof constraint !== "object") return valuesOf({ in: [constraint] });
  if (constraint.absent === true) return LEFT_OUT;
  return { ...valuesOf(constraint), missing: constraint.optional === true };
}

/** Returns the values that satisfy all operators. Ignores `optional` and `absent`. */
function valuesOf(operators: ArgumentOperators): ArgumentDomain {
  const { min, max, in: listed, not_in, path, prefix, url, items, each } = operators;
  const missing = false;
  const parts: ArgumentDomain[] = [];
  if ([min, max, listed, not_in].some((operand) => operand !== undefined)) {
    parts.push({ ...domainOf(operators), missing });
  }
  if (path !== undefined) parts.push({ missing, types: ["string"], path });
  if (prefix !== undefined) parts.push({ missing, types: ["string"], prefix });
  if (url !== undefined) parts.push({ missing, types: ["string"], url });
  if (items !== undefined) parts.push({ missing, types: ["array"], items: boundsOf(items) });
  if (each !== undefined) parts.push({ missing, types: ["array"], each: valuesOf(each) });
  return parts.reduce(meetArguments, { missing, types: TYPES });
}

/** Returns the domain of the values that both domains allow. */
export function meetArguments(a: ArgumentDomain, b: ArgumentDomain): ArgumentDomain {
  const forms = meetForms(a, b);
  const scalars = withinForms(meetDomains(scalarsOf(a), scalarsOf(b)), forms);
  const arrays = meetArrays(a, b);
  const types = TYPES.filter((type) =>
    type === "array" ? arrays !== undefined : scalars.types.includes(type),
  );
  // `forms` is left out if the domain lists its values, which `withinForms` has checked, or if the domain allows no
  // strings.
  const isOpen = scalars.in === undefined && types.includes("string");
  const missing = a.missing && b.missing;
  return { ...scalars, ...(isOpen ? forms : {}), ...arrays, missing, types };
}

/** Removes properties that are `undefined`, since `undefined` has no canonical form. */
function defined<T extends object>(value: { readonly [Name in keyof T]: T[Name] | undefined }): T {
  return Object.fromEntries(Object.entries(value).filter(([, one]) => one !== undefined)) as T;
}

/** Returns the part of a domain that concerns scalars, without the conditions on strings. */
export function scalarsOf({ types, min, max, in: listed, not_in }: ArgumentDomain): Domain {
  const scalars = types.filter((type) => type !== "array");
  return defined<Domain>({ types: scalars, min, max, in: listed, not_in });
}

type Forms = Pick<ArgumentDomain, "path" | "prefix" | "url">;

/**
 * Intersects the conditions on strings, operator by operator. Returns `undefined` if no string satisfies both
 * operands of an operator.
 */
function meetForms(a: Forms, b: Forms): Forms | undefined {
  const path = meetOperands(a.path, b.path, deeper);
  const prefix = meetOperands(a.prefix, b.prefix, longer);
  const url = meetOperands(a.url, b.url, meetUrls);
  if (path === null || prefix === null || url === null) return undefined;
  return defined<Forms>({ path, prefix, url });
}

/** Intersects two operands. If one is absent, returns the other; if nothing satisfies both, returns `null`. */
function meetOperands<T>(
  a: T | undefined,
  b: T | undefined,
  meet: (a: T, b: T) => T | null,
): T | null | undefined {
  if (a === undefined) return b;
  return b === undefined ? a : meet(a, b);
}

function deeper(a: string, b: string): string | null {
  if (isBelow(a, b)) return b;
  return isBelow(b, a) ? a : null;
}

function longer(a: string, b: string): string | null {
  if (b.startsWith(a)) return b;
  return a.startsWith(b) ? a : null;
}

/** Returns the URLs that both limits allow; `null` if there are none. */
function meetUrls(a: UrlLimit, b: UrlLimit): UrlLimit | null {
  const hosts = a.hosts.flatMap((one) =>
    b.hosts.flatMap((other) => {
      if (allowsHostEntry(one, other)) return [other];
      return allowsHostEntry(other, one) ? [one] : [];
    }),
  );
  const ports = meetOperands(a.ports, b.ports, shared);
  // If only one limit names ports, the other limit allows just the default port of each scheme.
  const isMixed = (a.ports === undefined) !== (b.ports === undefined);
  const schemes = shared(a.schemes, b.schemes).filter(
    (scheme) => !isMixed || ports?.includes(defaultPort(scheme)),
  );
  const path = meetOperands(a.path, b.path, deeper);
  if (hosts.length === 0 || schemes.length === 0 || ports?.length === 0 || path === null) {
    return null;
  }
  const named = isMixed ? undefined : (ports ?? undefined);
  return defined<UrlLimit>({ schemes, hosts: sortedSet(hosts), ports: named, path });
}

function shared(some: readonly string[], others: readonly string[]): readonly string[] {
  return some.filter((one) => others.includes(one));
}

/**
 * Removes listed strings that violate the conditions. If `forms` is `undefined`, no string satisfies the conditions:
 * the result is then empty, since a domain with such conditions allows only strings.
 */
function withinForms(scalars: Domain, forms: Forms | undefined): Domain {
  if (forms === undefined) return { types: [] };
  const listed = scalars.in;
  if (listed === undefined) return scalars;
  const fitting = listed.filter((value) => typeof value !== "string" || fits(forms, value));
  return fitting.length === listed.length ? scalars : domainOf({ in: fitting });
}

function fits({ path, prefix, url }: Forms, text: string): boolean {
  if (judgedValue(text) === undefined) return false;
  if (path !== undefined && !(isPath(text) && isBelow(path, text))) return false;
  if (prefix !== undefined && !text.startsWith(prefix)) return false;
  return url === undefined || allowsUrl(url, text);
}

type Arrays = Pick<ArgumentDomain, "items" | "each">;

/** Returns the arrays that both domains allow; `undefined` if there are none. */
function meetArrays(a: ArgumentDomain, b: ArgumentDomain): Arrays | undefined {
  if (!a.types.includes("array") || !b.types.includes("array")) return undefined;
  const each = meetOperands(a.each, b.each, meetArguments) ?? undefined;
  const { min: least, max: most } = a.items ?? boundsOf({});
  const items = b.items ?? boundsOf({});
  const min = Math.max(least, items.min);
  // If no value is allowed for elements, only the empty array remains.
  const max = each?.types.length === 0 ? 0 : Math.min(most, items.max);
  if (min > max) return undefined;
  const isAny = min === 0 && max === MAX_JUDGED_ELEMENTS;
  return defined<Arrays>({
    items: isAny ? undefined : { min, max },
    each: max === 0 ? undefined : each,
  });
}

function boundsOf({ min = 0, max = MAX_JUDGED_ELEMENTS }: ItemsLimit): Required<ItemsLimit> {
  return { min, max };
}

/** Returns whether `value` is in the domain. */
export function allowsArgument(domain: ArgumentDomain, value: unknown): boolean {
  const judged = judgedValue(value);
  if (!Array.isArray(judged)) {
    if (!allows(scalarsOf(domain), judged)) return false;
    return typeof judged !== "string" || fits(domain, judged);
  }
  const { types, items = boundsOf({}), each } = domain;
  if (!types.includes("array")) return false;
  if (judged.length < items.min || judged.length > items.max) return false;
  return each === undefined || judged.every((element) => allowsArgument(each, element));
}

/** Returns whether every call is refused: no value is allowed, and a call must not leave the argument out. */
export function isDead({ missing, types }: ArgumentDomain): boolean {
  return !missing && types.length === 0;
}

/**
 * Returns a constraint that allows the same values as the domain; `undefined` if the domain allows nothing, or does
 * not limit the values.
 */
export function constraintFrom(domain: ArgumentDomain): ArgumentConstraint | undefined {
  const { missing, types } = domain;
  if (types.length === 0) return missing ? { absent: true } : undefined;
  const [only, ...more] = domain.in ?? [];
  if (!missing && only !== undefined && more.length === 0) return only;
  const operators = operatorsFrom(domain);
  if (Object.keys(operators).length === 0) return undefined;
  return sortedConstraint(missing ? { ...operators, optional: true } : operators);
}

function operatorsFrom(domain: ArgumentDomain): ArgumentOperators {
  const { types, min, max, in: listed, not_in, path, prefix, url, items, each } = domain;
  const isArray = types.length === 1 && types.includes("array");
  return defined<ArgumentOperators>({
    min,
    max,
    in: listed,
    not_in,
    path,
    prefix,
    url,
    each: each === undefined ? undefined : operatorsFrom(each),
    items: isArray && (items !== undefined || each === undefined) ? itemsFrom(items) : undefined,
    absent: undefined,
    optional: undefined,
  });
}

/**
 * Returns the bounds on the number of elements. Omits a bound that every array satisfies, but keeps at least one
 * bound.
 */
function itemsFrom({ min, max }: Required<ItemsLimit> = boundsOf({})): ItemsLimit {
  if (max === MAX_JUDGED_ELEMENTS) return { min };
  return min === 0 ? { max } : { min, max };
}
