// Reads messages from a host. The client does not trust the host: it checks the type of every value and limits the
// length of strings and lists.

import { isJsonObject, type Json, type JsonObject } from "../../bytes/json.js";
import { objectIn } from "../../client/received.js";

/** The outcome for one requested capability. */
export interface AcceptedEntry {
  readonly enabled: boolean;
  /**
   * The plugin's `name`, `type`, `priority` and `exclusive` if the capability is enabled; otherwise a code and the
   * reason.
   */
  readonly metadata: JsonObject;
  /** The reason why the capability is not enabled, if the host gave one. */
  readonly reason?: string;
}

/** The host's answer to a handshake. */
export type Greeting =
  | {
      readonly ok: true;
      readonly id: string;
      readonly maxParallel: number;
      readonly capabilities: ReadonlyMap<string, AcceptedEntry>;
    }
  | { readonly ok: false; readonly error: SessionError };

const MAX_CAPABILITIES = 64;
const MAX_TEXT = 4096;

/**
 * Reads a `handshake/resp`.
 *
 * @param asked - The id of the `handshake/req`.
 * @param names - The names of the requested capabilities.
 */
export function readGreeting(
  message: JsonObject,
  asked: string,
  names: ReadonlySet<string>,
): Greeting {
  const { req_id: answered, session_id: id, accepted_caps: entries, max_parallel: most } = message;
  const { ok, reason, message: text, detail } = message;
  if (answered !== asked || typeof ok !== "boolean") return malformed();
  const capabilities = readAccepted(entries, names);
  if (!ok) {
    const code = textOf(reason) ?? "server_error";
    const why = { ...objectIn(detail), accepted: reasonsOf(capabilities) };
    const retryable = code === "server_error";
    const words = textOf(text) ?? "the host refuses the handshake";
    return { ok: false, error: new SessionError(code, words, { detail: why, retryable }) };
  }
  if (typeof id !== "string" || id === "" || id.length > 256) return malformed();
  if (typeof most !== "number" || !Number.isSafeInteger(most) || most < 1) return malformed();
  return { ok: true, id, maxParallel: most, capabilities };
}

/**
 * Reads the entries of `accepted_caps` for the requested names. A capability whose entry cannot be read is not
 * enabled.
 */
export function readAccepted(
  entries: Json | undefined,
  names: ReadonlySet<string>,
): ReadonlyMap<string, AcceptedEntry> {
  const capabilities = new Map<string, AcceptedEntry>();
  if (!Array.isArray(entries)) return capabilities;
  for (const entry of entries.slice(0, MAX_CAPABILITIES)) {
    if (!isJsonObject(entry)) continue;
    const { capability, enabled, metadata: given } = entry;
    // Ignore names that were not requested, since a host could invent any number of names.
    if (typeof capability !== "string" || !names.has(capability)) continue;
    const metadata = objectIn(given);
    const reason = textOf(metadata["reason"]);
    const why = reason === undefined ? {} : { reason };
    capabilities.set(capability, { enabled: enabled === true, metadata, ...why });
  }
  return capabilities;
}

/** Reads an `error` message. */
export function readError(message: JsonObject): SessionError {
  const { code, message: text, detail, retryable, capability_name: capability } = message;
  return new SessionError(textOf(code) ?? "server_error", textOf(text) ?? "the host refuses", {
    retryable: retryable === true,
    detail: objectIn(detail),
    capability: textOf(capability) ?? "",
  });
}

function reasonsOf(capabilities: ReadonlyMap<string, AcceptedEntry>): Json {
  return [...capabilities].map(([capability, { enabled, metadata }]) => ({
    capability,
    enabled,
    metadata,
  }));
}

function textOf(value: Json | undefined): string | undefined {
  return typeof value === "string" ? value.slice(0, MAX_TEXT) : undefined;
}

function malformed(): Greeting {
  const text = "the host's answer to the handshake cannot be read";
  return { ok: false, error: new SessionError("message_invalid", text) };
}

/** Thrown if a session or a call is refused, fails, or is ended by the host. */
export class SessionError extends Error {
  override readonly name = "SessionError";
  /**
   * The code from the protocol (docs/a2e.md) or from a plugin; for a refused handshake, the reason, such as `no_caps`.
   */
  readonly code: string;
  /** True if the same request may succeed later. */
  readonly retryable: boolean;
  /** Details from the host. If the session's tokens do not allow the message, `denials` lists the reasons. */
  readonly detail: JsonObject;
  /** The capability concerned; an empty string if there is none. */
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
