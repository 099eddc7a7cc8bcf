import { isJsonObject, type Json } from "../../../bytes/json.js";
import { MAX_JUDGED_ELEMENTS, MAX_JUDGED_UNITS } from "../../../caveats/argument-operators.js";
import type { ElementOperators } from "../../../caveats/hop.js";
import { isScalar, type Scalar } from "../../../caveats/scalar.js";
import { isPlace, mayBePlace, mayBePlaceName, placeLimit } from "./places.js";

/** The precision with which limits follow the recorded values. */
export interface Detail {
  /**
   * Maximum number of different values that a limit lists, unless the values may be places. If there are more values,
   * every value is allowed.
   */
  readonly values: number;
  /**
   * Maximum number of paths or URLs that a limit lists if they have no folder in common; also the maximum number of
   * hosts.
   */
  readonly places: number;
  /** `true` accepts the folder `/`, folders of one segment such as `/home`, and places without a limit. */
  readonly allowBroad: boolean;
}

/** The limit that is learned from the values of an argument. */
export type Learned =
  | {
      readonly kind: "limit";
      readonly limit: Scalar | ElementOperators;
      readonly each?: ElementOperators;
      /** `true` for arrays whose elements may have any value. */
      readonly anyElements?: boolean;
    }
  /** No limit is learned, because no operator fits the values, or because broad limits are accepted. */
  | { readonly kind: "any" }
  /**
   * Values may name places, and no narrow limit allows all of these places. The reason is text to show after the
   * argument and a colon.
   */
  | { readonly kind: "too-broad"; readonly reason: string };

/** Longest string that a limit lists, in UTF-16 code units. A longer string is prose, which is rarely repeated. */
const MAX_NAMED = 128;

const ANY: Learned = { kind: "any" };

/**
 * Returns the narrowest limit that allows all of these values. None of the values may be an object. Numbers are limited
 * by minimum and maximum, places by their common folder, arrays by their length and elements. A few strings are listed.
 *
 * @param argument - The name of the argument, by which some places are recognized.
 */
export function limitOfValues(values: readonly Json[], argument: string, detail: Detail): Learned {
  if (values.every((value) => Array.isArray(value))) return limitOfArrays(values, argument, detail);
  if (!values.every(isScalar)) return unlimited(values, argument, detail);
  const known = distinct(values);
  if (known.every((value) => typeof value === "number")) return limit(rangeOf(known));
  if (known.every((value) => value === null || typeof value === "boolean")) {
    return limit(oneOf(known));
  }
  if (known.some((value) => typeof value === "string" && isPlace(value, argument))) {
    return limitOfPlaces(known, argument, detail);
  }
  const areFew = known.length <= detail.values && known.every(isShort);
  if (areFew) return limit(oneOf(known));
  return known.some((value) => typeof value === "string" && mayBePlace(value, argument))
    ? limitOfPlaces(known, argument, detail)
    : ANY;
}

function limitOfPlaces(known: readonly Scalar[], argument: string, detail: Detail): Learned {
  const areJudged = known.every((one) => typeof one !== "string" || one.length <= MAX_JUDGED_UNITS);
  if (known.length === 1 && areJudged) return limit(oneOf(known));
  const texts = known.filter((value) => typeof value === "string");
  const common =
    texts.length === known.length && areJudged
      ? placeLimit(texts, detail.places, detail.allowBroad)
      : undefined;
  if (common !== undefined) return limit(common);
  if (known.length <= detail.places && areJudged) return limit(oneOf(known));
  return unlimited(known, argument, detail);
}

function limitOfArrays(
  arrays: readonly (readonly Json[])[],
  argument: string,
  detail: Detail,
): Learned {
  const { min, max } = boundsOf(arrays.map(({ length }) => length));
  if (max > MAX_JUDGED_ELEMENTS) return unlimited(arrays, argument, detail);
  const items = { items: { min, max } };
  const elements = arrays.flat();
  if (elements.length === 0) return limit(items);
  if (elements.some((element) => isJsonObject(element) || Array.isArray(element))) {
    const inside = unlimited(elements, argument, detail);
    return inside.kind === "any" ? arraysOf(items) : inside;
  }
  const each = limitOfValues(elements, argument, detail);
  if (each.kind !== "limit") return each.kind === "any" ? arraysOf(items) : each;
  return { kind: "limit", limit: items, each: asOperators(each.limit) };
}

/**
 * Returns the result for values without a limit: `too-broad` if a value may name a place and broad limits are not
 * accepted, else `any`.
 */
export function unlimited(values: readonly Json[], argument: string, detail: Detail): Learned {
  if (detail.allowBroad) return ANY;
  const place = values.flatMap((value) => [...placesIn(value, argument)])[0];
  if (place === undefined) return ANY;
  const reason = `no narrow limit allows all paths or URLs in it, such as ${JSON.stringify(place.slice(0, MAX_NAMED))}`;
  return { kind: "too-broad", reason };
}

/** Yields the places in a value, at any depth. */
function* placesIn(value: Json, argument: string): Generator<string> {
  if (typeof value === "string") {
    if (mayBePlace(value, argument)) yield value;
  } else if (Array.isArray(value)) {
    for (const element of value) yield* placesIn(element, argument);
  } else if (isJsonObject(value)) {
    for (const [name, member] of Object.entries(value)) {
      if (mayBePlaceName(name)) yield name;
      yield* placesIn(member, name);
    }
  }
}

/** Writes a limit as operators, to which further operators can be added. */
export function asOperators(one: Scalar | ElementOperators): ElementOperators {
  return one === null || typeof one !== "object" ? { in: [one] } : one;
}

function arraysOf(items: ElementOperators): Learned {
  return { kind: "limit", limit: items, anyElements: true };
}

function limit(one: Scalar | ElementOperators): Learned {
  return { kind: "limit", limit: one };
}

function rangeOf(numbers: readonly number[]): Scalar | ElementOperators {
  const { min, max } = boundsOf(numbers);
  return min === max ? min : { min, max };
}

function boundsOf(numbers: readonly number[]): { readonly min: number; readonly max: number } {
  return {
    min: numbers.reduce((least, one) => Math.min(least, one), Infinity),
    max: numbers.reduce((most, one) => Math.max(most, one), -Infinity),
  };
}

function oneOf(known: readonly Scalar[]): Scalar | ElementOperators {
  const [first = null, ...others] = known;
  return others.length === 0 ? first : { in: known };
}

/** Removes duplicates. 0 and -0 are the same number. */
function distinct(values: readonly Scalar[]): readonly Scalar[] {
  return [...new Set(values.map((value) => (value === 0 ? 0 : value)))];
}

function isShort(value: Scalar): boolean {
  return typeof value !== "string" || (value.length <= MAX_NAMED && !value.includes("\n"));
}
