import { jsonRpcEnds } from "../../../bytes/json-rpc-ends.js";
import type { OversizedLine } from "../../../bytes/line-splitter.js";
import { TOO_LARGE } from "./error-codes.js";
import { errorText } from "./message.js";

/** The way to handle a line over the limit. */
export type TooLargeLine =
  /** The line is an answer. The receiver gets this error in its place. */
  | { readonly kind: "replace"; readonly text: string }
  /** The line is a request. Its sender gets this error as the answer. */
  | { readonly kind: "answer"; readonly text: string }
  /** The line is a notification, which is dropped without an answer. */
  | { readonly kind: "drop" }
  /** The line is no message, or its id cannot be read. */
  | { readonly kind: "unreadable" };

/** Decides how to handle a line over the limit, from the beginning and the end of the line. */
export function aboutTooLarge({ head, tail }: OversizedLine, limit: number): TooLargeLine {
  const ends = jsonRpcEnds(head, tail);
  if (ends === undefined) return { kind: "unreadable" };
  if (ends.kind === "notification") return { kind: "drop" };
  const text = errorText(ends.id, TOO_LARGE, `the message has more than ${limit} bytes`);
  return { kind: ends.kind === "answer" ? "replace" : "answer", text };
}
