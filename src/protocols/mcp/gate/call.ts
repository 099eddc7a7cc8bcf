import type { AgentDenials } from "../../../agent/refusal.js";
import type { Edit } from "../message/edit.js";
import { INTERNAL_ERROR } from "../message/error-codes.js";
import { errorText, type Message } from "../message/message.js";
import { objectAt, stringAt } from "../message/values.js";
import { cacheEdits } from "./cache-limits.js";
import { callTarget } from "./call-target.js";
import { forward, restored, withToken } from "./forward.js";
import type { GateParts } from "./gate-parts.js";
import type { HostRequest, OpenRequest } from "./host-request.js";
import { asksHost, urlRefusal } from "./input-requests.js";
import type { Round } from "./input-rounds.js";
import type { HostRule } from "./methods.js";
import { refusalAnswer } from "./refusal.js";
import type { ServerLink } from "./server-link.js";

/** Judges a request for a tool, a resource, a prompt or a completion, and passes it on if it is allowed. */
export async function runCall(
  parts: GateParts,
  request: HostRequest,
  rule: Extract<HostRule, { by: "call" }>,
): Promise<void> {
  const { authority, rounds } = parts;
  const { presented } = request;
  const found = await callTarget(parts, request, rule);
  if (found.kind === "answer") return request.answer(found.text);
  if (found.kind === "refused") {
    const denials: AgentDenials = [found.denial];
    authority.refuse(presented, found.call, denials);
    return request.answer(refusalAnswer(request, denials));
  }
  const { link, call, edits } = found.target;
  const decision = await authority.decide(presented, call);
  if (!decision.allowed) {
    return request.answer(refusalAnswer(request, decision.denials, decision.remedies));
  }
  const retry = await rounds.judge(parts, request, link);
  if (!retry.allowed) {
    authority.refuse(presented, call, retry.denials);
    return request.answer(refusalAnswer(request, retry.denials));
  }
  if (request.method === "resources/subscribe") parts.watchers.add(link, presented);
  const called: Called = { link, operation: call.operation, round: retry.round };
  await forward(request, link, {
    edits: [...edits, ...retry.edits],
    mayAsk: true,
    finish: (opened, response, id) => finishCall(parts, opened, called, response, id),
  });
}

/** The data of a call that `finishCall` needs when the server has answered. */
export interface Called {
  readonly link: ServerLink;
  readonly operation: string;
  readonly round: Round;
}

/**
 * Turns a server's response to a call into the answer for the host. If the response contains requests to the host,
 * judges them first. If the response creates a task, binds the task to the party that made the call.
 */
export async function finishCall(
  parts: GateParts,
  request: OpenRequest,
  { link, operation, round }: Called,
  response: Message,
  id: number,
): Promise<string> {
  const { authority, tasks, rounds } = parts;
  const { presented } = request;
  const denied = await urlRefusal(parts, presented, link, response);
  if (denied !== undefined) return refusalAnswer(request, denied);
  const result = objectAt(response.value, ["result"]);
  if (result === undefined) return restored(request, response);
  if (asksHost(response)) {
    const denials = await rounds.admit(parts, request, link, round, result);
    return denials === undefined ? restored(request, response) : refusalAnswer(request, denials);
  }
  const taskId = stringAt(result, request.era === "new" ? ["taskId"] : ["task", "taskId"]);
  if (taskId !== undefined && request.method === "tools/call") {
    const isNew = tasks.add(taskId, { link, holder: authority.holder(presented), operation });
    if (!isNew) {
      const message = "the server has answered with the id of a task that there is already";
      return errorText(request.id, INTERNAL_ERROR, message);
    }
    keepProgress(parts, request, link, id);
  }
  const isCacheable = request.method === "resources/read";
  const edits: readonly Edit[] = isCacheable ? cacheEdits(parts, request, result) : [];
  return restored(request, response, edits);
}

/** Passes on progress notifications of a task. In the old era they continue after the call is answered. */
function keepProgress(
  { toHost }: GateParts,
  { progressToken: token }: OpenRequest,
  link: ServerLink,
  id: number,
): void {
  if (token === undefined) return;
  link.keepProgress(id, (notification) => toHost(withToken(notification, token)));
}
