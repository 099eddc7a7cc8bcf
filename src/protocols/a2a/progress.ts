import type { Task } from "@a2a-js/sdk";
import type { ServerCallContext } from "@a2a-js/sdk/server";
import type { Earlier } from "./tasks/task-store.js";

/** The progress of a message that runs in a stored task. */
export type Progress =
  /** Its task is not stored yet, or another request has ended it: ask the store. */
  | { readonly at: "store" }
  /** Its task runs or has ended; this is the stored state, which need not be read again. */
  | { readonly at: "task"; readonly task: Task }
  /** The same message started a task before; nothing has run. */
  | { readonly at: "repeated"; readonly earlier: Earlier }
  /** Its task could not be started; nothing has run. */
  | { readonly at: "not-begun"; readonly error: unknown; readonly task: string }
  /** It has run, and its outcome could not be stored. */
  | { readonly at: "not-stored" };

const NOT_STORED_YET: Progress = { at: "store" };

const progress = new WeakMap<ServerCallContext, Progress>();

/** Returns the progress of a context's message. */
export function progressOf(context: ServerCallContext): Progress {
  return progress.get(context) ?? NOT_STORED_YET;
}

/** Records the progress of a message. */
export function setProgress(context: ServerCallContext, now: Progress): void {
  progress.set(context, now);
}
