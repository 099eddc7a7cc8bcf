import type { Constraint, Operators, UrlLimit } from "./hop.js";
import { type Scalar, type ScalarType, scalarType } from "./scalar.js";

/**
 * The values of one argument that several limits together allow. A domain can express what one {@link
 * Constraint} cannot: that no value is allowed, and which types remain when exclusions of different types are
 * combined.
 */
export interface Domain {
  /** The JSON types still allowed; empty if no value is allowed. */
  readonly types: readonly ScalarType[];
  /** The least number allowed. */
  readonly min?: number;
  /** The greatest number allowed. */
  readonly max?: number;
  /** The values still allowed; absent if no limit lists values. */
  readonly in?: readonly Scalar[];
  /** Values that are excluded. */
  readonly not_in?: readonly Scalar[];
}

/** The JSON types that a constraint of `operationConstraints` can allow. */
export type ArgumentType = ScalarType | "array";

/**
 * The values that several constraints together allow for one argument of an operation, and whether the argument may
 * be absent. An operator on strings (`path`, `prefix`, `url`) is intersected only with the same operator.
 */
export interface ArgumentDomain extends Omit<Domain, "types"> {
  /** True if a call may leave the argument out. */
  readonly missing: boolean;
  /** The JSON types still allowed; empty if no value is allowed. */
  readonly types: readonly ArgumentType[];
  /** Strings must be paths: this folder, or a path below it. */
  readonly path?: string;
  /** Strings must begin with this prefix. */
  readonly prefix?: string;
  /** Strings must be URLs with these parts. */
  readonly url?: UrlLimit;
  /** Bounds on the number of elements of arrays. */
  readonly items?: { readonly min: number; readonly max: number };
  /** The domain of elements of arrays. */
  readonly each?: ArgumentDomain;
}

const NO_TYPES: readonly ScalarType[] = Object.freeze([]);

/** Returns the values that one limit allows. */
export function domainOf(limit: Constraint): Domain {
  if (limit === null || typeof limit !== "object") return listed([limit]);
  const parts: Domain[] = [];
  if (limit.min !== undefined) parts.push({ types: ["number"], min: limit.min });
  if (limit.max !== undefined) parts.push({ types: ["number"], max: limit.max });
  if (limit.in !== undefined) parts.push(listed(limit.in));
  if (limit.not_in !== undefined)
    parts.push({ types: typesOf(limit.not_in), not_in: limit.not_in });
  return parts.reduce(meetDomains, { types: ["boolean", "null", "number", "string"] });
}

/** Returns the values that both domains allow. */
export function meetDomains(a: Domain, b: Domain): Domain {
  const min = bound(Math.max, a.min, b.min);
  const max = bound(Math.min, a.max, b.max);
  const excluded = [...new Set([...(a.not_in ?? []), ...(b.not_in ?? [])])];
  const open: Domain = {
    types: a.types.filter((type) => b.types.includes(type)),
    ...(min === undefined ? {} : { min }),
    ...(max === undefined ? {} : { max }),
    ...(excluded.length === 0 ? {} : { not_in: excluded }),
  };
  const candidates = a.in ?? b.in;
  if (candidates === undefined) return settled(open);
  const others = a.in === undefined || b.in === undefined ? undefined : new Set(b.in);
  const left = candidates.filter((value) => allows(open, value) && others?.has(value) !== false);
  return left.length === 0 ? { types: NO_TYPES } : listed(left);
}

// Drops types of which no value remains, so that an empty domain has no types. Then drops excluded values of other
// types, since a limit made from the domain would also allow the types of these values.
function settled(domain: Domain): Domain {
  const excluded = domain.not_in ?? [];
  const { min, max } = domain;
  const types = domain.types.filter((type) => {
    if (type === "null") return !excluded.includes(null);
    if (type === "boolean") return !(excluded.includes(true) && excluded.includes(false));
    if (type !== "number" || min === undefined || max === undefined) return true;
    return min < max || (min === max && !excluded.includes(min));
  });
  if (types.length === 0) return { types: NO_TYPES };
  if (domain.not_in === undefined) return { ...domain, types };
  const { not_in: _, ...rest } = domain;
  const left = excluded.filter((value) => types.some((type) => type === scalarType(value)));
  return left.length === 0 ? { ...rest, types } : { ...rest, types, not_in: left };
}

/** Returns whether `value` is in the domain. */
export function allows(domain: Domain, value: unknown): boolean {
  const type = scalarType(value);
  if (type === undefined || !domain.types.includes(type)) return false;
  if (domain.in !== undefined && !domain.in.some((item) => item === value)) return false;
  if (domain.not_in?.some((item) => item === value)) return false;
  if (domain.min !== undefined && Number(value) < domain.min) return false;
  return domain.max === undefined || Number(value) <= domain.max;
}

/** Returns whether the domain allows no value. */
export function isEmpty(domain: Domain): boolean {
  return domain.types.length === 0;
}

/** Returns a limit that allows the same values as the domain; `undefined` if no single limit does. */
export function limitFrom(domain: Domain): Constraint | undefined {
  if (isEmpty(domain)) return undefined;
  const [only, ...more] = domain.in ?? [];
  if (domain.in !== undefined && only !== undefined && more.length === 0) return only;
  const { min, max, in: list, not_in } = domain;
  const limit: Operators = {
    ...(list === undefined ? {} : { in: list }),
    ...(max === undefined ? {} : { max }),
    ...(min === undefined ? {} : { min }),
    ...(not_in === undefined ? {} : { not_in }),
  };
  return Object.keys(limit).length === 0 ? undefined : limit;
}

function listed(values: readonly Scalar[]): Domain {
  return { types: typesOf(values), in: values };
}

function typesOf(values: readonly Scalar[]): ScalarType[] {
  const types = new Set<ScalarType>();
  for (const value of values) {
    const type = scalarType(value);
    if (type !== undefined) types.add(type);
  }
  return [...types].sort();
}

function bound(
  pick: (a: number, b: number) => number,
  a: number | undefined,
  b: number | undefined,
): number | undefined {
  return a === undefined ? b : b === undefined ? a : pick(a, b);
}
