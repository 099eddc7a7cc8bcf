import type { Task } from "@a2a-js/sdk";
import type { ServerCallContext } from "@a2a-js/sdk/server";
import type { Earlier } from "./tasks/task-store.js";

/** How far a message has come that runs in a kept task. */
export type Progress =
  /** Its task is not stored yet, or another request has ended it: the store knows. */
  | { readonly at: "store" }
  /** Its task runs or is over, as it was stored last: read from here, and not once more. */
  | { readonly at: "task"; readonly task: Task }
  /** The same message began a task before: nothing has run. */
  | { readonly at: "repeated"; readonly earlier: Earlier }
  /** Its task could not be begun: nothing has run. */
  | { readonly at: "not-begun"; readonly error: unknown; readonly task: string }
  /** It has run, and what it came to could not be stored. */
  | { readonly at: "not-stored" };

const NOT_STORED_YET: Progress = { at: "store" };

const progress = new WeakMap<ServerCallContext, Progress>();

/** How far the message has come that a context was made for. */
export function progressOf(context: ServerCallContext): Progress {
  return progress.get(context) ?? NOT_STORED_YET;
}

/** Notes how far a message has come. */
export function setProgress(context: ServerCallContext, now: Progress): void {
  progress.set(context, now);
}
