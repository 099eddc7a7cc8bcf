import type { JsonObject } from "../../../bytes/json.js";
import type { Message } from "../message/message.js";
import { listAt, objectAt, stringAt, valueAt } from "../message/values.js";
import type { RecordedCall } from "./learned-limits.js";
import { readLine } from "./recorded-calls.js";
import type { RecordedLine } from "./recording.js";

/** A call that was answered with an error, or with a result that says `isError`. */
export interface FailedCall extends RecordedCall {
  /** The error message in the answer. */
  readonly reason: string;
}

interface Asked {
  readonly call: RecordedCall;
  failure: string | undefined;
}

/** The calls of an open request. The answer to the request decides the outcome of these calls. */
interface Waiting {
  readonly asked: readonly Asked[];
  /** `true` if the request asks about the task of a call; `false` if the request is the call itself. */
  readonly isTask: boolean;
}

/** Sorts the calls of a recording by their outcome. A recording may contain several sessions, one after another. */
export class CallOutcomes {
  /** The number of messages that a gate would refuse with any token, for each reason. */
  readonly refused: Map<string, number> = new Map();
  readonly #asked: Asked[] = [];
  /** Open requests, by the requesting side and the id. The next session may use the same ids again. */
  readonly #waiting = new Map<string, Waiting>();
  readonly #tasks = new Map<string, readonly Asked[]>();

  /** Adds the next line of the recording. */
  add(line: RecordedLine): void {
    const { message, asks } = readLine(line);
    if (!asks.ok) this.refused.set(asks.reason, (this.refused.get(asks.reason) ?? 0) + 1);
    const asked = asks.ok ? asks.calls.map((call) => ({ call, failure: undefined })) : [];
    this.#asked.push(...asked);
    if (message?.kind === "request") this.#wait(line.from, message, asked);
    if (message?.kind === "response") this.#answer(line.from, message);
  }

  /** The calls that did not fail. A call without an answer, such as a subscription, is included. */
  get calls(): readonly RecordedCall[] {
    return this.#asked.filter(({ failure }) => failure === undefined).map(({ call }) => call);
  }

  /** The calls that failed, without duplicates. A call that succeeded when it was repeated is not included. */
  get failed(): readonly FailedCall[] {
    const known = new Set(this.calls.map(sameCall));
    const failed: FailedCall[] = [];
    for (const { call, failure } of this.#asked) {
      if (failure === undefined || known.has(sameCall(call))) continue;
      known.add(sameCall(call));
      failed.push({ ...call, reason: failure });
    }
    return failed;
  }

  #wait(from: RecordedLine["from"], { id, method, value }: Message, asked: readonly Asked[]): void {
    const isTask = method === "tasks/get" || method === "tasks/result";
    const taskId = stringAt(value, ["params", "taskId"]) ?? "";
    const waiting = isTask ? (this.#tasks.get(taskId) ?? []) : asked;
    this.#waiting.set(requestKey(from, id), { asked: waiting, isTask });
  }

  #answer(from: RecordedLine["from"], { id, value }: Message): void {
    const key = requestKey(from === "host" ? "server" : "host", id);
    const waiting = this.#waiting.get(key);
    if (waiting === undefined) return;
    this.#waiting.delete(key);
    const { asked, isTask } = waiting;
    const failure = failureIn(value) ?? (isTask ? taskFailure(value) : undefined);
    for (const one of asked) one.failure = failure;
    const taskId =
      stringAt(value, ["result", "taskId"]) ?? stringAt(value, ["result", "task", "taskId"]);
    if (taskId !== undefined && !isTask) this.#tasks.set(taskId, asked);
  }
}

function requestKey(asking: RecordedLine["from"], id: Message["id"]): string {
  return `${asking} ${JSON.stringify(id)}`;
}

function sameCall({ operation, arguments: given }: RecordedCall): string {
  return JSON.stringify([operation, given]);
}

/** Returns the text of an error in an answer; `undefined` if the answer is not an error. */
function failureIn(answer: JsonObject): string | undefined {
  const error = objectAt(answer, ["error"]);
  if (error !== undefined) return stringAt(error, ["message"]) ?? "an error without a message";
  const result = objectAt(answer, ["result"]);
  // The host repeats the call with the requested input. The answer to the repeated call decides.
  if (stringAt(result, ["resultType"]) === "input_required") return "the server asked for more";
  if (valueAt(result, ["isError"]) !== true) return undefined;
  const texts = (listAt(result, ["content"]) ?? []).map((part) => stringAt(part, ["text"]) ?? "");
  return texts.find((text) => text !== "") ?? "an error without text";
}

/**
 * Returns why a task failed, from the answer to `tasks/get`; `undefined` if the task did not fail. In the new era, the
 * answer contains the result of the task.
 */
function taskFailure(answer: JsonObject): string | undefined {
  const task = objectAt(answer, ["result"]) ?? {};
  const status = stringAt(task, ["status"]);
  const isOver = status === "failed" || status === "cancelled";
  return failureIn(task) ?? (isOver ? `its task is ${status}` : undefined);
}
