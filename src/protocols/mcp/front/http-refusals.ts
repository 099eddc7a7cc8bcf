import type { Response } from "express";
import type { FaultWriter } from "../../../http/fault.js";
import { INVALID_REQUEST } from "../message/error-codes.js";
import { errorText, type Message } from "../message/message.js";
import { JSON_TYPE, type Route } from "./http-request.js";

/** Answers with a JSON-RPC error that has no id. */
export const answer: FaultWriter = (res, { status, message, retryAfter }) => {
  if (retryAfter !== undefined) res.setHeader("Retry-After", String(retryAfter));
  refuse(res, status, INVALID_REQUEST, message);
};

/** Answers that too many requests are open. */
export function busy(res: Response): void {
  const message = "too many requests are open, in total or by this caller; try again soon";
  answer(res, { status: 503, reason: "unavailable", message, retryAfter: 1 });
}

/** Answers with a JSON-RPC error. */
export function refuse(
  res: Response,
  status: number,
  code: number,
  reason: string,
  id: string | number | null = null,
): void {
  res
    .status(status)
    .type(JSON_TYPE)
    .send(errorText(id, code, reason));
}

/** Refuses a message that goes to no session. */
export function refuseRoute(
  res: Response,
  { code, reason }: Extract<Route, { kind: "refused" }>,
  { kind, id }: Message,
): void {
  refuse(res, 400, code, reason, kind === "request" ? id : null);
}
