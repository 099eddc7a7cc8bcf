import { type Message, Role } from "@a2a-js/sdk";
import { isJsonObject, type Json, type JsonObject } from "../../bytes/json.js";
import { CAPABILITY_METHODS } from "./capability-methods.js";
import { malformed, throwRefused } from "./errors.js";

/** The request in a message. */
export type TaskRequest =
  /** A method about capabilities, in a data part, for bindings that have no extension methods. */
  | { readonly kind: "method"; readonly method: string; readonly params: JsonObject }
  /** A call of one skill, in a data part. */
  | { readonly kind: "skill"; readonly skill: string; readonly arguments: JsonObject }
  /** Any other content. The agent interprets it, with no more permissions than the caller has. */
  | { readonly kind: "text"; readonly text: string; readonly data: readonly Json[] };

/**
 * Parses the request in a message. Only a message whose single part is a data part can call a skill or a
 * method; text never can.
 *
 * @throws Refused if the request is ambiguous.
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
    // As a text message, the call would be stored with its task, including any token in the call.
    return throwRefused(
      malformed("a data part that calls a skill or a method must be the message's only part"),
    );
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

/** Maximum number of tasks that a message may refer to. */
const MOST_REFERENCES = 16;

/**
 * Returns the ids of referenced tasks that the caller may see, without duplicates. The SDK itself would pass on
 * all references, including tasks of other callers, and would print the ids that it does not find.
 */
export async function seenOf(
  ids: readonly string[],
  sees: (id: string) => Promise<boolean>,
): Promise<readonly string[]> {
  const seen: string[] = [];
  for (const id of new Set(ids)) if (await sees(id)) seen.push(id);
  return seen;
}

/**
 * Returns a message that has everything that A2A requires (sections 4.1.4 and 5.7).
 *
 * @throws Refused if something is missing.
 */
export function assertWhole(message: Message | undefined): Message {
  if (message === undefined || message.messageId === "") {
    return throwRefused(malformed("message.messageId is required"));
  }
  if (message.role !== Role.ROLE_USER) throwRefused(malformed("message.role must be ROLE_USER"));
  if (message.parts.length === 0)
    throwRefused(malformed("message.parts must have at least one part"));
  return message;
}

/** @throws Refused if a message refers to too many tasks. */
export function assertReferences(message: Message | undefined): void {
  if ((message?.referenceTaskIds.length ?? 0) <= MOST_REFERENCES) return;
  throwRefused(malformed(`a message may refer to ${MOST_REFERENCES} tasks`));
}
