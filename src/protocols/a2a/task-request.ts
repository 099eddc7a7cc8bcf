import { type Message, Role } from "@a2a-js/sdk";
import { isJsonObject, type Json, type JsonObject } from "../../bytes/json.js";
import { CAPABILITY_METHODS } from "./capability-methods.js";
import { malformed, throwRefused } from "./errors.js";

/** What a message asks for. */
export type TaskRequest =
  /** A method about capabilities, in a data part: for bindings that have no methods of extensions. */
  | { readonly kind: "method"; readonly method: string; readonly params: JsonObject }
  /** One skill, in a data part. */
  | { readonly kind: "skill"; readonly skill: string; readonly arguments: JsonObject }
  /** Anything else: for the agent to make sense of, within what the caller has. */
  | { readonly kind: "text"; readonly text: string; readonly data: readonly Json[] };

/**
 * Reads what a message asks for. Only a data part that stands alone calls a skill or a method; what
 * the text of a message says is never taken for a call.
 *
 * @throws Refused where that is unclear.
 */
export function readTaskRequest(message: Message | undefined): TaskRequest {
  const parts = message?.parts ?? [];
  if (parts.length > MOST_PARTS) {
    return throwRefused(malformed(`a message may have at most ${MOST_PARTS} parts`));
  }
  const texts: string[] = [];
  const data: Json[] = [];
  for (const { content } of parts) {
    if (content?.$case === "text") texts.push(content.value);
    else if (content?.$case === "data") data.push(content.value ?? null);
    else return throwRefused(malformed("only text and data parts are understood"));
  }
  const [first] = data;
  const alone = parts.length === 1 && first !== undefined && isJsonObject(first);
  if (alone && first["skill"] !== undefined) return readSkill(first);
  if (alone && first["method"] !== undefined) return readMethod(first);
  if (data.some(isCall)) {
    // Taken for words, it would be kept with the task, and what it holds with it.
    return throwRefused(malformed("a data part that calls a skill or a method must stand alone"));
  }
  return { kind: "text", text: texts.join("\n"), data };
}

const MOST_PARTS = 64;

function isCall(data: Json): boolean {
  return isJsonObject(data) && ("skill" in data || "method" in data);
}

function readSkill({ skill, arguments: given = {}, ...others }: JsonObject): TaskRequest {
  if (typeof skill !== "string" || !isJsonObject(given) || Object.keys(others).length > 0) {
    return throwRefused(malformed('a call is {"skill": "…", "arguments": {…}}, and nothing else'));
  }
  return { kind: "skill", skill, arguments: given };
}

function readMethod({ method, params = {}, ...others }: JsonObject): TaskRequest {
  const known = [...CAPABILITY_METHODS.keys()];
  if (typeof method !== "string" || !known.includes(method)) {
    return throwRefused(malformed(`"method" must be one of ${known.join(", ")}`));
  }
  if (!isJsonObject(params) || Object.keys(others).length > 0) {
    return throwRefused(malformed('a method is {"method": "…", "params": {…}}, and nothing else'));
  }
  return { kind: "method", method, params };
}

/** How many tasks a message may refer to. */
const MOST_REFERENCES = 16;

/**
 * Of the tasks that a message refers to, each once, those that its caller sees: the SDK hands all of them
 * to what runs, other callers' too, and writes those that it does not find to the console.
 */
export async function seenOf(
  ids: readonly string[],
  sees: (id: string) => Promise<boolean>,
): Promise<readonly string[]> {
  const seen: string[] = [];
  for (const id of new Set(ids)) if (await sees(id)) seen.push(id);
  return seen;
}

/** A message with all that A2A requires of one (sections 4.1.4 and 5.7). @throws Refused for any other. */
export function assertWhole(message: Message | undefined): Message {
  if (message === undefined || message.messageId === "") {
    return throwRefused(malformed("message.messageId is required"));
  }
  if (message.role !== Role.ROLE_USER) throwRefused(malformed("message.role must be ROLE_USER"));
  if (message.parts.length === 0)
    throwRefused(malformed("message.parts must have at least one part"));
  return message;
}

/** @throws Refused where a message refers to more tasks than may be looked up for it. */
export function assertReferences(message: Message | undefined): void {
  if ((message?.referenceTaskIds.length ?? 0) <= MOST_REFERENCES) return;
  throwRefused(malformed(`a message may refer to ${MOST_REFERENCES} tasks`));
}
