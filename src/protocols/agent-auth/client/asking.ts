import type { JsonObject } from "../../../bytes/json.js";

/** A capability to ask for: its name, or also limits on its arguments that the agent sets itself. */
export type CapabilityAsked = string | { readonly name: string; readonly constraints: JsonObject };

/** How to ask for capabilities. */
export interface AskOptions {
  /** Why, in words for the user. */
  readonly reason?: string;
  /** A text that the agent shows too, by which the user knows the request. */
  readonly bindingMessage?: string;
  readonly loginHint?: string;
  readonly preferredMethod?: "device_authorization" | "ciba";
  /** The same key and the same request get the same answer again. */
  readonly idempotencyKey?: string;
}

/** The members of a request that say why, and how the user is asked. @internal */
export function askingBody(options: AskOptions): JsonObject {
  const { reason, bindingMessage, loginHint, preferredMethod } = options;
  return {
    ...(reason === undefined ? {} : { reason }),
    ...(bindingMessage === undefined ? {} : { binding_message: bindingMessage }),
    ...(loginHint === undefined ? {} : { login_hint: loginHint }),
    ...(preferredMethod === undefined ? {} : { preferred_method: preferredMethod }),
  };
}
