import type { ServerCallContext } from "@a2a-js/sdk/server";
import type { Admission } from "../../agent/admission.js";
import type { Clearance, Refusal } from "../../agent/clearance.js";
import type { IssuingAgent } from "../../agent/issuing-agent.js";
import type { Operation } from "../../agent/skill.js";
import type { VerifiedCapability } from "../../capability/authorize.js";
import { setTaskAccess } from "../../stores/tasks/task-access.js";
import { callOf } from "./calls.js";
import { denialFault, malformed, refuse } from "./errors.js";
import { EXTENSION_URI } from "./extension.js";
import type { AuthenticAuthority } from "./presented.js";

/**
 * What a request presents, each token verified once for all that follows.
 *
 * @throws Refused if that cannot be read.
 */
export async function presentedBy(
  agent: IssuingAgent,
  context: ServerCallContext,
): Promise<AuthenticAuthority> {
  const call = callOf(context);
  const { caller, presented: reading } = call;
  if (!reading.ok) return refuse(malformed(reading.message));
  const { presented, declared } = reading;
  call.authentic ??= await agent.authenticate(caller, presented);
  return { presented: call.authentic, declared };
}

/**
 * Lets a request in, and notes which tasks it may see.
 *
 * @throws Refused if the agent does not let it in.
 */
export async function admit(agent: IssuingAgent, context: ServerCallContext): Promise<Admission> {
  const { presented, declared } = await presentedBy(agent, context);
  const answer = await agent.admit(callOf(context).caller, presented, declared);
  if (!answer.allowed) return refuse(denialFault(answer.denials));
  allowTasks(
    agent,
    answer.capabilities.map(({ capability }) => capability),
    context,
  );
  return answer;
}

/** Notes which tasks a request may see: those of these tokens, or of ambient authority. */
function allowTasks(
  agent: IssuingAgent,
  capabilities: readonly VerifiedCapability[],
  context: ServerCallContext,
): void {
  const paths = capabilities.map(({ revocationIds }) => revocationIds);
  const covers = agent.coverage(capabilities);
  const call = callOf(context);
  const { principal, invoker } = call.caller;
  call.access = { principal, invoker, paths, covers };
  setTaskAccess(context, call.access);
  call.expires = Math.min(...capabilities.map(({ expires }) => Date.parse(expires)));
  if (paths.length > 0) context.addActivatedExtension(EXTENSION_URI);
}

/** Asks for leave, and lets the request see the tasks of what it rests on unless it goes on with a task. */
export async function cleared<Of extends Clearance<Operation>>(
  clearing: Promise<Of | Refusal>,
  continues: boolean,
  agent: IssuingAgent,
  context: ServerCallContext,
): Promise<Of> {
  const clearance = await clearing;
  if (!clearance.allowed) return refuse(denialFault(clearance.denials));
  const { capability } = clearance;
  if (!continues) allowTasks(agent, capability === undefined ? [] : [capability], context);
  return clearance;
}
