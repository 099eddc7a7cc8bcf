import type { Constraint, Hop, Operators } from "../../src/caveats/hop.js";
import type { CheckedInvocation } from "../../src/caveats/invocation.js";

// A second implementation of docs/spec.md, sections 5 and 9, as literal as possible and independent of src/caveats.
// This implementation ignores reasons, order and speed.

/** Judges an invocation by a hop (section 5). */
export function allows(hop: Hop, asked: CheckedInvocation, furtherLinks: number): boolean {
  const { operations, resourceHandles, audience, invokers, expires, notBefore } = hop;
  if (operations && !operations.some((one) => one === asked.operation)) return false;
  if (resourceHandles) {
    if (asked.resourceHandles.length < 1) return false;
    for (const handle of asked.resourceHandles) {
      if (!resourceHandles.some((one) => one === handle)) return false;
    }
  }
  for (const argument of Object.keys(hop.constraints ?? {})) {
    const limit = hop.constraints?.[argument];
    const given = Object.hasOwn(asked.arguments, argument);
    if (limit === undefined || !given || !allowsValue(limit, asked.arguments[argument]))
      return false;
  }
  if (expires !== undefined && Date.parse(asked.time) >= Date.parse(expires)) return false;
  if (notBefore !== undefined && Date.parse(asked.time) < Date.parse(notBefore)) return false;
  if (audience && !audience.some((one) => one === asked.audience)) return false;
  if (invokers && !invokers.some((one) => one === asked.invoker)) return false;
  return hop.maxFurtherHops === undefined || furtherLinks <= hop.maxFurtherHops;
}

/** Judges an argument that is present by a limit (section 5). */
export function allowsValue(limit: Constraint, value: unknown): boolean {
  const { min, max, in: listed, not_in: excluded } = operatorsOf(limit);
  const type = jsonType(value);
  if (min !== undefined && !(typeof value === "number" && type !== undefined && value >= min))
    return false;
  if (max !== undefined && !(typeof value === "number" && type !== undefined && value <= max))
    return false;
  if (listed && !listed.some((one) => one === value)) return false;
  if (!excluded) return true;
  return excluded.some((one) => jsonType(one) === type) && !excluded.some((one) => one === value);
}

/** Treats an exact value as a list of one. */
function operatorsOf(limit: Constraint): Operators {
  return typeof limit === "object" && limit !== null ? limit : { in: [limit] };
}

/** Returns the JSON type of a scalar; undefined for values that no limit accepts. */
export function jsonType(value: unknown): string | undefined {
  if (value === null) return "null";
  if (typeof value === "boolean") return "boolean";
  if (typeof value === "number") return Number.isFinite(value) ? "number" : undefined;
  return typeof value === "string" && !hasLoneSurrogate(value) ? "string" : undefined;
}

function hasLoneSurrogate(text: string): boolean {
  return /[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]/.test(text);
}

/** The values that limits on one argument allow together: an interval of numbers, and whether there is any value. */
interface Left {
  readonly numbers: readonly [least: number, greatest: number] | undefined;
  readonly something: boolean;
}

/** Returns the values that all `limits` together allow. */
export function leftOf(limits: readonly Constraint[]): Left {
  const all = limits.map(operatorsOf);
  const listed = all.find((one) => one.in !== undefined)?.in;
  if (listed !== undefined) {
    const rest = listed.filter((value) => limits.every((limit) => allowsValue(limit, value)));
    const numbers = rest.filter((value) => typeof value === "number");
    const named = [Math.min(...numbers), Math.max(...numbers)] as const;
    return { numbers: numbers.length > 0 ? named : undefined, something: rest.length > 0 };
  }
  const least = Math.max(...all.map((one) => one.min ?? Number.NEGATIVE_INFINITY));
  const greatest = Math.min(...all.map((one) => one.max ?? Number.POSITIVE_INFINITY));
  const remains = (value: unknown): boolean => limits.every((limit) => allowsValue(limit, value));
  // Between two different bounds, there are more numbers than limits can exclude.
  const inside = least < greatest ? uncommonNumber(least, greatest) : least;
  const numbers = remains(inside) ? ([least, greatest] as const) : undefined;
  const something =
    numbers !== undefined || [null, true, false, "some text that no limit names"].some(remains);
  return { numbers, something };
}

/** Returns a number between `least` and `greatest` that no limit in these tests names. */
function uncommonNumber(least: number, greatest: number): number {
  const [low, high] = [Math.max(least, -1000), Math.min(greatest, 1000)];
  return low + (high - low) * 0.378_123;
}

/**
 * Returns whether appending `hop` to `chain` only narrows the chain (section 9): the hop does not overreach, and all
 * hops together still allow some call.
 */
export function attenuates(chain: readonly Hop[], hop: Hop): boolean {
  const whole = [...chain, hop];
  for (const key of ["operations", "resourceHandles", "audience", "invokers"] as const) {
    for (const member of hop[key] ?? []) {
      if (chain.some((earlier) => earlier[key] && !earlier[key].includes(member))) return false;
    }
    const sets = whole.flatMap((one) => (one[key] === undefined ? [] : [one[key]]));
    const [first = []] = sets;
    if (sets.length > 0 && !first.some((one) => sets.every((set) => set.includes(one))))
      return false;
  }
  const limited = new Set(whole.flatMap((one) => Object.keys(one.constraints ?? {})));
  for (const argument of limited) {
    if (!leftOf(whole.flatMap((one) => one.constraints?.[argument] ?? [])).something) return false;
  }
  for (const [argument, limit] of Object.entries(hop.constraints ?? {})) {
    const limits = chain.flatMap((one) => one.constraints?.[argument] ?? []);
    if (!limitAttenuates(limits, limit)) return false;
  }
  return timesAttenuate(chain, hop) && linksAttenuate(chain, hop);
}

/** Checks the second, third and, for arguments, last point of section 9. */
export function limitAttenuates(limits: readonly Constraint[], limit: Constraint): boolean {
  const { min, max, in: named = [] } = operatorsOf(limit);
  if (!named.every((value) => limits.every((earlier) => allowsValue(earlier, value)))) return false;
  const { numbers } = leftOf(limits);
  for (const bound of [min, max]) {
    if (bound === undefined || limits.length === 0) continue;
    if (numbers === undefined || bound < numbers[0] || bound > numbers[1]) return false;
  }
  return leftOf([...limits, limit]).something;
}

function timesAttenuate(chain: readonly Hop[], hop: Hop): boolean {
  const { expires, notBefore } = hop;
  if (expires !== undefined && chain.some((one) => one.expires && one.expires < expires))
    return false;
  if (notBefore !== undefined && chain.some((one) => one.notBefore && one.notBefore > notBefore))
    return false;
  return !contradictory([...chain, hop]);
}

function contradictory(hops: readonly Hop[]): boolean {
  return hops.some(({ expires: end }) =>
    hops.some(({ notBefore: start }) => end !== undefined && start !== undefined && start >= end),
  );
}

function linksAttenuate(chain: readonly Hop[], hop: Hop): boolean {
  return chain.every(({ maxFurtherHops: most }, at) => {
    if (most === undefined) return true;
    const leftAfterThisOne = most - (chain.length - at - 1) - 1;
    return leftAfterThisOne >= 0 && (hop.maxFurtherHops ?? 0) <= leftAfterThisOne;
  });
}
