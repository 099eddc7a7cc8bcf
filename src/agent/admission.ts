import type { VerifiedCapability } from "../capability/authorize.js";
import type { AgentContext } from "./agent-options.js";
import type { Caller } from "./caller.js";
import type { Refusal } from "./clearance.js";
import { MAX_PRESENTED, type PresentedCapability, standingOf } from "./presented.js";
import { type AgentDenial, missingCapability } from "./refusal.js";

/** Leave to come in, with what is presented; it allows no skill by itself. */
export interface Admission {
  readonly allowed: true;
  readonly caller: Caller;
  /** None where authority is ambient. */
  readonly capabilities: readonly AdmittedCapability[];
  /** Whether the caller has declared ambient authority. */
  readonly declared: boolean;
}

/** A presented capability that is good for something. */
export interface AdmittedCapability {
  readonly token: string;
  readonly capability: VerifiedCapability;
}

/**
 * Lets a caller in if every capability it presents is good for something now, or if it presents none
 * and ambient authority is accepted; and if the policy still allows the principal anything at all.
 *
 * @param declared - Whether the caller declares that it uses ambient authority.
 */
export async function admit(
  caller: Caller,
  presented: readonly PresentedCapability[],
  declared: boolean,
  context: AgentContext,
): Promise<Admission | Refusal> {
  const ambient = presented.length === 0 ? ambientDenial(declared, context) : undefined;
  if (ambient !== undefined) return { allowed: false, denials: [ambient] };
  if (
    presented.length === 0 &&
    !(await allowsAny(caller.principal, [...context.grants.keys()], context))
  ) {
    return { allowed: false, denials: [withdrawn()] };
  }
  const denials: AgentDenial[] = [];
  const capabilities: AdmittedCapability[] = [];
  if (presented.length > MAX_PRESENTED) {
    const message = `a call may present at most ${MAX_PRESENTED} capabilities`;
    denials.push({ code: "token_too_large", rule: "capabilities", message });
  }
  for (const [at, one] of presented.slice(0, MAX_PRESENTED).entries()) {
    const standing = await standingOf(one, caller, context);
    if (!standing.allowed) {
      denials.push(...standing.denials.map((denial) => ({ ...denial, capability: at })));
    } else if (!(await stillAllowed(standing.capability, context))) {
      denials.push({ ...withdrawn(), capability: at });
    } else {
      capabilities.push({ token: standing.token, capability: standing.capability });
    }
  }
  const [first, ...more] = denials;
  if (first !== undefined) return { allowed: false, denials: [first, ...more] };
  return { allowed: true, caller, capabilities, declared };
}

/** Denies a call without a capability where the agent's mode does not accept it. */
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
  { principal, grant }: VerifiedCapability,
  context: AgentContext,
): Promise<boolean> {
  if (principal === undefined || !context.grants.has(grant)) return false;
  return allowsAny(principal, [grant], context);
}

async function allowsAny(
  principal: string,
  grants: readonly string[],
  { policy }: AgentContext,
): Promise<boolean> {
  for (const grant of grants) {
    if ((await policy.permissions(principal, grant)).length > 0) return true;
  }
  return false;
}

function withdrawn(): AgentDenial {
  const message = "the principal's policy allows nothing here, or no longer";
  return { code: "policy_denied", rule: "policy", message };
}
