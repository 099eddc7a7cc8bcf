import type { AgentDenials } from "../../../agent/refusal.js";
import type { JsonObject } from "../../../bytes/json.js";
import type { Edit } from "../message/edit.js";
import { INVALID_PARAMS } from "../message/error-codes.js";
import { errorText, type Message } from "../message/message.js";
import { listAt, objectAt, stringAt } from "../message/values.js";
import { finishCall } from "./call.js";
import { forward, restored } from "./forward.js";
import type { GateParts } from "./gate-parts.js";
import type { HostRequest, OpenRequest } from "./host-request.js";
import {
  joined,
  judgeInputs,
  judgeResponses,
  lapseOf,
  UNKNOWN_INPUT,
  urlRefusal,
} from "./input-requests.js";
import { refusalAnswer } from "./refusal.js";
import type { Task } from "./tasks.js";

/**
 * Passes a request about a task on to the task's server, if the requesting party created the task and its tokens still
 * allow the operation.
 */
export async function runTaskRequest(parts: GateParts, request: HostRequest): Promise<void> {
  const { authority, tasks } = parts;
  const { params, presented, method } = request;
  const task = tasks.find(stringAt(params, ["taskId"]), authority.holder(presented));
  if (task === undefined || !presented.ok) {
    return request.answer(errorText(request.id, INVALID_PARAMS, "there is no such task"));
  }
  const denials = await refusalOf(parts, request, task);
  if (denials !== undefined) return request.answer(refusalAnswer(request, denials));
  const { link, operation } = task;
  // The host does not repeat this request with inputs, so no digest of a call is needed.
  const round = { call: method, before: new Map() };
  const called = { link, operation, round };
  await forward(request, link, {
    isEndless: method === "tasks/result",
    mayAsk: true,
    finish: (opened, response, id) =>
      method === "tasks/result"
        ? finishCall(parts, opened, called, response, id)
        : finishTask(parts, opened, task, response),
  });
}

async function refusalOf(
  parts: GateParts,
  { presented, method, params }: HostRequest,
  task: Task,
): Promise<AgentDenials | undefined> {
  const { link, operation, inputs } = task;
  const denials = await lapseOf(parts, presented, link, { operation, method });
  if (denials !== undefined) return denials;
  if (method !== "tasks/update") return undefined;
  const responses = objectAt(params, ["inputResponses"]);
  return responses === undefined
    ? UNKNOWN_INPUT
    : judgeResponses(parts, presented, link, responses, inputs);
}

/**
 * Turns a server's response about a task into the answer for the host. First judges the requests to the host in the
 * response.
 */
async function finishTask(
  parts: GateParts,
  request: OpenRequest,
  task: Task,
  response: Message,
): Promise<string> {
  const denials =
    (await urlRefusal(parts, request.presented, task.link, response)) ??
    (await admitInputs(parts, request, task, objectAt(response.value, ["result"])));
  return denials === undefined ? restored(request, response) : refusalAnswer(request, denials);
}

/**
 * Judges the requests that a task's state makes of the host (`inputRequests`). If all are allowed, records them in the
 * task.
 *
 * @returns Reasons to withhold the state from the host; `undefined` if there are none.
 */
export async function admitInputs(
  parts: GateParts,
  { presented }: OpenRequest,
  task: Task,
  state: JsonObject | undefined,
): Promise<AgentDenials | undefined> {
  const inputRequests = state?.["inputRequests"];
  if (inputRequests === undefined) return undefined;
  const judged = await judgeInputs(parts, presented, task.link, inputRequests, task.inputs);
  if (!judged.allowed) return judged.denials;
  task.inputs = joined(task.inputs, judged.inputs);
  return undefined;
}

/** Returns the edits that remove the tasks of other parties from a list of tasks. */
export function ownTaskEdits(
  { authority, tasks }: GateParts,
  { presented }: OpenRequest,
  response: Message,
): readonly Edit[] {
  const holder = authority.holder(presented);
  const listed = listAt(response.value, ["result", "tasks"]) ?? [];
  return listed.flatMap((entry, at) => {
    const isOwn = tasks.find(stringAt(entry, ["taskId"]), holder) !== undefined;
    return isOwn ? [] : [{ path: ["result", "tasks", at], value: undefined }];
  });
}
