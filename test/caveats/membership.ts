import type { Authority } from "../../src/caveats/authority.js";
import type { Domain } from "../../src/caveats/domain.js";
import type { Invocation } from "../../src/caveats/invocation.js";

/**
 * Whether an authority, read by its documentation alone, contains a call. Written apart from the
 * code under test, to compare the meet of all hops with their judgement one by one.
 */
export function contains(
  authority: Authority,
  call: Invocation & { readonly time: Date },
): boolean {
  const handles = call.resourceHandles ?? [];
  const given = call.arguments ?? {};
  const now = call.time.getTime();
  const { operations, resourceHandles, audience, invokers } = authority;
  const { constraints = {}, expires, notBefore, furtherHops } = authority;
  return (
    isMember(operations, call.operation) &&
    (resourceHandles === undefined ||
      (handles.length > 0 && handles.every((handle) => resourceHandles.includes(handle)))) &&
    Object.entries(constraints).every(
      ([name, domain]) => Object.hasOwn(given, name) && hasValue(domain, given[name]),
    ) &&
    (expires === undefined || now < Date.parse(expires)) &&
    (notBefore === undefined || now >= Date.parse(notBefore)) &&
    isMember(audience, call.audience) &&
    isMember(invokers, call.invoker) &&
    (furtherHops === undefined || furtherHops >= 0)
  );
}

function isMember(set: readonly string[] | undefined, value: string | undefined): boolean {
  return set === undefined || (value !== undefined && set.includes(value));
}

function hasValue(domain: Domain, value: unknown): boolean {
  const type = value === null ? "null" : typeof value;
  if (!domain.types.some((one) => one === type)) return false;
  if (domain.in !== undefined && domain.in.indexOf(value as never) < 0) return false;
  if (domain.not_in !== undefined && domain.not_in.indexOf(value as never) >= 0) return false;
  if (typeof value !== "number") return domain.min === undefined && domain.max === undefined;
  if (!Number.isFinite(value)) return false;
  return value >= (domain.min ?? -Infinity) && value <= (domain.max ?? Infinity);
}
