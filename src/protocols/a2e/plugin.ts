import type { Json, JsonObject } from "../../bytes/json.js";

/** Every capability that A2E 1.0 names. */
export const CAPABILITY_NAMES = [
  "skill",
  "tools",
  "toolkits",
  "env",
  "proc",
  "memory",
  "learning",
  "chains",
  "mcp",
  "multi_agent",
] as const;

/** A name of the protocol's enum. */
export type CapabilityName = (typeof CAPABILITY_NAMES)[number];

export function isCapabilityName(name: unknown): name is CapabilityName {
  return CAPABILITY_NAMES.some((known) => known === name);
}

/** What serves messages of one capability in a session host. */
export interface SessionPlugin {
  /** As the peer reads it in the capability's metadata; of plugins alike, the first by name serves. */
  readonly name: string;
  /** The capability that it serves. */
  readonly type: CapabilityName;
  /** The higher comes first; 0 unless given. */
  readonly priority?: number;
  /** Whether it alone handles its operations, whatever the priority of others. */
  readonly exclusive?: boolean;
  /** By message type without its `/req`, such as `tool/call`: the operation that a token must allow. */
  readonly operations: { readonly [operation: string]: PluginOperation };
  /** Ends what it holds for a session whose calls have been aborted, or whose capability ends. */
  endSession?(session: SessionScope): Promise<void>;
  /** Ends all that it holds. */
  close?(): Promise<void>;
}

/** One operation of a plugin. */
export interface PluginOperation {
  /** Whether it serves a message; all unless given. @param name - As in {@link PluginCall.name}. */
  handles?(name: string | undefined): boolean;
  /** JSON Schema (2020-12) of `arguments`, an object; any unless given. */
  readonly input?: JsonObject;
  /** The peer gets the result, or a {@link PluginError}'s code and message; `onFailure` gets other errors. */
  run(call: PluginCall): Promise<Json>;
}

/** A message that has passed every check. */
export interface PluginCall {
  /** The message's own `tool_name` for tools, toolkits and mcp; its `name` for all others. */
  readonly name?: string;
  /** The message's own `server`, which only messages of mcp have. */
  readonly server?: string;
  readonly arguments: JsonObject;
  /** On whose authority: the capability's principal, or the host's where authority is ambient. */
  readonly principal: string;
  /** The agent that calls, where the transport authenticates it. */
  readonly invoker?: string;
  readonly session: SessionScope;
  /** Aborted when the call is cancelled or times out, and when its capability or its session ends. */
  readonly signal: AbortSignal;
  /** Sends a part ahead, if the caller asked for parts. Await it before the next: the peer keeps up then. */
  send(chunk: Json): Promise<void>;
}

/** The session that a message came in. */
export interface SessionScope {
  /** Of this session alone; never used again. */
  readonly id: string;
  /** What the peer calls itself: a claim, which nothing may be decided by. */
  readonly agentId: string;
}

/** A plugin throws it for what it cannot do: the caller gets code, message and detail. */
export class PluginError extends Error {
  override readonly name = "PluginError";
  /** Stable, in snake_case, such as `tool_unknown`. */
  readonly code: string;
  /** Whether the same message may succeed later. */
  readonly retryable: boolean;
  readonly detail: JsonObject;

  constructor(
    code: string,
    message: string,
    options: { readonly retryable?: boolean; readonly detail?: JsonObject } = {},
  ) {
    super(message);
    this.code = code;
    this.retryable = options.retryable ?? false;
    this.detail = options.detail ?? {};
  }
}

/** Compares names, since a plugin may have another copy of this package. */
export function isPluginError(error: unknown): error is PluginError {
  return error instanceof Error && error.name === "PluginError";
}
