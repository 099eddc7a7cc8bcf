import type { JsonObject } from "../bytes/json.js";
import type { AuthenticToken } from "../capability/authentic-token.js";
import { applyRemedies } from "../caveats/argument-remedies.js";
import { meant } from "../checks/members.js";
import { ambientDenial } from "./admission.js";
import type { AgentContext } from "./agent-options.js";
import { type ArgumentCheck, handlesIn } from "./arguments.js";
import type { Caller, Presenter } from "./caller.js";
import type {
  Clearance,
  Judged,
  OperationInvocation,
  Refusal,
  SkillInvocation,
} from "./clearance.js";
import { ownPermissions, permissionsOf } from "./permissions.js";
import type { Permission } from "./policy.js";
import { isOfMissing, type JudgedCall, judgedByLimits } from "./policy-limits.js";
import { type AuthenticatedCapability, authenticateAll } from "./presented.js";
import { type AgentDenial, type AgentDenials, missingCapability } from "./refusal.js";
import { queryAskedAgain, resolveResources } from "./resolve-resources.js";
import type { Operation } from "./skill.js";

/** A call of a known skill or operation. */
interface Call<Of extends Operation> extends Omit<SkillInvocation, "skill"> {
  readonly caller: Presenter;
  readonly asked: Of;
  readonly listing: boolean;
  /** The handles in the arguments. */
  readonly named: readonly string[];
  /** Returns the ways in which the arguments violate the skill's schema. */
  readonly invalid: () => readonly AgentDenial[];
  /** Returns the same call with other arguments. */
  readonly withArguments: (given: SkillInvocation["arguments"]) => Call<Of>;
}

/**
 * Checks the token, then policy, resources and schema. A call that presents a capability is never allowed by
 * ambient authority.
 *
 * @returns A clearance for one call, or the reasons for the refusal. If the token refuses the call, policy and
 *   resources are not checked. This function runs nothing and records nothing.
 */
export async function clearCall(
  caller: Caller,
  invocation: SkillInvocation,
  context: AgentContext,
): Promise<Clearance | Refusal> {
  const { skills, checks } = context;
  const skill = skills.get(invocation.skill);
  if (skill === undefined) {
    const known = [...skills.keys()];
    const message = `there is no skill "${invocation.skill.slice(0, 64)}"${meant(invocation.skill, known)}`;
    return { allowed: false, denials: [{ code: "skill_unknown", rule: "skill", message }] };
  }
  return clear(callOf(invocation, caller, skill, checks.get(skill.id)), context);
}

/** Like {@link clearCall}, for an operation that no skill has. Its arguments have no schema. */
export async function clearOperation(
  caller: Presenter,
  invocation: OperationInvocation,
  context: AgentContext,
): Promise<Clearance<Operation> | Refusal> {
  const { operations } = context;
  const { operation } = invocation;
  const asked = operations.get(operation);
  if (asked === undefined) {
    const message = `there is no operation "${operation.slice(0, 64)}"${meant(operation, [...operations.keys()])}`;
    return { allowed: false, denials: [{ code: "operation_denied", rule: "operation", message }] };
  }
  const { listing = false } = invocation;
  return clear({ ...callOf(invocation, caller, asked), listing }, context);
}

/** @param check - Judges the arguments; absent for an operation without a skill, which has no schema. */
function callOf<Of extends Operation>(
  { arguments: given, capabilities, declared = false }: Omit<SkillInvocation, "skill">,
  caller: Presenter,
  asked: Of,
  check?: ArgumentCheck,
): Call<Of> {
  // Checking a schema can be slow, so check it only for callers with an authentic capability or ambient
  // authority.
  let found: readonly AgentDenial[] | undefined;
  return {
    arguments: given,
    capabilities,
    declared,
    caller,
    asked,
    named: handlesIn(given),
    invalid() {
      found ??= check?.(given) ?? [];
      return found;
    },
    withArguments: (others) =>
      callOf({ arguments: others, capabilities, declared }, caller, asked, check),
    listing: false,
  };
}

async function clear<Of extends Operation>(
  call: Call<Of>,
  context: AgentContext,
): Promise<Clearance<Of> | Refusal> {
  const answer =
    call.capabilities.length === 0
      ? await clearAmbient(call, context)
      : await clearWithAny(call, context);
  return answer.allowed ? answer : { ...answer, asked: call.asked, handles: call.named };
}

async function clearWithAny<Of extends Operation>(
  call: Call<Of>,
  context: AgentContext,
): Promise<Clearance<Of> | Refusal> {
  const refusals: Refusal[] = [];
  const presented = await authenticateAll(call.capabilities, call.caller, context);
  for (const [at, capability] of presented.entries()) {
    const answer = await clearWith(capability, call, context);
    if (answer.allowed) return answer;
    refusals.push(presented.length === 1 ? answer : { ...answer, denials: numbered(answer, at) });
  }
  const [nearest, ...others] = refusals.sort(byNearness);
  if (nearest === undefined) return refusal([missingCapability()]);
  const [first, ...more] = nearest.denials;
  return { ...nearest, denials: [first, ...more, ...others.flatMap(({ denials }) => denials)] };
}

async function clearWith<Of extends Operation>(
  presented: AuthenticatedCapability,
  call: Call<Of>,
  context: AgentContext,
): Promise<Clearance<Of> | Refusal> {
  const { issuer, audience, grants, ledger } = context;
  const { caller, asked, named, invalid } = call;
  if (!presented.ok) return refusal(presented.denials);
  const { token } = presented;
  const { invoker } = caller;
  const left = asked.reach === "scoped" ? handlesLeft(token, invoker, context) : [];
  const authorized = issuer.authorize(token, {
    grant: [...grants.keys()],
    operation: asked.operation,
    resourceHandles: left.length === 0 ? named : [...named, ...left],
    arguments: call.arguments,
    invoker,
    audience,
  });
  const listed = call.listing && !authorized.allowed && authorized.denials.every(isOfMissing);
  const decision = listed ? issuer.standing(token, { invoker, audience }) : authorized;
  if (!decision.allowed) {
    // A call of a scoped skill needs no handles, so do not report that they are missing.
    const unasked = asked.reach === "scoped" && named.length === 0;
    const reasons = decision.denials.filter(({ code }) => !unasked || code !== "resource_denied");
    const denials = reasons.length === 0 ? decision.denials : reasons;
    if (decision.capability === undefined) return refusal(denials);
    const all = [...denials, ...invalid()];
    const isRemedied = await isAllowedOnceRemedied(presented, call, all, context);
    return refusal(isRemedied ? all : all.map(withoutRemedy), decision.capability);
  }

  const { capability } = decision;
  const grant = grants.get(capability.grant);
  const { principal } = capability;
  if (grant === undefined || principal === undefined) {
    const message = "the capability was not issued by this agent: it names no principal";
    return refusal([{ code: "policy_denied", rule: "grant", message }, ...invalid()], capability);
  }
  const permissions = await permissionsOf(capability.id, principal, grant.id, context);
  const judged = judgedByLimits(permissions, callOfOperation(call));
  const authority = {
    scope: capability,
    limited: capability.authority.resourceHandles,
    permissions: judged.permissions,
    beyond: judged.denials,
    query: await queryAskedAgain(capability.id, grant, permissions, ledger),
  };
  const resolved = await resolveResources(asked, named, authority, context);
  // Checking policy and resources takes time, and the token may have been revoked meanwhile.
  const lost = (): AgentDenials | undefined => {
    if (issuer.isStillValid(token)) return undefined;
    const still = issuer.standing(token, { invoker, audience });
    return still.allowed ? undefined : still.denials;
  };
  await issuer.catchUp();
  const denials = [...(lost() ?? []), ...resolved.denials, ...invalid()];
  if (denials.length > 0) return refusal(denials, capability);
  return {
    allowed: true,
    asked,
    arguments: call.arguments,
    handles: named,
    resources: resolved.resources,
    authority: grant.legacy ? "legacy" : "capability",
    principal,
    capability,
    presented,
    lost,
  };
}

/**
 * Returns whether every denial has a remedy, and the call is allowed once the remedies are applied. The changed
 * call must also pass policy, resources and schema.
 */
async function isAllowedOnceRemedied<Of extends Operation>(
  presented: AuthenticatedCapability,
  call: Call<Of>,
  denials: readonly AgentDenial[],
  context: AgentContext,
): Promise<boolean> {
  const remedies = denials.flatMap(({ remedy }) => remedy ?? []);
  if (remedies.length === 0 || remedies.length < denials.length) return false;
  const given: JsonObject = JSON.parse(JSON.stringify(applyRemedies(call.arguments, remedies)));
  return (await clearWith(presented, call.withArguments(given), context)).allowed;
}

function withoutRemedy({ remedy: _, ...denial }: AgentDenial): AgentDenial {
  return denial;
}

/** Returns the parts of a call that a policy's limits on arguments judge. */
function callOfOperation<Of extends Operation>({
  asked,
  arguments: given,
  listing,
}: Call<Of>): JudgedCall {
  return { operation: asked.operation, arguments: given, listing };
}

/** Returns the handles to which a token is limited; empty if the token has no such limit or is not valid. */
function handlesLeft(
  token: AuthenticToken,
  invoker: string | undefined,
  { issuer, audience }: AgentContext,
): readonly string[] {
  const standing = issuer.standing(token, { invoker, audience });
  return standing.allowed ? (standing.capability.authority.resourceHandles ?? []) : [];
}

async function clearAmbient<Of extends Operation>(
  call: Call<Of>,
  context: AgentContext,
): Promise<Clearance<Of> | Refusal> {
  const { caller, asked, named, declared = false } = call;
  const denial = ambientDenial(declared, context);
  if (denial !== undefined) return refusal([denial]);
  const { principal } = caller;
  // Ambient authority is what the policy allows a principal, so a call without a principal has none.
  if (principal === undefined) return refusal([missingCapability()]);
  const permissions: Permission[] = [];
  for (const grant of context.grants.values()) {
    if (!grant.operations.includes(asked.operation)) continue;
    permissions.push(...(await ownPermissions(caller, grant.id, context)));
  }
  const judged = judgedByLimits(permissions, callOfOperation(call));
  const authority = {
    scope: { ambient: principal },
    permissions: judged.permissions,
    beyond: judged.denials,
  };
  const resolved = await resolveResources(asked, named, authority, context);
  const denials = [...resolved.denials, ...call.invalid()];
  if (denials.length > 0) return refusal(denials);
  return {
    allowed: true,
    asked,
    arguments: call.arguments,
    handles: named,
    resources: resolved.resources,
    authority: "ambient",
    declared,
    principal,
  };
}

function refusal(denials: readonly AgentDenial[], capability?: Judged): Refusal {
  const [first = missingCapability(), ...more] = denials;
  return {
    allowed: false,
    denials: [first, ...more],
    capability,
  };
}

/** Sorts refusals of authentic capabilities first, and within each group those with the fewest denials first. */
function byNearness(a: Refusal, b: Refusal): number {
  const strange = Number(a.capability === undefined) - Number(b.capability === undefined);
  return strange === 0 ? a.denials.length - b.denials.length : strange;
}

function numbered({ denials: [first, ...more] }: Refusal, capability: number): AgentDenials {
  return [{ ...first, capability }, ...more.map((denial) => ({ ...denial, capability }))];
}
