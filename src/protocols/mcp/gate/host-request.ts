import type { JsonObject } from "../../../bytes/json.js";
import type { Presented } from "../authority/gate-authority.js";
import type { Exchange } from "../front/exchange.js";
import type { Message } from "../message/message.js";
import type { Era } from "./methods.js";

/** A request of the host that waits for its answer, without its body. */
export interface OpenRequest {
  readonly id: string | number;
  readonly method: string;
  readonly era: Era;
  readonly exchange: Exchange;
  /** Tokens that came with the request, by the transport and in its `_meta`. */
  readonly credentials: readonly string[];
  readonly presented: Presented;
  readonly progressToken: string | number | undefined;
  /** Aborted when no answer is wanted any more; the reason is the host's `notifications/cancelled`, if it sent one. */
  readonly over: AbortSignal;
  /** Answers the request, unless it has been answered or cancelled. */
  answer(text: string): Promise<void>;
  /** Answers that the gate itself has failed; the log says why. */
  fail(error: unknown): Promise<void>;
}

/** A request of the host that has not been passed on yet. */
export interface HostRequest extends OpenRequest {
  readonly message: Message;
  readonly params: JsonObject;
}

/**
 * Copies what the answer to a request needs. What waits for the answer must not hold the request itself: its body may be
 * large, and a server may take long.
 */
export function withoutBody({
  id,
  method,
  era,
  exchange,
  credentials,
  presented,
  progressToken,
  over,
  answer,
  fail,
}: HostRequest): OpenRequest {
  return {
    id,
    method,
    era,
    exchange,
    credentials,
    presented,
    progressToken,
    over,
    answer,
    fail,
  };
}
