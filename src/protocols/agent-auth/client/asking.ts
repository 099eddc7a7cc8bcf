import type { Json, JsonObject } from "../../../bytes/json.js";
import { assertArray, assertOptionalString } from "../../../checks/kinds.js";
import { plainCopy } from "../../../checks/plain.js";

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

/** The properties of {@link AskOptions}. @internal */
export const ASK_OPTIONS: readonly string[] = [
  "reason",
  "bindingMessage",
  "loginHint",
  "preferredMethod",
  "idempotencyKey",
];

/**
 * Capabilities to ask for, as the body of a request has them.
 *
 * @throws TypeError naming what is not plain JSON, such as `capabilities[0].constraints.amount`.
 * @internal
 */
export function askedBody(capabilities: readonly CapabilityAsked[]): readonly Json[] {
  assertArray(capabilities, "capabilities", "names of capabilities");
  return plainCopy(capabilities, "capabilities", "arguments");
}

/**
 * The members of a request that say why, and how the user is asked.
 *
 * @throws TypeError naming the option that is not a string.
 * @internal
 */
export function askingBody(options: AskOptions): JsonObject {
  const { reason, bindingMessage, loginHint, preferredMethod, idempotencyKey } = options;
  const texts = { reason, bindingMessage, loginHint, preferredMethod, idempotencyKey };
  for (const [name, value] of Object.entries(texts)) {
    assertOptionalString(value, `options.${name}`);
  }
  return {
    ...(reason === undefined ? {} : { reason }),
    ...(bindingMessage === undefined ? {} : { binding_message: bindingMessage }),
    ...(loginHint === undefined ? {} : { login_hint: loginHint }),
    ...(preferredMethod === undefined ? {} : { preferred_method: preferredMethod }),
  };
}
