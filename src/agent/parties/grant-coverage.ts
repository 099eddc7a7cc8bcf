// Tests whether an agent's grants cover a request.

import { canonicalJson, type Json } from "../../bytes/json.js";
import type { Authority } from "../../caveats/authority.js";
import { allows, type Domain, isEmpty } from "../../caveats/domain.js";
import type { Hop } from "../../caveats/hop.js";
import { meetOf } from "../../caveats/meet.js";
import { authorityOver, limitsArguments } from "../../caveats/operation-authority.js";
import type { Scalar } from "../../caveats/scalar.js";
import { formatTime } from "../../caveats/time.js";
import type { AgentGrant } from "./records.js";
import type { Wanted } from "./requests.js";

/** Returns whether a grant is for the wanted capability, and currently allows everything that is wanted. */
export function coversWanted(grant: AgentGrant, { term, hops }: Wanted, now: number): boolean {
  if (grant.capability !== term.name || grant.grant !== term.grant) return false;
  if (grant.operation !== term.operation) return false;
  const granted = grant.hops.map(({ hop }) => hop);
  // Every grant is bound to its agent, so treat the request as bound to the agent too.
  const asked = [...hops.map(({ hop }) => hop), { invokers: [grant.agent] }];
  return hopsCover(granted, asked, term.operation, now);
}

/**
 * Returns whether the hops of `granted` together allow every call that `asked` allows. The answer is exact for
 * `constraints`. If `granted` limits arguments in other ways too, the answer is `true` only if all its limits
 * add nothing to the limits of `asked`.
 *
 * @param operation - The operation of the calls.
 */
export function hopsCover(
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
  const isWithin = Object.entries(wide.constraints ?? {}).every(([argument, domain]) => {
    const own = limits.get(argument);
    return own !== undefined && domainContains(domain, own);
  });
  const { constraints: _, ...others } = wide;
  if (!isWithin || !limitsArguments(others, operation)) return isWithin;
  // Compare what `asked` allows with and without the limits of `granted`.
  return leftTo(operation, narrow) === leftTo(operation, meetOf([granted, asked]));
}

/** Returns the arguments that an authority allows for an operation, in a comparable form. */
function leftTo(operation: string, authority: Authority): string {
  const { limited, closed = null } = authorityOver(operation, authority);
  // A domain contains only JSON values.
  return canonicalJson([Object.fromEntries(limited) as unknown as Json, closed]);
}

function domainContains(wide: Domain, narrow: Domain): boolean {
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
    // A finite list cannot contain every remaining string, or every number between two bounds.
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
