import { randomUUID } from "node:crypto";
import { type Artifact, Role, type Task, TaskState } from "@a2a-js/sdk";
import { ClearanceLostError } from "../../agent/clearance.js";
import { causeWords, resultOf } from "../../agent/parties/approval-results.js";
import type { Approval } from "../../agent/parties/records.js";
import type { AgentDenials } from "../../agent/refusal.js";
import { isSkillInputError } from "../../agent/skill.js";
import { SkillResultError } from "../../agent/skill-result.js";
import type { Json } from "../../bytes/json.js";
import { EXTENSION_URI, METHODS } from "./extension.js";
import { dataPart, newMessage, textPart } from "./parts.js";
import { TaskAnswer, taskStateOf } from "./task-runner.js";

/** The outcome of a skill or a task that has run. */
export interface Ending {
  readonly state: TaskState;
  /** The result of a skill or a task that has completed. */
  readonly result?: Json;
  readonly text?: string;
  readonly data?: Json | undefined;
  /** A code for the failure, for programs. */
  readonly reason?: string;
  /** The reasons why the capability was no longer valid; absent for any other outcome. */
  readonly denials?: AgentDenials;
}

/** The answer to the caller if a task has run, but its outcome could not be stored. */
export const UNSTORED: Ending & { readonly text: string; readonly reason: string } = {
  state: TaskState.TASK_STATE_FAILED,
  text: "it has run, but its outcome could not be stored; the same messageId does not run it again",
  reason: "outcome_not_stored",
};

/** The answer to the caller if a skill has run, but its result cannot be written as JSON. */
const NOT_JSON = {
  text: "it has run, but its result cannot be written as JSON; the agent's log says why",
  reason: "result_not_json",
};

const SHUTTING_DOWN = "the agent is shutting down; this was under way, and may have taken effect";

/** The limits of work, and the function that reports its failures. */
export interface RunLimits {
  /** Milliseconds that a skill or a task may take. */
  readonly timeout: number;
  /** Aborted when the agent shuts down and no longer waits for running work. */
  readonly stopping: AbortSignal;
  /** Called with each error of a skill or a task. Callers never see these errors. */
  readonly onFailure: (error: unknown, what: string) => void;
}

/** A piece of work to run. */
export interface Run {
  /** The name of the work in the log. */
  readonly what: string;
  readonly work: (signal: AbortSignal) => Promise<Json | TaskAnswer>;
  /**
   * Aborted with {@link CANCELLED} when the caller cancels the work, and with another reason when the work ends
   * otherwise.
   */
  readonly controller?: AbortController;
  /** Called when the work has ended, even if its caller no longer waits. */
  readonly release?: (() => void) | undefined;
}

/** The abort reason of work that its caller has cancelled. */
export const CANCELLED: DOMException = Object.freeze(new DOMException("cancelled", "AbortError"));

const TOO_LONG = Object.freeze(new DOMException("it took too long", "TimeoutError"));
const ANSWERED = Object.freeze(new DOMException("the call has its answer", "AbortError"));

/**
 * Runs work within its limits. Finally aborts the work's signal, so that anything still running stops. Never
 * throws, because a failure is an outcome too.
 */
export async function endingOf(
  { what, work, controller = new AbortController(), release }: Run,
  { timeout, stopping, onFailure }: RunLimits,
): Promise<Ending> {
  const { signal } = controller;
  const stop = (): void => controller.abort(stopping.reason);
  if (stopping.aborted) stop();
  else stopping.addEventListener("abort", stop, { once: true });
  const timer = setTimeout(() => controller.abort(TOO_LONG), timeout).unref();
  const working = work(signal);
  // Work that ignores its signal keeps its slot until the work ends.
  const over = (): void => release?.();
  working.then(over, over);
  try {
    const result = await untilAborted(working, signal);
    if (!(result instanceof TaskAnswer)) return { state: TaskState.TASK_STATE_COMPLETED, result };
    return { state: taskStateOf(result), text: result.message, data: result.data };
  } catch (error) {
    if (signal.reason === CANCELLED)
      return { state: TaskState.TASK_STATE_CANCELED, text: "cancelled" };
    const rejected = TaskState.TASK_STATE_REJECTED;
    if (error instanceof ClearanceLostError) {
      const { message: text, denials } = error;
      return { state: rejected, text, reason: denials[0].code, denials };
    }
    if (isSkillInputError(error)) return { state: rejected, text: error.message };
    const state = TaskState.TASK_STATE_FAILED;
    if (stopping.aborted) return { state, text: SHUTTING_DOWN, reason: "unavailable" };
    if (signal.aborted) return { state, text: "it took too long", reason: "timed_out" };
    onFailure(error, what);
    if (error instanceof SkillResultError) return { state, ...NOT_JSON };
    return { state, text: "it failed; the agent's log says why", reason: "skill_failed" };
  } finally {
    clearTimeout(timer);
    stopping.removeEventListener("abort", stop);
    controller.abort(ANSWERED);
  }
}

/**
 * Settles as `work` does, but rejects with the reason of `signal` once that signal is aborted. A skill may
 * ignore its signal.
 */
function untilAborted<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    work.then(resolve, reject);
    const abort = (): void => reject(signal.reason);
    if (signal.aborted) abort();
    else signal.addEventListener("abort", abort, { once: true });
  });
}

/** Returns a copy of a task with the outcome in it. */
export function endedTask(task: Task, ending: Ending): Task {
  const { state, result, text, data, reason } = ending;
  const { id: taskId, contextId } = task;
  const parts = [textPart(text ?? ""), ...(data === undefined ? [] : [dataPart(data)])];
  const message =
    text === undefined
      ? undefined
      : newMessage({
          role: Role.ROLE_AGENT,
          parts,
          taskId,
          contextId,
          metadata: reason === undefined ? {} : { [EXTENSION_URI]: { reason } },
        });
  return {
    ...task,
    status: { state, message, timestamp: new Date().toISOString() },
    artifacts: result === undefined ? task.artifacts : [...task.artifacts, artifactOf(result)],
    history: message === undefined ? task.history : [...task.history, message],
  };
}

/** Returns the outcome of a stored task: the inverse of {@link endedTask}. */
export function keptEnding({ status, artifacts }: Task): Ending {
  const { state = TaskState.TASK_STATE_UNSPECIFIED, message } = status ?? {};
  const [said] = message?.parts ?? [];
  const [made] = artifacts.at(-1)?.parts ?? [];
  const reason: unknown = message?.metadata?.[EXTENSION_URI]?.reason;
  return {
    state,
    ...(made?.content?.$case === "data" ? { result: made.content.value } : {}),
    ...(said?.content?.$case === "text" ? { text: said.content.value } : {}),
    ...(typeof reason === "string" ? { reason } : {}),
  };
}

function artifactOf(result: Json): Artifact {
  const parts = [dataPart(result)];
  const none = { description: "", metadata: {}, extensions: [] };
  return { artifactId: randomUUID(), name: "result", parts, ...none };
}

/**
 * Returns the outcome of a task whose approval is settled. The result lists the grants, and the method that
 * collects their capabilities. The result contains no token, because tasks are stored, streamed and pushed.
 */
export function endingOfApproval(approval: Approval): Ending {
  const { id: approvalId, state, updated } = approval;
  switch (state) {
    case "approved":
    case "used": {
      const result = resultOf(approval, updated);
      const granted: Json = result
        .filter((one) => one.granted)
        .map(({ asked: { grant, operations } }) => ({ grant, operations: [...operations] }));
      const denied: Json = result
        .filter((one) => !one.granted)
        .map(({ asked: { grant }, reason = "an approver denied it" }) => ({ grant, reason }));
      return {
        state: TaskState.TASK_STATE_COMPLETED,
        result: {
          approvalId,
          collect: METHODS.collect,
          granted,
          ...(denied.length === 0 ? {} : { denied }),
        },
        text: `approved; ${METHODS.collect} gives the capabilities to the party that asked`,
      };
    }
    case "denied": {
      const text = `denied: ${causeWords(approval) ?? reasonsOf(approval).join("; ")}`;
      return { state: TaskState.TASK_STATE_REJECTED, text, reason: "approval_denied" };
    }
    case "cancelled": {
      const text = causeWords(approval);
      if (text === undefined) return APPROVAL_CANCELLED;
      return { state: TaskState.TASK_STATE_REJECTED, text, reason: "approval_denied" };
    }
    default: {
      const text = "too few have decided in time; ask again";
      return { state: TaskState.TASK_STATE_FAILED, text, reason: "approval_expired" };
    }
  }
}

/** The outcome of an approval task that its caller has cancelled. */
export const APPROVAL_CANCELLED: Ending = {
  state: TaskState.TASK_STATE_CANCELED,
  text: "cancelled; the approval is taken back",
  reason: "approval_cancelled",
};

function reasonsOf(approval: Approval): readonly string[] {
  const reasons = resultOf(approval, approval.updated).flatMap(({ reason }) => reason ?? []);
  return reasons.length === 0 ? ["an approver denied it"] : [...new Set(reasons)];
}
