import { allows, type Domain, isEmpty } from "../../caveats/domain.js";
import type { Hop } from "../../caveats/hop.js";
import { meetOf } from "../../caveats/meet.js";
import type { Scalar } from "../../caveats/scalar.js";
import { formatTime } from "../../caveats/time.js";

/**
 * Whether `granted`, hops that hold together, allow every call that `asked` allows. Exact for arguments;
 * other restrictions cover only their equals.
 *
 * @param operation - The one operation concerned.
 */
export function covers(
  granted: readonly Hop[],
  asked: readonly Hop[],
  operation: string,
  now: number,
): boolean {
  const wide = meetOf([granted]);
  const narrow = meetOf([asked]);
  const time = formatTime(now);
  if (wide.operations?.includes(operation) === false) return false;
  if (wide.expires !== undefined && wide.expires <= time) return false;
  if (wide.notBefore !== undefined && wide.notBefore > time) return false;
  for (const key of ["audience", "invokers"] as const) {
    const most = wide[key];
    if (most !== undefined && !(narrow[key]?.every((one) => most.includes(one)) ?? false))
      return false;
  }
  const limits = new Map(Object.entries(narrow.constraints ?? {}));
  return Object.entries(wide.constraints ?? {}).every(([argument, domain]) => {
    const own = limits.get(argument);
    return own !== undefined && contains(domain, own);
  });
}

/** Whether every value of `narrow` is one of `wide`. */
function contains(wide: Domain, narrow: Domain): boolean {
  if (isEmpty(narrow)) return true;
  if (narrow.in !== undefined) return narrow.in.every((value) => allows(wide, value));
  const excluded = (value: Scalar): boolean => !allows(narrow, value);
  return narrow.types.every((type) => {
    if (!wide.types.includes(type)) return false;
    if (type === "null") return allows(wide, null);
    if (type === "boolean") {
      return [true, false].every((value) => excluded(value) || allows(wide, value));
    }
    const single = type === "number" && narrow.min !== undefined && narrow.min === narrow.max;
    if (single) return narrow.min === undefined || allows(wide, narrow.min);
    // What is left of texts, and of numbers between two bounds, no list names in full.
    if (wide.in !== undefined) return false;
    const others = (wide.not_in ?? []).filter((value) => typeof value === type);
    if (!others.every(excluded)) return false;
    if (type === "string") return true;
    const { min = LEAST, max = MOST } = narrow;
    return min >= (wide.min ?? LEAST) && max <= (wide.max ?? MOST);
  });
}

const LEAST = Number.NEGATIVE_INFINITY;
const MOST = Number.POSITIVE_INFINITY;
