import type { Json, JsonObject } from "../../bytes/json.js";

/** All capabilities of A2E 1.0, including `planning` and `test` from the code of its SDK. */
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
  "planning",
  "test",
] as const;

/** A name in the protocol's enum. */
export type CapabilityName = (typeof CAPABILITY_NAMES)[number];

export function isCapabilityName(name: unknown): name is CapabilityName {
  return CAPABILITY_NAMES.some((known) => known === name);
}

/** Capabilities that plugins may not serve, each with the reason. */
const RESERVED: ReadonlyMap<CapabilityName, string> = new Map([
  ["multi_agent", "multi_agent is reserved for agents that work together, and has no messages yet"],
  ["planning", "planning is reserved: its messages are in the SDK's code, and not yet here"],
  ["test", "test is reserved: it has no messages"],
]);

/** Returns the reason why plugins may not serve a capability; `undefined` if they may. */
export function reservedReason(name: CapabilityName): string | undefined {
  return RESERVED.get(name);
}

/** A plugin that serves messages of one capability in a session host. */
export interface SessionPlugin {
  /**
   * The name in the capability's metadata, which peers can read. Among plugins with equal priority, the first
   * by name serves.
   */
  readonly name: string;
  /** The served capability. */
  readonly type: CapabilityName;
  /** The plugin with the highest priority serves; 0 unless given. */
  readonly priority?: number;
  /** True if no other plugin may serve its operations, whatever the priorities. */
  readonly exclusive?: boolean;
  /** The operations, which a token must allow: message types without `/req`, such as `tool/call`. */
  readonly operations: { readonly [operation: string]: PluginOperation };
  /**
   * Answers messages of A2E's SDK that are not operations of this plugin, such as `memory/store`; by type
   * without `/req`.
   */
  readonly sdk?: { readonly [type: string]: SdkHandler };
  /** Cleans up for a session whose calls have been aborted, or whose capability has ended. */
  endSession?(session: SessionScope): Promise<void>;
  /** Cleans up when the host closes. */
  close?(): Promise<void>;
}

/** One operation of a plugin. */
export interface PluginOperation {
  /**
   * Returns whether the plugin handles a message; all messages unless given. @param name - As {@link
   * PluginCall.name}.
   */
  handles?(name: string | undefined): boolean;
  /** JSON Schema (2020-12) of `arguments`, an object; any arguments unless given. */
  readonly input?: JsonObject;
  /**
   * True for an operation that lists what {@link PluginCall.mayCall} allows. Constraints on arguments that the
   * call does not have then do not refuse it.
   */
  readonly listing?: boolean;
  /**
   * Runs the operation. The peer gets the result, or the code and message of a {@link PluginError}. Other
   * errors go to `onFailure`.
   */
  run(call: PluginCall): Promise<Json>;
}

/**
 * Answers a message of A2E's SDK by calling operations of the plugin, each judged as if the peer had called it.
 * Returns the properties of the answer.
 */
export type SdkHandler = (message: SdkMessage) => Promise<JsonObject>;

/** A message of A2E's SDK. It has not been judged; the calls that it makes will be. */
export interface SdkMessage {
  /**
   * The message's own properties. The SDK always writes all of them, so an empty string, array or object, or
   * null, counts as absent.
   */
  readonly members: JsonObject;
  readonly session: SessionScope;
  /**
   * Calls an operation of the same capability.
   *
   * @throws PluginError if the call is refused or fails; the code may be one of the protocol's own.
   */
  call(
    operation: string,
    parts?: {
      readonly name?: string | undefined;
      readonly server?: string | undefined;
      readonly arguments?: JsonObject;
    },
  ): Promise<Json>;
}

/** A call that has passed every check. */
export interface PluginCall {
  /** The message's `tool_name` for tools, toolkits and mcp; its `name` for all others. */
  readonly name?: string;
  /** The message's `server`; only messages of mcp have one. */
  readonly server?: string;
  readonly arguments: JsonObject;
  /**
   * The principal on whose behalf the call runs: the capability's; for ambient authority, the one configured in
   * the host.
   */
  readonly principal: string;
  /** The calling agent, if the transport authenticates it. */
  readonly invoker?: string;
  readonly session: SessionScope;
  /** Aborted when the call is cancelled or times out, or when its capability or session ends. */
  readonly signal: AbortSignal;
  /**
   * Returns whether the session's tokens allow any call of an operation. For lists only, since calls are judged
   * with their arguments.
   */
  mayCall(operation: string, named?: CallTarget): boolean;
  /**
   * Narrows the JSON Schema of a call's arguments to those that the session's token allows. If several tokens allow
   * calls, or none is needed, the schema stays as it is. Used for lists; a narrowed schema accepts every call that is
   * allowed, and a few others.
   */
  narrowed(operation: string, named: CallTarget, input: JsonObject): JsonObject;
  /**
   * Sends a part of the answer early, if the caller requested parts. Await it before sending the next one, so
   * that the peer can keep up.
   */
  send(chunk: Json): Promise<void>;
}

/** The calls that a list asks about: those with this name and this server, where given, as in {@link PluginCall}. */
export interface CallTarget {
  readonly name?: string;
  readonly server?: string;
}

/** The session of a call. */
export interface SessionScope {
  /** Unique to this session; never used again. */
  readonly id: string;
  /** The peer's name for itself. It is not authenticated, so base no decision on it. */
  readonly agentId: string;
}

/** Thrown by a plugin to fail a call. The caller gets code, message and detail. */
export class PluginError extends Error {
  override readonly name = "PluginError";
  /** A stable code in snake case, such as `tool_unknown`. */
  readonly code: string;
  /** True if the same message may succeed later. */
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

/** Tests the name rather than the class, since a plugin may load another copy of this package. */
export function isPluginError(error: unknown): error is PluginError {
  return error instanceof Error && error.name === "PluginError";
}

/** The properties of a capability's messages. */
interface Naming {
  /** The first segment of the message types. */
  readonly namespace: string;
  /** The property with the name of what is called. The other spelling is refused. */
  readonly called: "tool_name" | "name";
  /** True if messages may have a `server`. */
  readonly server: boolean;
}

const NAMING: { readonly [Name in CapabilityName]: Naming } = {
  skill: { namespace: "skill", called: "name", server: false },
  tools: { namespace: "tool", called: "tool_name", server: false },
  toolkits: { namespace: "toolkit", called: "tool_name", server: false },
  env: { namespace: "env", called: "name", server: false },
  proc: { namespace: "proc", called: "name", server: false },
  memory: { namespace: "memory", called: "name", server: false },
  learning: { namespace: "learn", called: "name", server: false },
  chains: { namespace: "chain", called: "name", server: false },
  mcp: { namespace: "mcp", called: "tool_name", server: true },
  multi_agent: { namespace: "multi_agent", called: "name", server: false },
  planning: { namespace: "planning", called: "name", server: false },
  test: { namespace: "test", called: "name", server: false },
};

const BY_NAMESPACE: ReadonlyMap<string, CapabilityName> = new Map(
  CAPABILITY_NAMES.map((name) => [NAMING[name].namespace, name]),
);

/** The form of an operation: its namespace and one to three more parts. */
const OPERATION = /^[a-z][a-z0-9_]{0,31}(?:\/[a-z][a-z0-9_]{0,31}){1,3}$/;

/** The form of an operation, for messages after "must be". */
export const OPERATION_FORM = 'two to four names in small letters with "/" between, as "tool/call"';

/** Returns the grant of tokens for a capability. */
export function grantOf(name: CapabilityName): string {
  return `a2e:${name}`;
}

/** Returns the form of a capability's messages. */
export function namingOf(name: CapabilityName): Naming {
  return NAMING[name];
}

/** Returns whether a string has the form of an operation. */
export function isOperation(text: string): boolean {
  return OPERATION.test(text);
}

/** Returns the capability of an operation, by its namespace; `undefined` if there is none. */
export function capabilityOf(operation: string): CapabilityName | undefined {
  return isOperation(operation) ? BY_NAMESPACE.get(operation.split("/", 1)[0] ?? "") : undefined;
}
