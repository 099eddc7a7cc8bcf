import { randomUUID } from "node:crypto";
import {
  SendMessageRequest,
  SendMessageResponse,
  type Task,
  TaskState,
  taskStateToJSON,
} from "@a2a-js/sdk";
import type { Caller } from "../../agent/caller.js";
import type { IssuingAgent } from "../../agent/issuing-agent.js";
import type { AuthenticatedCapability } from "../../agent/presented.js";
import { isSkillInputError } from "../../agent/skill.js";
import { isJsonObject, type Json, type JsonObject } from "../../bytes/json.js";
import type { HopInit } from "../../caveats/hop.js";
import { meant } from "../../caveats/known-members.js";
import type { ConcurrencyLimit } from "../../http/concurrency-limit.js";
import { within } from "../../http/deadline.js";
import { contextFor } from "./call-context.js";
import {
  attenuated,
  done,
  invalidParams,
  type MethodOutcome,
  type MethodRefusal,
} from "./capability-methods.js";
import { BUSY, denialFault, fault, faultFrom } from "./errors.js";
import { authorityMarks, SHUTTING_DOWN } from "./executor.js";
import { ERROR_CODES, EXTENSION_URI } from "./extension.js";
import type { AuthenticAuthority, PresentedReading } from "./presented.js";
import type { CapabilityRequestHandler } from "./request-handler.js";

/** What the methods that run something rest on. */
export interface SkillMethodContext {
  readonly agent: IssuingAgent;
  readonly handler: CapabilityRequestHandler;
  readonly limit: ConcurrencyLimit;
  /** Milliseconds that a skill may take. */
  readonly timeout: number;
  /** Aborted when the agent shuts down, and waits no longer. */
  readonly stopping: AbortSignal;
  readonly onFailure: (error: unknown, what: string) => void;
}

const PRESENTING = ["capabilityId", "token", "capabilities", "metadata"];
const INVOKE_MEMBERS = ["skill", "arguments", "messageId", ...PRESENTING];
const SEND_MEMBERS = ["message", "attenuations", ...PRESENTING];

// A misspelt "token" would otherwise be a call that presents nothing.
function unknownIn(params: JsonObject, known: readonly string[]): MethodOutcome | undefined {
  const unknown = Object.keys(params).find((name) => !known.includes(name));
  if (unknown === undefined) return undefined;
  return invalidParams(`unknown member "${unknown.slice(0, 64)}"${meant(unknown, known)}`);
}

/**
 * `a2a/skill/invoke`: one skill, at once. `params`: `skill`, `arguments`, and the capability as
 * `capabilityId`, `token`, or `capabilities`. With a `messageId` it is a task that is kept, so that it is
 * safe to try again.
 */
export async function invokeSkill(
  caller: Caller,
  params: JsonObject,
  { agent, handler, limit, timeout, stopping, onFailure }: SkillMethodContext,
  reading: PresentedReading,
): Promise<MethodOutcome> {
  const unknown = unknownIn(params, INVOKE_MEMBERS);
  if (unknown !== undefined) return unknown;
  const { skill, arguments: given = {}, messageId } = params;
  if (typeof skill !== "string") return invalidParams('"skill" must be the id of a skill');
  if (!isJsonObject(given)) return invalidParams('"arguments" must be an object');
  if (!reading.ok) return invalidParams(reading.message);
  const { presented: capabilities, declared } = reading;
  if (messageId !== undefined) {
    const presented = await agent.authenticate(caller, capabilities);
    return invokeOnce(caller, messageId, skill, given, handler, { presented, declared });
  }
  const release = limit.take(caller);
  if (release === undefined) return { ok: false, fault: BUSY };
  const signal = AbortSignal.any([stopping, AbortSignal.timeout(timeout)]);
  try {
    const call = { skill, arguments: given, capabilities, declared };
    const work = agent.invoke(caller, call, signal);
    work.then(release, release);
    const outcome = await within(signal, work);
    if (!outcome.ok) return { ok: false, fault: denialFault(outcome.denials) };
    const { result } = outcome;
    const marks = { [EXTENSION_URI]: { ...authorityMarks(outcome) } };
    return { ok: true, result: { result, metadata: marks } };
  } catch (error) {
    if (stopping.aborted) {
      return { ok: false, fault: fault(ERROR_CODES.unavailable, SHUTTING_DOWN, "unavailable") };
    }
    if (signal.aborted) {
      return { ok: false, fault: fault(ERROR_CODES.timedOut, "it took too long", "timed_out") };
    }
    if (isSkillInputError(error)) return invalidParams(error.message);
    onFailure(error, skill);
    return { ok: false, fault: fault(-32603, "the skill failed", "skill_failed") };
  }
}

/** Calls a skill in a task of its own: the same call again finds the task, and runs nothing. */
async function invokeOnce(
  caller: Caller,
  messageId: Json,
  skill: string,
  given: JsonObject,
  handler: CapabilityRequestHandler,
  presented: AuthenticAuthority,
): Promise<MethodOutcome> {
  if (typeof messageId !== "string" || messageId === "") {
    return invalidParams('"messageId" must be a text, which tells this call from others');
  }
  const parts = [{ data: { skill, arguments: given } }];
  const message = { messageId, role: "ROLE_USER", parts };
  try {
    const request = SendMessageRequest.fromJSON({ message, metadata: {} });
    const answer = await handler.sendMessage(request, contextFor(caller, presented, "jsonrpc"));
    if ("id" in answer) return outcomeOf(answer);
    return { ok: false, fault: fault(-32603, "internal error", "internal_error") };
  } catch (error) {
    return { ok: false, fault: faultFrom(error) };
  }
}

/** What the task of a skill has come to, as an answer to a call of it. */
function outcomeOf({ id, status, artifacts, metadata }: Task): MethodOutcome {
  const { state, message } = status ?? {};
  const [part] = message?.parts ?? [];
  const text = part?.content?.$case === "text" ? part.content.value : "it did not complete";
  const [result] = artifacts.at(-1)?.parts ?? [];
  const common = { task: id, metadata: { [EXTENSION_URI]: metadata?.[EXTENSION_URI] } };
  if (state === TaskState.TASK_STATE_COMPLETED && result?.content?.$case === "data") {
    return done({ result: result.content.value, ...common });
  }
  if (state === TaskState.TASK_STATE_WORKING) {
    return done({ state: taskStateToJSON(state), ...common });
  }
  if (state === TaskState.TASK_STATE_REJECTED) return invalidParams(text);
  const reason = message?.metadata?.[EXTENSION_URI]?.reason ?? "skill_failed";
  const code = reason === "timed_out" ? ERROR_CODES.timedOut : -32603;
  return { ok: false, fault: fault(code, text, reason, { task: id }) };
}

/**
 * `a2a/task/send`: SendMessage under the SEP's name. `params`: `message`, `capabilities`, and
 * `attenuations`: by id, the hop that narrows a capability before the task has it. With these,
 * `capabilities` is all that the task has.
 */
export async function sendTask(
  caller: Caller,
  params: JsonObject,
  { agent, handler }: SkillMethodContext,
  reading: PresentedReading,
): Promise<MethodOutcome> {
  const unknown = unknownIn(params, SEND_MEMBERS);
  if (unknown !== undefined) return unknown;
  const message = readMessage(params["message"]);
  if (message === undefined) {
    return invalidParams('"message" must be an object with "parts"');
  }
  if (!reading.ok) return invalidParams(reading.message);
  const authentic = await agent.authenticate(caller, reading.presented);
  const list = await attenuatedFor(caller, params, authentic, agent);
  if (!list.ok) return list;
  try {
    const request = SendMessageRequest.fromJSON({ message, metadata: {} });
    const presented = { presented: list.capabilities, declared: reading.declared };
    const asked = params["attenuations"];
    const context = contextFor(caller, presented, "jsonrpc", asked);
    const answer = await handler.sendMessage(request, context);
    const payload: SendMessageResponse["payload"] =
      "messageId" in answer
        ? { $case: "message", value: answer }
        : { $case: "task", value: answer };
    return done(SendMessageResponse.toJSON({ payload }));
  } catch (error) {
    return { ok: false, fault: faultFrom(error) };
  }
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
function readMessage(value: Json | undefined): Json | undefined {
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
