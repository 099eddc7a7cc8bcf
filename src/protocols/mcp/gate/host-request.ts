import type { JsonObject } from "../../../bytes/json.js";
import type { Presented } from "../authority/gate-authority.js";
import type { Exchange } from "../front/exchange.js";
import type { Era, Message } from "../message/message.js";
import { without } from "../message/values.js";

/** A request of the host that waits for its answer, without its body. */
export interface OpenRequest {
  readonly id: string | number;
  readonly method: string;
  readonly era: Era;
  readonly exchange: Exchange;
  /** Tokens that came with the request, through the transport or in its `_meta`. */
  readonly credentials: readonly string[];
  readonly presented: Presented;
  readonly progressToken: string | number | undefined;
  /**
   * Aborted when the request has been answered or cancelled. If the host has cancelled it, the reason is the message
   * `notifications/cancelled`.
   */
  readonly over: AbortSignal;
  /** Answers the request, unless it has been answered or cancelled. */
  answer(text: string): Promise<void>;
  /** Answers with an internal error, and logs the cause. */
  fail(error: unknown): Promise<void>;
}

/** A request of the host that has not been passed on yet. */
export interface HostRequest extends OpenRequest {
  readonly message: Message;
  readonly params: JsonObject;
}

/**
 * Copies a request without its body. Code that waits for the answer uses this copy, because a body may be large and a
 * server may take long.
 */
export function withoutBody({ message: _, params: __, ...open }: HostRequest): OpenRequest {
  return open;
}

/** Returns the parameters by which a call is judged, without the parameters of the protocol itself. */
export function judgedParameters(params: JsonObject): JsonObject {
  return without(params, ["_meta", "inputResponses", "requestState"]);
}
