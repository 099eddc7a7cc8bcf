import type { JsonObject } from "../../bytes/json.js";

/** A session, or one call of it, that a host refuses or ends. */
export class SessionError extends Error {
  override readonly name = "SessionError";
  /** One of the protocol's own (docs/a2e.md), a plugin's, or the reason of a refused handshake. */
  readonly code: string;
  /** Whether the same may succeed later. */
  readonly retryable: boolean;
  /** What it is about; of a refusal by authority, `denials` has every reason. */
  readonly detail: JsonObject;
  /** The capability, or an empty text. */
  readonly capability: string;

  constructor(
    code: string,
    message: string,
    more: {
      readonly retryable?: boolean;
      readonly detail?: JsonObject;
      readonly capability?: string;
    } = {},
  ) {
    super(message);
    this.code = code;
    this.retryable = more.retryable ?? false;
    this.detail = more.detail ?? {};
    this.capability = more.capability ?? "";
  }
}
