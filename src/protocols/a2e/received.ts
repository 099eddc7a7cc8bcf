// Reads messages from a host. A client trusts them no more than a host trusts its peers.

import { isJsonObject, type Json, type JsonObject } from "../../bytes/json.js";
import { objectIn } from "../../client/received.js";

/** The outcome for one requested capability. */
export interface AcceptedEntry {
  readonly enabled: boolean;
  /** If enabled, the plugin's name, type, priority and exclusive; otherwise a code and the reason. */
  readonly metadata: JsonObject;
  /** The host's reason for not enabling it, if given. */
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
 * @param asked - The id of the request.
 * @param names - The requested capabilities.
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
    // Drop other names, since a host could invent any number of them.
    if (typeof capability !== "string" || !names.has(capability)) continue;
    const metadata = objectIn(given);
    const reason = textOf(metadata["reason"]);
    const why = reason === undefined ? {} : { reason };
    capabilities.set(capability, { enabled: enabled === true, metadata, ...why });
  }
  return capabilities;
}

/** Reads an `error`. */
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

/** Thrown for a session or a call that a host refuses or ends. */
export class SessionError extends Error {
  override readonly name = "SessionError";
  /** A code of the protocol (docs/a2e.md) or of a plugin, or the reason of a refused handshake. */
  readonly code: string;
  /** True if the same request may succeed later. */
  readonly retryable: boolean;
  /** Details. If authority refused the message, `denials` has every reason. */
  readonly detail: JsonObject;
  /** The capability concerned, or an empty string. */
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
