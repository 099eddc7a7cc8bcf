import { meant } from "../caveats/known-members.js";
import { handlesIn } from "./arguments.js";
import type { Caller } from "./caller.js";
import {
  ambientDenial,
  type Clearance,
  type GateContext,
  type Judged,
  type Refusal,
  type SkillInvocation,
} from "./clearance.js";
import type { Permission } from "./policy.js";
import {
  MAX_PRESENTED,
  type PresentedCapability,
  tokenOf,
  unknownCapability,
} from "./presented.js";
import { reachOf } from "./reach.js";
import { queryAskedAgain } from "./recheck.js";
import { type AgentDenial, type AgentDenials, missingCapability } from "./refusal.js";
import type { Skill } from "./skill.js";

/**
 * Decides whether a skill may run: the check of the core, then what only the agent knows. A call that
 * presents a capability is judged by it alone, and never falls back to ambient authority.
 */
export class Gate {
  readonly #context: GateContext;

  constructor(context: GateContext) {
    this.#context = context;
  }

  /** Leave for one call, or every reason why not. Nothing has run, and nothing is recorded. */
  async clear(caller: Caller, invocation: SkillInvocation): Promise<Clearance | Refusal> {
    const { skills, checks } = this.#context;
    const skill = skills.get(invocation.skill);
    if (skill === undefined) {
      const known = [...skills.keys()];
      const message = `there is no skill "${invocation.skill.slice(0, 64)}"${meant(invocation.skill, known)}`;
      return { allowed: false, denials: [{ code: "skill_unknown", rule: "skill", message }] };
    }
    // Checked only for callers that hold a capability or may do without: a schema check can be slow.
    let found: readonly AgentDenial[] | undefined;
    const invalid = (): readonly AgentDenial[] => {
      found ??= checks.get(skill.id)?.(invocation.arguments) ?? [];
      return found;
    };
    const answer =
      invocation.capabilities.length === 0
        ? await this.#ambient(caller, skill, invocation, invalid)
        : await this.#withAny(caller, skill, invocation, invalid);
    return answer.allowed ? answer : { ...answer, skill, handles: handlesIn(invocation.arguments) };
  }

  async #withAny(
    caller: Caller,
    skill: Skill,
    invocation: SkillInvocation,
    invalid: () => readonly AgentDenial[],
  ): Promise<Clearance | Refusal> {
    const refusals: Refusal[] = [];
    const presented = invocation.capabilities.slice(0, MAX_PRESENTED);
    for (const [at, capability] of presented.entries()) {
      const answer = await this.#with(capability, caller, skill, invocation, invalid);
      if (answer.allowed) return answer;
      refusals.push(presented.length === 1 ? answer : { ...answer, denials: numbered(answer, at) });
    }
    const [nearest, ...others] = refusals.sort(byNearness);
    if (nearest === undefined) return refusal([missingCapability()]);
    const [first, ...more] = nearest.denials;
    return { ...nearest, denials: [first, ...more, ...others.flatMap(({ denials }) => denials)] };
  }

  async #with(
    presented: PresentedCapability,
    caller: Caller,
    skill: Skill,
    invocation: SkillInvocation,
    invalid: () => readonly AgentDenial[],
  ): Promise<Clearance | Refusal> {
    const { issuer, audience, grants, policy, ledger } = this.#context;
    const resolved = await tokenOf(presented, caller, this.#context);
    if (!resolved.ok) return refusal([resolved.denial]);
    const { token } = resolved;
    const { invoker } = caller;
    const named = handlesIn(invocation.arguments);
    const left = this.#handlesLeft(skill, token, invoker);
    const decision = issuer.authorize(token, {
      grant: [...grants.keys()],
      operation: skill.operation,
      resourceHandles: [...named, ...left],
      arguments: invocation.arguments,
      invoker,
      audience,
    });
    if (!decision.allowed) {
      // A scoped skill takes no handles from its caller, so their absence is not a reason.
      const unasked = skill.reach === "scoped" && named.length === 0;
      const reasons = decision.denials.filter(({ code }) => !unasked || code !== "resource_denied");
      const denials = reasons.length === 0 ? decision.denials : reasons;
      if (decision.capability === undefined) return refusal(denials);
      return refusal([...denials, ...invalid()], decision.capability);
    }

    const { capability } = decision;
    if (presented.id !== undefined && presented.id !== capability.id) {
      return refusal([unknownCapability(presented.id)]);
    }
    const grant = grants.get(capability.grant);
    const { principal } = capability;
    if (grant === undefined || principal === undefined) {
      const message = "the capability was not issued by this agent: it names no principal";
      return refusal([{ code: "policy_denied", rule: "grant", message }, ...invalid()], capability);
    }
    const limited = capability.authority.resourceHandles;
    const permissions = await policy.permissions(principal, grant.id);
    const { resources, denials } = await reachOf(
      skill,
      named,
      {
        scope: capability,
        ...(limited === undefined ? {} : { limited }),
        permissions,
        query: await queryAskedAgain(capability.id, grant, permissions, ledger),
      },
      this.#context,
    );
    // Policy and resources may have been asked far away, and the token revoked meanwhile.
    const still = issuer.standing(token, { invoker, audience });
    const reasons = [...(still.allowed ? [] : still.denials), ...denials, ...invalid()];
    if (reasons.length > 0) return refusal(reasons, capability);
    const authority = grant.legacy ? "legacy" : "capability";
    return {
      ...{ allowed: true, skill, authority, principal, capability },
      arguments: invocation.arguments,
      handles: named,
      resources,
    };
  }

  /** The handles that a token leaves to a scoped skill; none if it is limited to none. */
  #handlesLeft(skill: Skill, token: string, invoker: string): readonly string[] {
    if (skill.reach !== "scoped") return [];
    const { issuer, audience } = this.#context;
    const standing = issuer.standing(token, { invoker, audience });
    return standing.allowed ? (standing.capability.authority.resourceHandles ?? []) : [];
  }

  async #ambient(
    caller: Caller,
    skill: Skill,
    invocation: SkillInvocation,
    invalid: () => readonly AgentDenial[],
  ): Promise<Clearance | Refusal> {
    const { grants, policy } = this.#context;
    const { declared = false } = invocation;
    const denial = ambientDenial(declared, this.#context);
    if (denial !== undefined) return refusal([denial]);
    const { principal } = caller;
    const permissions: Permission[] = [];
    for (const grant of grants.values()) {
      if (!grant.operations.includes(skill.operation)) continue;
      permissions.push(...(await policy.permissions(principal, grant.id)));
    }
    const named = handlesIn(invocation.arguments);
    const { resources, denials } = await reachOf(
      skill,
      named,
      { scope: { ambient: principal }, permissions },
      this.#context,
    );
    const reasons = [...denials, ...invalid()];
    if (reasons.length > 0) return refusal(reasons);
    return {
      ...{ allowed: true, skill, authority: "ambient", declared, principal },
      arguments: invocation.arguments,
      handles: named,
      resources,
    };
  }
}

function refusal(denials: readonly AgentDenial[], capability?: Judged): Refusal {
  const [first = missingCapability(), ...more] = denials;
  return {
    allowed: false,
    denials: [first, ...more],
    ...(capability === undefined ? {} : { capability }),
  };
}

/**
 * The refusal with the fewest denials comes first, since it says most about what to do; but one whose
 * token is not this issuer's never hides from the ledger one whose token is.
 */
function byNearness(a: Refusal, b: Refusal): number {
  const strange = Number(a.capability === undefined) - Number(b.capability === undefined);
  return strange === 0 ? a.denials.length - b.denials.length : strange;
}

function numbered({ denials: [first, ...more] }: Refusal, capability: number): AgentDenials {
  return [{ ...first, capability }, ...more.map((denial) => ({ ...denial, capability }))];
}
