import { TaskState } from "@a2a-js/sdk";
import type { Approval } from "../../agent/approvals/approval.js";
import { causeWords, resultOf } from "../../agent/approvals/approval-result.js";
import type { Json } from "../../bytes/json.js";
import { METHODS } from "./extension.js";
import type { Ending } from "./task-endings.js";

/**
 * What a task that waits for an approval comes to. Its result names what was granted and where to collect
 * it, and holds no token: tasks are stored, streamed and pushed.
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
          ...{ approvalId, collect: METHODS.collect, granted },
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
      if (text === undefined) return CANCELLED;
      return { state: TaskState.TASK_STATE_REJECTED, text, reason: "approval_denied" };
    }
    default: {
      const text = "too few have decided in time; ask again";
      return { state: TaskState.TASK_STATE_FAILED, text, reason: "approval_expired" };
    }
  }
}

/** What a task comes to whose caller cancels it. */
export const CANCELLED: Ending = {
  state: TaskState.TASK_STATE_CANCELED,
  text: "cancelled; the approval is taken back",
  reason: "approval_cancelled",
};

function reasonsOf(approval: Approval): readonly string[] {
  const reasons = resultOf(approval, approval.updated).flatMap(({ reason }) => reason ?? []);
  return reasons.length === 0 ? ["an approver denied it"] : [...new Set(reasons)];
}
