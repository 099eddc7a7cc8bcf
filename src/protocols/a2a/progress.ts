import type { Task } from "@a2a-js/sdk";
import type { ServerCallContext } from "@a2a-js/sdk/server";
import type { Earlier } from "./tasks/task-store.js";

/** The progress of a message that runs in a stored task. */
export type Progress =
  /** The task is not stored yet, or another request has ended it: read the store. */
  | { readonly at: "store" }
  /** The task is running or has ended. This is its stored state, which need not be read again. */
  | { readonly at: "task"; readonly task: Task }
  /** An earlier copy of the message has started a task. This copy runs nothing. */
  | { readonly at: "repeated"; readonly earlier: Earlier }
  /** The task could not be started. Nothing has run. */
  | { readonly at: "not-begun"; readonly error: unknown; readonly task: string }
  /** The message has run, but its outcome could not be stored. */
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
