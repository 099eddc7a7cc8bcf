import type { Json, JsonObject } from "../../bytes/json.js";

/**
 * All capabilities of A2E 1.0. `planning` and `test` are in the code of A2E's SDK, but not in all of its documentation.
 */
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

/** The name of a capability, as in messages of A2E. */
export type CapabilityName = (typeof CAPABILITY_NAMES)[number];

export function isCapabilityName(name: unknown): name is CapabilityName {
  return CAPABILITY_NAMES.some((known) => known === name);
}

/** Capabilities that no plugin can serve, with the reasons. */
const RESERVED: ReadonlyMap<CapabilityName, string> = new Map([
  ["multi_agent", "multi_agent is reserved for agents that work together, and has no messages yet"],
  ["planning", "planning is reserved: its messages are in the SDK's code, and not yet here"],
  ["test", "test is reserved: it has no messages"],
]);

/** Returns the reason why no plugin can serve a capability; `undefined` if plugins can serve it. */
export function reservedReason(name: CapabilityName): string | undefined {
  return RESERVED.get(name);
}

/** A plugin that serves messages of one capability in a session host. */
export interface SessionPlugin {
  /**
   * The plugin's name, which peers can read in the capability's metadata. Among plugins with equal priority, the first
   * by name serves.
   */
  readonly name: string;
  /** The capability that the plugin serves. */
  readonly type: CapabilityName;
  /**
   * The rank among plugins that handle the same message: the plugin with the highest priority serves it. 0 unless
   * given.
   */
  readonly priority?: number;
  /** True to exclude all other plugins from this plugin's operations, whatever their priorities. */
  readonly exclusive?: boolean;
  /**
   * The operations by message type without `/req`, such as `tool/call`. A peer can call only operations that a token
   * allows.
   */
  readonly operations: { readonly [operation: string]: PluginOperation };
  /**
   * Handlers for messages of A2E's SDK that are not operations of this plugin; by message type without `/req`, such as
   * `memory/store`.
   */
  readonly sdk?: { readonly [type: string]: SdkHandler };
  /**
   * Releases the plugin's resources for a session. Called when the session or its capability has ended, after the calls
   * have been aborted.
   */
  endSession?(session: SessionScope): Promise<void>;
  /** Releases all resources of the plugin. Called when the host closes. */
  close?(): Promise<void>;
}

/** One operation of a plugin. */
export interface PluginOperation {
  /**
   * Returns whether the plugin handles calls with a name. Unless given, the plugin handles all calls.
   *
   * @param name - The same as {@link PluginCall.name}.
   */
  handles?(name: string | undefined): boolean;
  /** JSON Schema (2020-12) of `arguments`, with `"type": "object"`. Unless given, all arguments are valid. */
  readonly input?: JsonObject;
  /**
   * True for an operation whose answer lists only what {@link PluginCall.mayCall} allows. If a call of such an
   * operation lacks an argument, constraints on this argument do not refuse the call.
   */
  readonly listing?: boolean;
  /**
   * Runs the operation. The peer gets the result, or the code, message and detail of a {@link PluginError}. Other
   * errors are passed to `onFailure`; the peer learns only that the plugin failed.
   */
  run(call: PluginCall): Promise<Json>;
}

/**
 * Answers a message of A2E's SDK by calling operations of the plugin. Each call is judged as if the peer had made it.
 * Returns the properties of the answer.
 */
export type SdkHandler = (message: SdkMessage) => Promise<JsonObject>;

/** A message of A2E's SDK. The host does not judge the message itself, but each `call` that the handler makes. */
export interface SdkMessage {
  /**
   * The properties of the message, without those that every message has. Empty strings, arrays and objects and `null`
   * are left out, since the SDK writes every property.
   */
  readonly members: JsonObject;
  readonly session: SessionScope;
  /**
   * Calls an operation of the same capability.
   *
   * @throws PluginError if the call is refused or fails. The error's code is defined by the plugin or by the protocol.
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

/** A call that the host has judged and allowed. */
export interface PluginCall {
  /**
   * The message's `tool_name` if the capability is `tools`, `toolkits` or `mcp`; the message's `name` for all other
   * capabilities.
   */
  readonly name?: string;
  /** The message's `server`; only messages of `mcp` have this property. */
  readonly server?: string;
  readonly arguments: JsonObject;
  /**
   * The principal on whose behalf the call runs: the principal of the token; for ambient authority, the principal that
   * the host configures.
   */
  readonly principal: string;
  /** The calling agent, if the transport authenticates it. */
  readonly invoker?: string;
  readonly session: SessionScope;
  /** Aborted when the call is cancelled or times out, or when its capability or session ends. */
  readonly signal: AbortSignal;
  /**
   * Returns whether the session's tokens allow at least one call of an operation. Use it only to filter lists: the host
   * judges each call with its arguments.
   */
  mayCall(operation: string, named?: CallTarget): boolean;
  /**
   * Narrows the JSON Schema of a call's arguments to the arguments that the session's token allows. Returns the schema
   * unchanged if several tokens allow such calls, or if the session has ambient authority. Use it only for lists: a
   * narrowed schema can still accept arguments that the token does not allow.
   */
  narrowed(operation: string, named: CallTarget, input: JsonObject): JsonObject;
  /**
   * Sends a part of the answer early if the peer requested parts; otherwise does nothing. Await the promise before
   * sending the next part, so that the peer can keep up.
   */
  send(chunk: Json): Promise<void>;
}

/** Selects calls by their name and their server. An absent property selects calls with every value. */
export interface CallTarget {
  readonly name?: string;
  readonly server?: string;
}

/** The session of a call. */
export interface SessionScope {
  /** Unique to this session; never used again. */
  readonly id: string;
  /** The name that the peer gives itself. It is not authenticated: do not base decisions on it. */
  readonly agentId: string;
}

/** Thrown by a plugin to fail a call. The peer gets the code, the message and the detail. */
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

/**
 * Returns whether an error is a {@link PluginError}. Tests the name rather than the class, since a plugin may load
 * another copy of this package.
 */
export function isPluginError(error: unknown): error is PluginError {
  return error instanceof Error && error.name === "PluginError";
}

/** The form of a capability's messages. */
interface Naming {
  /** The first segment of the message types. */
  readonly namespace: string;
  /**
   * The property that names the called tool, program or other target. Messages with the other property name are
   * refused.
   */
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

/** Matches an operation: a namespace and one to three more names, separated by slashes. */
const OPERATION = /^[a-z][a-z0-9_]{0,31}(?:\/[a-z][a-z0-9_]{0,31}){1,3}$/;

/** Describes the form of an operation, for error messages that begin with "must be". */
export const OPERATION_FORM = 'two to four names in small letters with "/" between, as "tool/call"';

/** Returns the id of the grant for a capability. */
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

/** Returns the capability with the namespace of an operation; `undefined` if there is none. */
export function capabilityOf(operation: string): CapabilityName | undefined {
  return isOperation(operation) ? BY_NAMESPACE.get(operation.split("/", 1)[0] ?? "") : undefined;
}
