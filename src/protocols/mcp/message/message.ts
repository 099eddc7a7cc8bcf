// src/protocols/mcp/message: JSON-RPC messages as they are written. What is judged is the text, so it is checked once
// and, where something must change, changed in place.

import type { JsonObject } from "../../../bytes/json.js";

/** A JSON-RPC message whose text has been checked: its value says all that the text says. */
export interface Message {
  /** The text as it was received. */
  readonly text: string;
  readonly value: JsonObject;
  readonly kind: "request" | "notification" | "response";
  /** Of a request or a response: a string, or an integer that a double holds exactly. */
  readonly id?: string | number | undefined;
  /** Of a request or a notification. */
  readonly method?: string | undefined;
}
