/** The capability extension of A2A (docs/a2a.md): its URI, and all names in requests and responses. */

/** The URI of the extension in the Agent Card and in `A2A-Extensions`. */
export const EXTENSION_URI: typeof CAPABILITIES_URI = CAPABILITIES_URI;

import { CAPABILITIES_URI } from "../../discovery/card.js";

export { CAPABILITY_HEADER, DENIAL_HEADER } from "../../http/headers.js";

/** The `domain` of every `google.rpc.ErrorInfo` that is about capabilities. */
export const ERROR_DOMAIN = "capabilities.proviso";

/** HTTP header in which a caller declares ambient authority; its only value is `ambient`. */
export const AUTHORITY_HEADER = "Proviso-Authority";

/** The declaration of ambient authority in metadata, under {@link EXTENSION_URI}, in place of capabilities. */
export const AMBIENT = { authority: "ambient" } as const;

/** The JSON-RPC methods of the extension (docs/a2a.md, section 6). */
export const METHODS = {
  request: "a2a/capabilities/request",
  collect: "a2a/capabilities/collect",
  attenuate: "a2a/capabilities/attenuate",
  revoke: "a2a/capabilities/revoke",
  introspect: "a2a/capabilities/introspect",
  invoke: "a2a/skill/invoke",
  send: "a2a/task/send",
} as const;

/**
 * JSON-RPC error codes. They are outside the range that JSON-RPC reserves (-32768 to -32000), and thus outside
 * A2A's (-32001 to -32099). The last three digits are the HTTP status of the error.
 */
export const ERROR_CODES = {
  /** The caller is not authenticated. */
  unauthenticated: -31401,
  /** A call was refused; `reason` is the first denial's code. */
  denied: -31403,
  /** The message id was used before: by a different message, or for a task that the request may not see. */
  repeated: -31409,
  /** The body is larger than the agent accepts. */
  tooLarge: -31413,
  /** A request for capabilities cannot be granted; `reason` is the denial's code. */
  requestRefused: -31422,
  /** This caller calls too often, or has too many tasks. */
  rateLimited: -31429,
  /** The agent cannot answer at present. */
  unavailable: -31503,
  /** The skill took too long. */
  timedOut: -31504,
} as const;
