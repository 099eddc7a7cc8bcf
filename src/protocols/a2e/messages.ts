import { type Json, type JsonObject, quotedName } from "../../bytes/json.js";
import { meant } from "../../checks/members.js";
import { type Dialect, versionMembers } from "./dialect.js";
import { fault, isRetryable, type SessionFault } from "./errors.js";

/** A parsed `handshake/req`. */
export interface Handshake {
  readonly id: string;
  /** The name that the peer gives itself; not authenticated. */
  readonly agentId: string;
  /** The names of the requested capabilities, without duplicates. */
  readonly capabilities: readonly string[];
  readonly tokens: readonly string[];
  /** True if the peer declares ambient authority. */
  readonly declared: boolean;
}

export type Read<Of> = { readonly ok: true; readonly value: Of } | Wrong;

export interface Wrong {
  readonly ok: false;
  readonly fault: SessionFault;
}

/** Maximum number of tokens in one handshake. For the same grant, at most `MAX_PRESENTED` of them are accepted. */
export const MAX_SESSION_TOKENS = 16;
/** Longest id or name, in characters. */
export const MAX_ID = 128;
const MAX_CAPABILITIES = 32;
/** Properties that a message of any type may have. */
export const ENVELOPE: readonly string[] = ["a2e", "type", "id", "ts"];
const HANDSHAKE = [...ENVELOPE, "agent_id", "agent_caps", "auth_token", "authority"];
export type ControlType = "ping" | "cancel" | "shutdown";

/** The allowed properties of each control message. */
const CONTROL: { readonly [Type in ControlType]: readonly string[] } = {
  ping: [...ENVELOPE, "session_id"],
  cancel: [...ENVELOPE, "session_id", "req_id"],
  shutdown: [...ENVELOPE, "session_id"],
};

/** Returns the id of a message, which the answer repeats; an empty string if the message has no valid id. */
export function idOf({ id }: JsonObject): string {
  return isText(id) ? id : "";
}

/** Returns the fault of a message without a valid id. */
export function idWrong(): Wrong {
  return wrong(`"id" must be a string of 1 to ${MAX_ID} characters`);
}

/** Reads a `handshake/req` whose version has already been checked. */
export function readHandshake(message: JsonObject, dialect: Dialect): Read<Handshake> {
  const misspelt = unknownMember(message, [...HANDSHAKE, ...versionMembers(dialect)]);
  if (misspelt !== undefined) return misspelt;
  const { agent_id: agentId = "", agent_caps: caps, auth_token: token = "" } = message;
  const { authority } = message;
  const id = idOf(message);
  if (id === "") return idWrong();
  if (typeof agentId !== "string" || agentId.length > MAX_ID) {
    return wrong(`"agent_id" must be a string of at most ${MAX_ID} characters`);
  }
  if (!Array.isArray(caps) || caps.length > MAX_CAPABILITIES || !caps.every(isText)) {
    return wrong(`"agent_caps" must be an array of at most ${MAX_CAPABILITIES} names`);
  }
  if (typeof token !== "string") return wrong('"auth_token" must be a string');
  const tokens = token === "" ? [] : token.split(",").map((one) => one.trim());
  if (tokens.includes("")) return wrong('"auth_token" must hold tokens with "," between, no gaps');
  if (tokens.length > MAX_SESSION_TOKENS) {
    return wrong(`"auth_token" may hold at most ${MAX_SESSION_TOKENS} tokens`);
  }
  if (authority !== undefined && authority !== "ambient") {
    return wrong('"authority" has one value, "ambient"');
  }
  const declared = authority !== undefined;
  if (declared && tokens.length > 0) {
    return wrong('"authority" declares ambient authority, and "auth_token" has tokens; drop one');
  }
  const capabilities = [...new Set(caps)];
  return { ok: true, value: { id, agentId, capabilities, tokens, declared } };
}

export function isControl(type: string): type is ControlType {
  return Object.hasOwn(CONTROL, type);
}

/** Returns the fault of a malformed control message; `undefined` if the message is valid. */
export function controlFault(
  message: JsonObject,
  type: ControlType,
  dialect: Dialect,
): SessionFault | undefined {
  const more = dialect === "sdk" && type === "shutdown" ? ["timeout"] : [];
  const known = [...CONTROL[type], ...versionMembers(dialect), ...more];
  const misspelt = unknownMember(message, known);
  if (misspelt !== undefined) return misspelt.fault;
  // Only a ping is answered, so only a ping needs an id.
  return type === "ping" && idOf(message) === "" ? idWrong().fault : undefined;
}

/**
 * Builds the `error` message for a fault.
 *
 * @param reqId - The id of the faulty message; empty if there is none.
 */
export function errorMessage(reqId: string, of: SessionFault): JsonObject {
  const { code, message, detail = {}, capability = "" } = of;
  const about = { detail, retryable: isRetryable(of), capability_name: capability };
  return { type: "error", req_id: reqId, code, message, ...about };
}

/** Returns whether a value is valid as an id or a name. */
export function isText(value: Json | undefined): value is string {
  return typeof value === "string" && value !== "" && value.length <= MAX_ID;
}

/** Refuses a message with an unknown property, because the sender would expect the property to have an effect. */
export function unknownMember(message: JsonObject, known: readonly string[]): Wrong | undefined {
  const unknown = Object.keys(message).find((name) => !known.includes(name));
  if (unknown === undefined) return undefined;
  return wrong(`there is no property ${quotedName(unknown)} here${meant(unknown, known)}`);
}

/** Refuses a malformed message. The fault counts towards the session's limit of faults. */
export function wrong(message: string): Wrong {
  return { ok: false, fault: fault("message_invalid", message) };
}
