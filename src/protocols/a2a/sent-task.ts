import { randomUUID } from "node:crypto";
import type { IssuingAgent } from "../../agent/issuing-agent.js";
import type { AuthenticatedCapability } from "../../agent/presented.js";
import { isJsonObject, type Json, type JsonObject } from "../../bytes/json.js";
import type { HopInit } from "../../caveats/hop.js";
import type { Call } from "./call.js";
import { assertMembersOf, attenuated } from "./capability-methods.js";
import { denialFault, malformed, throwRefused } from "./errors.js";
import { asMessage } from "./outline.js";

const MEMBERS = ["message", "attenuations", "capabilityId", "token", "capabilities", "metadata"];

/**
 * Reads `a2a/task/send`: SendMessage under the SEP's name. `params`: `message`, `capabilities`, and
 * `attenuations`: by id, the hop that narrows a capability before the task has it. With these,
 * `capabilities` is all that the task has.
 *
 * @returns The call of SendMessage that it stands for.
 * @throws Refused where it cannot be read, or a capability cannot be narrowed so.
 */
export async function sentTask(call: Call, agent: IssuingAgent): Promise<Call> {
  const { params } = call.outline;
  assertMembersOf(params, MEMBERS);
  const message = readMessage(params["message"]);
  if (message === undefined)
    return throwRefused(malformed('"message" must be an object with "parts"'));
  const outline = asMessage(call.outline, { message });
  const { attenuations } = params;
  if (attenuations === undefined) return { ...call, outline };
  return { ...call, outline, asked: attenuations, capabilities: await narrowed(call, agent) };
}

/** What a task is to have: what the call presents, each capability with the hop that is given for its id. */
async function narrowed(
  { caller, capabilities: presented, outline: { params } }: Call,
  agent: IssuingAgent,
): Promise<readonly AuthenticatedCapability[]> {
  const { attenuations, capabilities: listed } = params;
  if (attenuations === undefined || !isJsonObject(attenuations)) {
    return throwRefused(malformed('"attenuations" must be an object: id of a capability to hop'));
  }
  if (!Array.isArray(listed) || presented.length > listed.length) {
    const message = 'with "attenuations", "capabilities" is the whole list, with nothing beside it';
    return throwRefused(malformed(message));
  }
  const capabilities: AuthenticatedCapability[] = [];
  const ids = new Set<string>();
  for (const one of await agent.authenticate(caller, presented)) {
    if (!one.ok) return throwRefused(denialFault(one.denials));
    const { id } = one.token.identifier;
    ids.add(id);
    const hop = Object.hasOwn(attenuations, id) ? attenuations[id] : undefined;
    if (hop === undefined) {
      capabilities.push(one);
      continue;
    }
    if (!isJsonObject(hop))
      return throwRefused(malformed("an attenuation must be an object: a hop"));
    const outcome = await attenuated(agent.attenuate(caller, one, hop as HopInit));
    capabilities.push(outcome.presented);
  }
  const stray = Object.keys(attenuations).find((id) => !ids.has(id));
  if (stray === undefined) return capabilities;
  return throwRefused(
    malformed(`"attenuations" names ${stray.slice(0, 64)}, which "capabilities" does not`),
  );
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
