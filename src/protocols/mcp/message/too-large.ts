import { jsonRpcEnds } from "../../../bytes/json-rpc-ends.js";
import type { SplitLine } from "../../../bytes/line-splitter.js";

/** The code of the error that replaces a message over the limit, outside the range that JSON-RPC and MCP reserve. */
const TOO_LARGE = -31413;

/** The treatment of a line over the limit. */
export type TooLargeLine =
  /** Hands on an error in place of the line, which is an answer that somebody waits for. */
  | { readonly kind: "replace"; readonly text: string }
  /** Answers the sender of the line, which is a request, with an error. */
  | { readonly kind: "answer"; readonly text: string }
  /** Drops the line, which is a notification: nobody waits for an answer. */
  | { readonly kind: "drop" }
  /** The line is no message, or the request to which it belongs cannot be found. */
  | { readonly kind: "unreadable" };

/** Decides about a line over the limit by its two ends. */
export function aboutTooLarge(
  { head, tail }: Extract<SplitLine, { kind: "too_large" }>,
  limit: number,
): TooLargeLine {
  const ends = jsonRpcEnds(head, tail);
  if (ends === undefined) return { kind: "unreadable" };
  if (ends.kind === "notification") return { kind: "drop" };
  const error = { code: TOO_LARGE, message: `the message has more than ${limit} bytes` };
  const text = JSON.stringify({ jsonrpc: "2.0", id: ends.id, error });
  return { kind: ends.kind === "answer" ? "replace" : "answer", text };
}
