import { hash } from "node:crypto";
import { Message, type StreamResponse, type Task, TaskState } from "@a2a-js/sdk";
import type { A2ARequestHandler, ServerCallContext } from "@a2a-js/sdk/server";
import { canonicalJson } from "../../bytes/json.js";
import type { Call } from "./call.js";
import { fault, throwRefused } from "./errors.js";
import { ERROR_CODES } from "./extension.js";
import type { Asker } from "./tasks/task-access.js";
import { isRunning, isWaiting } from "./tasks/task-rows.js";
import type { Earlier, TaskMessage, TaskStore } from "./tasks/task-store.js";

/**
 * Returns the identity of a message: its party, its id, and a hash of its request. The hash does not cover the
 * presented capabilities, since a caller may narrow them again for a retry.
 */
export function taskMessage(
  message: Message,
  { caller: { principal, invoker }, asked }: Pick<Call, "caller" | "asked">,
): TaskMessage {
  const text = canonicalJson([JSON.parse(JSON.stringify(Message.toJSON(message))), asked]);
  return { principal, invoker, id: message.messageId, hash: hash("sha256", text, "base64url") };
}

/**
 * Returns the current state of the task that an earlier message with the same id started.
 *
 * @throws Refused if the earlier message was different, or the request may not see the task.
 */
export async function repeatedTask(
  { task: id, same }: Earlier,
  tasks: TaskStore,
  asker: Asker,
): Promise<Task> {
  const task = same ? await tasks.load(id, asker) : undefined;
  if (task !== undefined) return task;
  const message = same
    ? "a message of this messageId has begun a task that what is presented does not open"
    : "another message of this messageId has come before; give each message an id of its own";
  return throwRefused(fault(ERROR_CODES.repeated, message, "message_id_taken"));
}

/**
 * Streams an answer that exists already. If the answer is a running task, the stream goes on until the task
 * ends or waits for its caller.
 */
export async function* follow(
  reply: Message | Task,
  handler: Pick<A2ARequestHandler, "resubscribe">,
  context: ServerCallContext,
): AsyncGenerator<StreamResponse, void, undefined> {
  if ("messageId" in reply) yield { payload: { $case: "message", value: reply } };
  else if (isRunning(reply.status?.state ?? TaskState.TASK_STATE_UNSPECIFIED)) {
    for await (const event of handler.resubscribe({ tenant: "", id: reply.id }, context)) {
      yield event;
      const { payload } = event;
      if (payload?.$case !== "statusUpdate") continue;
      if (isWaiting(payload.value.status?.state ?? TaskState.TASK_STATE_UNSPECIFIED)) return;
    }
  } else yield { payload: { $case: "task", value: reply } };
}

/** Returns the id of an event's task; empty if the event has no task. */
export function taskIdOf({ payload }: StreamResponse): string {
  if (payload === undefined) return "";
  return payload.$case === "task" ? payload.value.id : payload.value.taskId;
}
