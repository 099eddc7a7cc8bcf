import type { VerifiedCapability } from "../capability/authorize.js";
import type { AgentContext } from "./agent-options.js";
import type { Caller, Presenter } from "./caller.js";
import type { Refusal } from "./clearance.js";
import { ownPermissions, permissionsOf } from "./permissions.js";
import {
  type AdmittedCapability,
  authenticateAll,
  type Presented,
  standingOf,
} from "./presented.js";
import { type AgentDenial, missingCapability } from "./refusal.js";

/** An admitted caller with the capabilities that it presented. An admission alone allows the caller no skill. */
export interface Admission<By extends Presenter = Caller> {
  readonly allowed: true;
  readonly caller: By;
  /** Empty if the caller uses ambient authority. */
  readonly capabilities: readonly AdmittedCapability[];
  /** True if the caller has declared that it uses ambient authority. */
  readonly declared: boolean;
}

/**
 * Admits a caller. Every capability that the caller presents must currently allow something. A caller without
 * capabilities is admitted only if the agent accepts ambient authority. The policy must currently give the principal
 * of each capability a permission under the capability's grant. A caller without capabilities needs a permission under
 * at least one grant.
 *
 * @param declared - `true` if the caller declares that it uses ambient authority.
 */
export async function admit<By extends Presenter>(
  caller: By,
  presented: readonly Presented[],
  declared: boolean,
  context: AgentContext,
): Promise<Admission<By> | Refusal> {
  const ambient = presented.length === 0 ? ambientDenial(declared, context) : undefined;
  if (ambient !== undefined) return { allowed: false, denials: [ambient] };
  if (presented.length === 0 && !(await allowsAmbient(caller, context))) {
    return { allowed: false, denials: [withdrawn()] };
  }
  const denials: AgentDenial[] = [];
  const capabilities: AdmittedCapability[] = [];
  for (const [at, one] of (await authenticateAll(presented, caller, context)).entries()) {
    const standing = standingOf(one, caller, context);
    if (!standing.allowed) {
      denials.push(...standing.denials.map((denial) => ({ ...denial, capability: at })));
    } else if (!(await stillAllowed(standing.capability, context))) {
      denials.push({ ...withdrawn(), capability: at });
    } else {
      const { presented: authentic, capability } = standing;
      capabilities.push({ presented: authentic, capability });
    }
  }
  const [first, ...more] = denials;
  if (first !== undefined) return { allowed: false, denials: [first, ...more] };
  return { allowed: true, caller, capabilities, declared };
}

/** Returns the denial of a call without a capability; `undefined` if the agent accepts the call. */
export function ambientDenial(
  declared: boolean,
  { mode, undeclaredAmbient }: AgentContext,
): AgentDenial | undefined {
  if (mode === "require") return missingCapability();
  if (declared || undeclaredAmbient === "accepted") return undefined;
  const message =
    "the call presents no capability, and does not declare that it uses ambient authority; " +
    'present a capability, or declare "authority": "ambient"';
  return { code: "authority_undeclared", rule: "authority", message };
}

async function stillAllowed(
  { id, principal, grant }: VerifiedCapability,
  context: AgentContext,
): Promise<boolean> {
  if (principal === undefined || !context.grants.has(grant)) return false;
  return (await permissionsOf(id, principal, grant, context)).length > 0;
}

async function allowsAmbient(caller: Presenter, context: AgentContext): Promise<boolean> {
  for (const grant of context.grants.keys()) {
    if ((await ownPermissions(caller, grant, context)).length > 0) return true;
  }
  return false;
}

function withdrawn(): AgentDenial {
  const message = "the principal's policy allows nothing here, or no longer";
  return { code: "policy_denied", rule: "policy", message };
}
