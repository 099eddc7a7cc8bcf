import type { Message } from "@a2a-js/sdk";
import type { Request } from "express";
import type { Json } from "../../bytes/json.js";
import { isPlainText, LONGEST_ID } from "./answer.js";
import { membersOf, type Outline } from "./places.js";
import { decoded } from "./unread.js";

// Ids that callers choose stand in errors, which the SDK writes to the console: they are short and plain.

const PLAIN = new RegExp(`^[ -~]{0,${LONGEST_ID}}$`);
const WANTED = `must be at most ${LONGEST_ID} printable ASCII characters`;

/** Parameters that are ids, in both spellings that the SDK reads. */
const IDS = ["id", "taskId", "task_id", "contextId", "context_id"];
const TEXTS: readonly string[] = [...IDS, "pageToken", "page_token"];
/** The only parameters that have members. */
const OBJECTS: readonly string[] = ["metadata", "authentication"];

/**
 * What is wrong with the parameters of a method about tasks: the SDK makes texts and numbers of whatever
 * they are, and fails on what has no such form.
 */
export function oddParameter(req: Request, { need, params }: Outline): string | undefined {
  if (need !== "task") return undefined;
  for (const [name, value] of Object.entries(params)) {
    if (value === null) continue;
    if (TEXTS.includes(name) && typeof value !== "string") return `params.${name} must be a text`;
    if (typeof value === "object" && !OBJECTS.includes(name)) {
      return "params has an object or a list where there is none";
    }
  }
  if (Object.values(membersOf(params["authentication"])).some(hasMembers)) {
    return "params.authentication must have texts alone";
  }
  const { pathname, searchParams } = new URL(req.url, "http://localhost");
  for (const name of IDS) {
    for (const id of [params[name], ...searchParams.getAll(name)]) {
      if (typeof id === "string" && !PLAIN.test(id)) return `params.${name} ${WANTED}`;
    }
  }
  // Over HTTP+JSON, what is done to a task follows its id.
  const ids = pathname.split("/").map((part) => decoded(part.replace(/:[a-z]+$/i, "")));
  return ids.every((id) => PLAIN.test(id)) ? undefined : `an id in the address ${WANTED}`;
}

function hasMembers(value: Json): boolean {
  return typeof value === "object" && value !== null;
}

/** What is wrong with the ids of a message. */
export function oddIdIn(message: Message): string | undefined {
  const { messageId, taskId, contextId, referenceTaskIds } = message;
  if (!isPlainText(messageId)) {
    return `message.messageId must be at most ${LONGEST_ID} printable characters`;
  }
  if (!PLAIN.test(taskId)) return `message.taskId ${WANTED}`;
  if (!PLAIN.test(contextId)) return `message.contextId ${WANTED}`;
  const at = referenceTaskIds.findIndex((id) => !PLAIN.test(id));
  return at < 0 ? undefined : `message.referenceTaskIds[${at}] ${WANTED}`;
}
