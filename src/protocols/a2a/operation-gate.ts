import type { Message } from "@a2a-js/sdk";
import { RequestMalformedError, TaskNotFoundError } from "@a2a-js/sdk/errors";
import type { ServerCallContext } from "@a2a-js/sdk/server";
import type { Caller } from "../../agent/caller.js";
import type { Clearance, OperationInvocation } from "../../agent/clearance.js";
import type { IssuingAgent } from "../../agent/issuing-agent.js";
import type { Operation } from "../../agent/skill.js";
import { isObject } from "../../bytes/json.js";
import type { HopInit } from "../../caveats/hop.js";
import { admittedOf, type Held } from "./call.js";
import { malformed, throwRefused } from "./errors.js";
import { admit, cleared, type MessageGate } from "./gate.js";
import { assertReferences, seenOf } from "./task-request.js";
import { narrowed } from "./task-runner.js";
import type { Visibility } from "./visibility.js";

/** The operation that a message needs. */
export interface NeededOperation extends Pick<OperationInvocation, "operation"> {
  /**
   * Arguments to check against the capability's limits; none unless given. Every string in the form of a
   * resource handle, at any depth, is checked as a handle.
   */
  readonly arguments?: OperationInvocation["arguments"];
}

/**
 * Returns the operation that a message needs. If the function returns `undefined`, the guard refuses the
 * message. If the function throws an SDK error, such as `ContentTypeNotSupportedError`, the guard answers with
 * that error.
 */
export type NeedsOf = (
  message: Message,
) => NeededOperation | undefined | Promise<NeededOperation | undefined>;

/**
 * Returns the gate that clears each message for the operation that it needs. The messages of one task are
 * cleared separately.
 */
export function operationGate(
  agent: IssuingAgent,
  needs: NeedsOf,
  visibility: Visibility,
): MessageGate {
  return {
    async message(request, message, call) {
      if (message === undefined || message.messageId === "") {
        throw new RequestMalformedError("message.messageId is required.");
      }
      assertReferences(message);
      const { referenceTaskIds, taskId } = message;
      const needed = await needs(message);
      if (needed === undefined) return throwRefused(malformed("the message is not understood"));
      const entry = taskId === "" ? undefined : await admit(call, agent);
      if (entry !== undefined && !(await visibility.sees(taskId, entry.sight))) {
        throw new TaskNotFoundError(`Task not found: ${taskId}`);
      }
      const { operation, arguments: given = {} } = needed;
      const { caller, capabilities, declared } = call;
      const invocation = { operation, arguments: given, capabilities, declared };
      const clearing = agent.clearOperation(caller, invocation);
      const { clearance, sight: own } = await cleared(clearing, call, agent);
      const sight = entry?.sight ?? own;
      const permit = { kind: "operation", clearance, agent } as const;
      try {
        const references = await seenOf(referenceTaskIds, (id) => visibility.sees(id, sight));
        return {
          need: "message",
          call,
          sight,
          permit,
          held: NOTHING,
          request,
          message,
          references,
        };
      } catch (error) {
        agent.forgo(clearance, caller, "refused");
        throw error;
      }
    },
  };
}

/** A guard limits no running work: the app itself decides how much of a caller's work runs at once. */
const NOTHING: Held = { release: () => {}, freeTask: () => {} };

/** The clearance of a message. */
export interface MessageClearance
  extends Pick<
    Clearance<Operation>,
    "arguments" | "authority" | "handles" | "principal" | "resources"
  > {
  readonly operation: string;
  readonly caller: Caller;
  /** Absent for ambient authority. */
  readonly capability?: { readonly id: string; readonly grant: string };
  /**
   * Returns the capability's token, narrowed by a hop, for another agent that works on this message. Returns
   * `undefined` if there is no capability, or the capability does not allow what the hop names.
   *
   * @throws TypeError if the hop is invalid.
   */
  delegate(hop: HopInit): string | undefined;
}

/**
 * Returns the clearance of the message that an executor runs.
 *
 * @param context - The property `context` of the SDK's RequestContext.
 * @throws TypeError if the message has not passed a guard.
 */
export function clearanceOf(context: ServerCallContext): MessageClearance {
  const admitted = isObject(context) ? admittedOf(context) : undefined;
  if (admitted?.need !== "message" || admitted.permit.kind !== "operation") {
    throw new TypeError("context: must be that of a message which a guard has cleared");
  }
  const { caller } = admitted.call;
  const { clearance, agent } = admitted.permit;
  const { asked, capability, presented, principal, resources, handles, authority } = clearance;
  const held = capability && presented ? [{ capability, presented }] : [];
  return {
    operation: asked.operation,
    arguments: clearance.arguments,
    caller,
    principal,
    resources,
    handles,
    authority,
    ...(capability && { capability: { id: capability.id, grant: capability.grant } }),
    delegate: (hop) => narrowed(held, hop, agent)[0]?.token,
  };
}
