import type { Message } from "@a2a-js/sdk";
import type { Request } from "express";
import type { Json } from "../../bytes/json.js";
import { isPlainText, LONGEST_ID } from "./answer.js";
import { membersOf, type Outline } from "./places.js";
import { decoded } from "./unread.js";

// Ids that callers choose stand in errors, which the SDK writes to the console: they are short and plain.

const PLAIN = new RegExp(`^[ -~]{0,${LONGEST_ID}}$`);
const WANTED = `must be at most ${LONGEST_ID} printable ASCII characters`;

/** What is wrong with the `id` of a JSON-RPC call, if it is a text. */
export function oddIdOfCall(id: Json | undefined): string | undefined {
  if (typeof id !== "string" || isPlainText(id)) return undefined;
  return `"id" must be a number, or at most ${LONGEST_ID} printable characters`;
}

/** Parameters that are ids, in both spellings that the SDK reads. */
const IDS = ["id", "taskId", "task_id", "contextId", "context_id"];
const TEXTS: readonly string[] = [...IDS, "pageToken", "page_token"];
/** Other parameters that it makes texts or numbers of. */
const SCALARS: readonly string[] = [
  ...["historyLength", "history_length", "pageSize", "page_size", "url", "token"],
  ...["statusTimestampAfter", "status_timestamp_after"],
];

/**
 * What is wrong with the parameters of a method about tasks: the SDK makes texts and numbers of whatever
 * they are, and fails on what has no such form.
 */
export function oddParameter(req: Request, { need, params }: Outline): string | undefined {
  if (need !== "task") return undefined;
  for (const name of TEXTS) {
    if (typeof (params[name] ?? "") !== "string") return `params.${name} must be a text`;
  }
  const scalar = SCALARS.find((name) => hasMembers(params[name]));
  if (scalar !== undefined) return `params.${scalar} must be a text or a number`;
  if (Object.values(membersOf(params["authentication"])).some(hasMembers)) {
    return "the members of params.authentication must be texts";
  }
  const query = new URLSearchParams(req.originalUrl.replace(/^[^?]*/, ""));
  for (const name of IDS) {
    for (const id of [params[name], ...query.getAll(name)]) {
      if (typeof id === "string" && !PLAIN.test(id)) return `params.${name} ${WANTED}`;
    }
  }
  // Over HTTP+JSON, what is done to a task follows its id.
  const ids = req.path.split("/").map((part) => decoded(part.replace(/:[a-z]+$/i, "")));
  return ids.every((id) => PLAIN.test(id)) ? undefined : `an id in the address ${WANTED}`;
}

function hasMembers(value: Json | undefined): boolean {
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
