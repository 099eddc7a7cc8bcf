import type { JsonObject } from "../../../bytes/json.js";
import type { Presented } from "../authority/gate-authority.js";
import type { Exchange } from "../front/exchange.js";
import type { Message } from "../message/message.js";
import type { Era } from "./methods.js";

/** A request of the host that waits for its answer. */
export interface HostRequest {
  readonly message: Message;
  readonly id: string | number;
  readonly method: string;
  readonly params: JsonObject;
  readonly era: Era;
  readonly exchange: Exchange;
  /** Tokens that came with the request, by the transport and in its `_meta`. */
  readonly credentials: readonly string[];
  readonly presented: Presented;
  /** Aborted when no answer is wanted any more; the reason is the host's `notifications/cancelled`, if it sent one. */
  readonly over: AbortSignal;
  /** Answers the request, unless it has been answered or cancelled. */
  answer(text: string): Promise<void>;
  /** Answers that the gate itself has failed; the log says why. */
  fail(error: unknown): Promise<void>;
}
