import type { DecisionCode } from "../agent/parties/approval-decisions.js";
import type { Refusal } from "./desk.js";

/** The message for a request that has changed since the page was shown. */
export const STALE =
  "What you were shown has changed, so nothing was decided. This is the request as it is now: look at it again.";

/** The message for a form that was too long for the browser to keep. */
export const TOO_LONG =
  "What you entered was too long to be kept while you signed in. Enter it again, and approve then.";

/** The pages for decisions that were refused. */
export const REFUSALS: { readonly [Code in DecisionCode]: Refusal } = {
  approval_unknown: {
    status: 404,
    code: "approval_unknown",
    title: "No such request",
    message: "There is no such request, or it is long over.",
  },
  approval_settled: {
    status: 409,
    code: "approval_settled",
    title: "Decided already",
    message: "This request has been decided already, so your answer changes nothing.",
  },
  approval_expired: {
    status: 410,
    code: "approval_expired",
    title: "Too late",
    message: "The time to answer is over, so nothing was granted. The agent can ask again.",
  },
  approver_denied: {
    status: 403,
    code: "approver_denied",
    title: "For another user",
    message: "This request is for another user to decide. You are not shown what it asks for.",
    otherUser: true,
  },
  user_code_invalid: {
    status: 403,
    code: "user_code_invalid",
    title: "Enter the code first",
    message: "To decide about this request, enter the code that the agent shows.",
  },
  digest_mismatch: {
    status: 409,
    code: "digest_mismatch",
    title: "The request has changed",
    message: STALE,
  },
  hop_invalid: {
    status: 400,
    code: "hop_invalid",
    title: "Not understood",
    message: "These limits cannot be kept.",
  },
  host_taken: {
    status: 409,
    code: "host_taken",
    title: "Another user's host",
    message:
      "This host has since been linked to another user, for whom its agents act. Nothing was granted in your name.",
  },
  agent_ended: {
    status: 409,
    code: "agent_ended",
    title: "The agent has ended",
    message:
      "The agent or its host has ended since, so there is nothing left to approve. Nothing was granted.",
  },
};
