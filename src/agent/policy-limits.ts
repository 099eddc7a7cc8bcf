// Limits on arguments in a policy. A hop can only narrow, so it cannot express that one of several limits must hold.
// Permissions with different limits therefore lead to separate capabilities.

import { canonicalJson, type Json } from "../bytes/json.js";
import { deepFrozen } from "../capability/frozen.js";
import type { Hop } from "../caveats/hop.js";
import type { RuleFailure } from "../caveats/hop-rule.js";
import { ARGUMENT_KEYS, type ArgumentLimits } from "../caveats/hop-rules.js";
import { checkInvocation } from "../caveats/invocation.js";
import { judgeHop } from "../caveats/judge.js";
import { emptyRules, meetOf } from "../caveats/meet.js";
import { authorityOver, deadArguments, limitsArguments } from "../caveats/operation-authority.js";
import { forOperations } from "../caveats/operation-entries.js";
import { mistakesIn } from "../caveats/operation-mistakes.js";
import { canonicalHop, plainHop } from "../caveats/write-hop.js";
import type { OperationInvocation } from "./clearance.js";
import { type Permission, permitsOperation } from "./policy.js";
import type { AgentDenial } from "./refusal.js";

/** Maximum size of the limits of one permission, in bytes of a hop. Leaves space for the hops of other parties. */
const MAX_BYTES = 2048;

/** The limits of a permission. */
interface ReadLimits {
  /** The limits in canonical form; `undefined` if there are none. */
  readonly limits: ArgumentLimits | undefined;
  /** A string that is the same for the same limits. */
  readonly key: string;
}

/** The limits of the permissions that {@link checkedPermission} has returned. */
const CHECKED = new WeakMap<Permission, ReadLimits>();

/**
 * Checks the limits of a permission once, so that calls need not check them again.
 *
 * @param where - The name of the permission in messages.
 * @returns The permission with its limits in canonical form. It is frozen.
 * @throws TypeError that names the permission and the wrong property.
 */
export function checkedPermission(permission: Permission, where: string): Permission {
  const limits = readArgumentLimits(permission, where);
  const checked = deepFrozen({ ...permission, ...limits });
  CHECKED.set(checked, { limits, key: keyOf(limits) });
  return checked;
}

/**
 * Returns the limits of a permission. Reads and checks them now if the permission comes from a policy that is not a
 * table.
 *
 * @throws TypeError if the limits are invalid.
 */
function limitsOf(permission: Permission): ReadLimits {
  const checked = CHECKED.get(permission);
  if (checked !== undefined) return checked;
  const limits = readArgumentLimits(permission, "a permission of the policy");
  return { limits, key: keyOf(limits) };
}

function readArgumentLimits(permission: Permission, where: string): ArgumentLimits | undefined {
  // A policy may return instances of a class, whose properties can be inherited. Read limits as all other properties of
  // a permission are read: without its limits, the permission would allow more.
  const given = ARGUMENT_KEYS.flatMap((key) => {
    const value = permission[key];
    return value === undefined ? [] : [[key, value] as const];
  });
  if (given.length === 0) return undefined;
  const plain = plainHop(Object.fromEntries(given), where);
  try {
    const { hop, bytes } = canonicalHop(plain);
    if (bytes.length > MAX_BYTES) {
      throw new TypeError(`the limits take ${bytes.length} bytes, and ${MAX_BYTES} is the limit`);
    }
    const named = permission.operations === "*" ? undefined : permission.operations;
    const [mistake] = mistakesIn(hop, named, "the rule");
    if (mistake !== undefined) throw new TypeError(mistake.message);
    const [empty] = emptyRules(meetOf([[{ operations: named }, hop]]));
    if (empty !== undefined) throw new TypeError(`"${empty}" allows no call`);
    return hop;
  } catch (error) {
    if (!(error instanceof TypeError)) throw error;
    throw new TypeError(`${where}: ${error.message}`, { cause: error });
  }
}

/** Permissions with the same limits on arguments. */
export interface LimitGroup {
  /** Absent if the permissions have no limits. */
  readonly limits?: ArgumentLimits | undefined;
  readonly permissions: readonly Permission[];
}

/**
 * Groups permissions by their limits, in the order in which the limits first appear.
 *
 * @throws TypeError if the limits of a permission are invalid.
 */
export function groupsByLimits(permissions: readonly Permission[]): readonly LimitGroup[] {
  const groups = new Map<
    string,
    { limits?: ArgumentLimits | undefined; permissions: Permission[] }
  >();
  for (const permission of permissions) {
    const { limits, key } = limitsOf(permission);
    const group = groups.get(key);
    if (group === undefined) groups.set(key, { limits, permissions: [permission] });
    else group.permissions.push(permission);
  }
  return [...groups.values()];
}

/** Returns whether two permissions have the same limits. */
export function areSameLimits(
  one: ArgumentLimits | undefined,
  other: ArgumentLimits | undefined,
): boolean {
  return keyOf(one) === keyOf(other);
}

function keyOf(limits: ArgumentLimits | undefined): string {
  // Canonical limits contain only JSON values.
  return canonicalJson((limits ?? null) as Json);
}

/**
 * Returns the groups by which a capability for the operation can be issued: a single group if one of them does not
 * limit the arguments of the operation, and otherwise every group that permits the operation. Groups are left out if
 * their limits, together with those of the request, leave no call.
 *
 * @param permits - Returns whether permissions permit the operation on the resource in question.
 */
export function permittingGroups(
  groups: readonly LimitGroup[],
  operation: string,
  restrictions: Hop,
  permits: (permissions: readonly Permission[]) => boolean = (permissions) =>
    permitsOperation(permissions, operation),
): readonly LimitGroup[] {
  const permitting = groups.filter(
    ({ limits, permissions }) =>
      permits(permissions) &&
      (limits === undefined || leavesCalls([restrictions, limits], operation)),
  );
  const free = permitting.find(
    ({ limits }) => limits === undefined || !limitsArguments(meetOf([[limits]]), operation),
  );
  return free === undefined ? permitting : [free];
}

/** Returns each group with the operations that it permits; groups that permit none are left out. */
export function sharesOf(
  operations: readonly string[],
  permitting: (operation: string) => readonly LimitGroup[],
): readonly { readonly group: LimitGroup; readonly operations: readonly string[] }[] {
  const shares = new Map<LimitGroup, string[]>();
  for (const operation of operations) {
    for (const group of permitting(operation)) {
      shares.set(group, [...(shares.get(group) ?? []), operation]);
    }
  }
  return [...shares].map(([group, own]) => ({ group, operations: own }));
}

/**
 * Returns the hop with a group's limits, for a capability with these operations; an empty array if the limits concern
 * none of the operations.
 */
export function hopsOfLimits(
  limits: ArgumentLimits | undefined,
  operations: readonly string[],
): readonly Hop[] {
  const own = forOperations(limits ?? {}, operations);
  return Object.keys(own).length === 0 ? [] : [own];
}

function leavesCalls(hops: readonly Hop[], operation: string): boolean {
  return deadArguments(authorityOver(operation, meetOf([hops]))).length === 0;
}

/** The parts of a call that limits on arguments judge. */
export type JudgedCall = Pick<OperationInvocation, "operation" | "arguments" | "listing">;

/** The permissions whose limits a call satisfies, and the reasons why it violates the limits of others. */
interface JudgedPermissions {
  readonly permissions: readonly Permission[];
  /**
   * The limits that the call violates, of the group with the fewest violations among the groups that permit the
   * operation. Empty if the call satisfies the limits of one of these groups.
   */
  readonly denials: readonly AgentDenial[];
}

/**
 * Judges a call by the limits of permissions.
 *
 * @throws TypeError if the limits of a permission are invalid.
 */
export function judgedByLimits(
  permissions: readonly Permission[],
  { operation, arguments: given, listing }: JudgedCall,
): JudgedPermissions {
  const kept: Permission[] = [];
  const refused: (readonly AgentDenial[])[] = [];
  const asked = checkInvocation({ operation, arguments: given }, Date.now);
  for (const { limits = {}, permissions: own } of groupsByLimits(permissions)) {
    const violated = judgeHop(limits, asked, 0);
    const isAllowed = listing === true ? violated.every(isOfMissing) : violated.length === 0;
    if (isAllowed) kept.push(...own);
    else if (permitsOperation(own, operation)) refused.push(violated.map(denialOf));
  }
  if (permitsOperation(kept, operation)) return { permissions: kept, denials: [] };
  const [nearest = []] = refused.sort((a, b) => a.length - b.length);
  return { permissions: kept, denials: nearest };
}

function denialOf(failure: RuleFailure): AgentDenial {
  return { ...failure, code: "policy_denied", message: `by the policy, ${failure.message}` };
}

/**
 * Returns whether a reason is about a limit on exactly one missing argument. Such a reason has no `actual`. A
 * reason with `more` is also about other arguments, which may be present.
 */
export function isOfMissing({
  code,
  actual,
  more,
}: Pick<AgentDenial, "code" | "actual" | "more">): boolean {
  return code === "constraint_violated" && actual === undefined && more === undefined;
}
