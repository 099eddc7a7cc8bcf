import { randomUUID } from "node:crypto";
import type { Caller } from "../../agent/caller.js";
import type { IssuingAgent } from "../../agent/issuing-agent.js";
import type { AuthenticatedCapability } from "../../agent/presented.js";
import { isJsonObject, type Json, type JsonObject } from "../../bytes/json.js";
import type { HopInit } from "../../caveats/hop.js";
import type { Call } from "./calls.js";
import { attenuated, invalidParams, type MethodRefusal, unknownIn } from "./capability-methods.js";
import { denialFault } from "./errors.js";

const MEMBERS = ["message", "attenuations", "capabilityId", "token", "capabilities", "metadata"];

/** A task that is sent: the message of a SendMessage, and the call that it is then. */
type SentTask =
  | { readonly ok: true; readonly message: JsonObject; readonly call: Call }
  | MethodRefusal;

/**
 * `a2a/task/send`: SendMessage under the SEP's name. `params`: `message`, `capabilities`, and
 * `attenuations`: by id, the hop that narrows a capability before the task has it. With these,
 * `capabilities` is all that the task has.
 */
export async function sentTask(
  call: Call,
  params: JsonObject,
  agent: IssuingAgent,
): Promise<SentTask> {
  const unknown = unknownIn(params, MEMBERS);
  if (unknown !== undefined) return unknown;
  const message = readMessage(params["message"]);
  if (message === undefined) return invalidParams('"message" must be an object with "parts"');
  const { caller, presented } = call;
  if (!presented.ok) return invalidParams(presented.message);
  const authentic = await agent.authenticate(caller, presented.presented);
  const list = await attenuatedFor(caller, params, authentic, agent);
  if (!list.ok) return list;
  const { attenuations: asked } = params;
  const own = asked === undefined ? call : { ...call, asked };
  return { ok: true, message, call: { ...own, authentic: list.capabilities } };
}

type Attenuated =
  | { readonly ok: true; readonly capabilities: readonly AuthenticatedCapability[] }
  | MethodRefusal;

/** What a task is to have: what the call presents, each capability with the hop that is given for its id. */
async function attenuatedFor(
  caller: Caller,
  params: JsonObject,
  presented: readonly AuthenticatedCapability[],
  agent: IssuingAgent,
): Promise<Attenuated> {
  const { attenuations, capabilities: listed } = params;
  if (attenuations === undefined) return { ok: true, capabilities: presented };
  if (!isJsonObject(attenuations)) {
    return invalidParams('"attenuations" must be an object: id of a capability to hop');
  }
  if (!Array.isArray(listed) || presented.length > listed.length) {
    const message = 'with "attenuations", "capabilities" is the whole list, with nothing beside it';
    return invalidParams(message);
  }
  const capabilities: AuthenticatedCapability[] = [];
  const ids = new Set<string>();
  for (const one of presented) {
    if (!one.ok) return { ok: false, fault: denialFault(one.denials) };
    const { id } = one.token.identifier;
    ids.add(id);
    const hop = Object.hasOwn(attenuations, id) ? attenuations[id] : undefined;
    if (hop === undefined) {
      capabilities.push(one);
      continue;
    }
    if (!isJsonObject(hop)) return invalidParams("an attenuation must be an object: a hop");
    const outcome = await attenuated(agent.attenuate(caller, one, hop as HopInit));
    if (!outcome.ok) return outcome;
    capabilities.push(outcome.presented);
  }
  const stray = Object.keys(attenuations).find((id) => !ids.has(id));
  if (stray === undefined) return { ok: true, capabilities };
  return invalidParams(`"attenuations" names ${stray.slice(0, 64)}, which "capabilities" does not`);
}

const ROLES: Readonly<Record<string, string>> = { user: "ROLE_USER", agent: "ROLE_AGENT" };

/** A message in A2A 1.0's form, also from the form of the SEP's examples. */
function readMessage(value: Json | undefined): JsonObject | undefined {
  if (value === undefined || !isJsonObject(value) || !Array.isArray(value["parts"]))
    return undefined;
  const { role, messageId, ...others } = value;
  const parts = value["parts"].map((part: Json) => {
    if (!isJsonObject(part)) return part;
    // Up to A2A 0.3, parts said what they are in "kind" or "type".
    const { type: _type, kind: _kind, ...content } = part;
    return content;
  });
  return {
    ...others,
    parts,
    role: typeof role === "string" ? (ROLES[role] ?? role) : "ROLE_USER",
    messageId: typeof messageId === "string" && messageId !== "" ? messageId : randomUUID(),
  };
}
