import type { Admission } from "../../agent/admission.js";
import type { Clearance, Refusal } from "../../agent/clearance.js";
import type { IssuingAgent } from "../../agent/issuing-agent.js";
import type { Operation } from "../../agent/skill.js";
import type { JsonObject } from "../../bytes/json.js";
import type { VerifiedCapability } from "../../capability/authorize.js";
import type { AuthenticCall, Call, Sight, SkillLeave } from "./call.js";
import { denialFault, refuse } from "./errors.js";

/** Verifies what a call presents, once for all that follows. */
export async function authenticated(call: Call, agent: IssuingAgent): Promise<AuthenticCall> {
  return { ...call, capabilities: await agent.authenticate(call.caller, call.capabilities) };
}

/** A call that was let in by all that it presents. */
interface Entry {
  readonly admission: Admission;
  readonly sight: Sight;
}

/** Lets a call in by all that it presents. @throws Refused if the agent does not. */
export async function admit(call: AuthenticCall, agent: IssuingAgent): Promise<Entry> {
  const { caller, capabilities, declared } = call;
  const admission = await agent.admit(caller, capabilities, declared);
  if (!admission.allowed) return refuse(denialFault(admission.denials));
  const judged = admission.capabilities.map(({ capability }) => capability);
  return { admission, sight: sightOf(call, judged, agent) };
}

/** The tasks of these capabilities, or of ambient authority. */
function sightOf(
  { caller: { principal, invoker }, tenant }: Call,
  capabilities: readonly VerifiedCapability[],
  agent: IssuingAgent,
): Sight {
  const paths = capabilities.map(({ revocationIds }) => revocationIds);
  const covers = agent.coverage(capabilities);
  return {
    tenant,
    access: { principal, invoker, paths, covers },
    expires: Math.min(...capabilities.map(({ expires }) => Date.parse(expires))),
  };
}

/** A call that was cleared, and the tasks of the capability that this rests on. */
interface Cleared<Of> {
  readonly clearance: Of;
  readonly sight: Sight;
}

/** Waits for leave. @throws Refused, with every reason, without it. */
export async function cleared<Of extends Clearance<Operation>>(
  clearing: Promise<Of | Refusal>,
  call: AuthenticCall,
  agent: IssuingAgent,
): Promise<Cleared<Of>> {
  const clearance = await clearing;
  if (!clearance.allowed) return refuse(denialFault(clearance.denials));
  const { capability } = clearance;
  return { clearance, sight: sightOf(call, capability === undefined ? [] : [capability], agent) };
}

/** Asks for leave to run a skill. @throws Refused, with every reason, without it. */
export async function skillLeave(
  asked: { readonly skill: string; readonly arguments: JsonObject },
  call: AuthenticCall,
  agent: IssuingAgent,
): Promise<{ readonly leave: SkillLeave; readonly sight: Sight }> {
  const { skill, arguments: given } = asked;
  const { caller, capabilities, declared } = call;
  const invocation = { skill, arguments: given, capabilities, declared };
  const { clearance, sight } = await cleared(agent.clear(caller, invocation), call, agent);
  return { leave: { kind: "skill", clearance, invocation }, sight };
}
