import type { Json, JsonObject } from "../../bytes/json.js";

/** Every capability that A2E 1.0 names, `planning` and `test` of its SDK's code included. */
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

/** A name of the protocol's enum. */
export type CapabilityName = (typeof CAPABILITY_NAMES)[number];

export function isCapabilityName(name: unknown): name is CapabilityName {
  return CAPABILITY_NAMES.some((known) => known === name);
}

/** Capabilities that no plugin may serve, with the reason. */
const RESERVED: ReadonlyMap<CapabilityName, string> = new Map([
  ["multi_agent", "multi_agent is reserved for agents that work together, and has no messages yet"],
  ["planning", "planning is reserved: its messages are in the SDK's code, and not yet here"],
  ["test", "test is reserved: it has no messages"],
]);

/** The reason why no plugin may serve a capability; `undefined` if one may. */
export function reservedReason(name: CapabilityName): string | undefined {
  return RESERVED.get(name);
}

/** Serves messages of one capability in a session host. */
export interface SessionPlugin {
  /** Peers read it in the capability's metadata. Of plugins with one priority, the first by name serves. */
  readonly name: string;
  /** The capability that it serves. */
  readonly type: CapabilityName;
  /** The higher comes first; 0 unless given. */
  readonly priority?: number;
  /** True if it alone handles its operations, whatever the priority of others. */
  readonly exclusive?: boolean;
  /** The operations, which a token must allow: message types without their `/req`, such as `tool/call`. */
  readonly operations: { readonly [operation: string]: PluginOperation };
  /**
   * Answers messages of A2E's SDK that are no operations of this plugin, such as `memory/store`, by their type
   * without its `/req`.
   */
  readonly sdk?: { readonly [type: string]: SdkHandler };
  /** Ends what it holds for a session whose calls have been aborted, or whose capability ends. */
  endSession?(session: SessionScope): Promise<void>;
  /** Ends all that it holds. */
  close?(): Promise<void>;
}

/** One operation of a plugin. */
export interface PluginOperation {
  /** Returns whether it serves a message; it serves all unless given. @param name - As in {@link PluginCall.name}. */
  handles?(name: string | undefined): boolean;
  /** JSON Schema (2020-12) of `arguments`, an object; any unless given. */
  readonly input?: JsonObject;
  /**
   * True for a list of what can be called that shows only what {@link PluginCall.mayCall} lets through. Constraints
   * on arguments that the list does not give are then no reason to refuse it.
   */
  readonly listing?: boolean;
  /** The peer gets the result, or a {@link PluginError}'s code and message; `onFailure` gets other errors. */
  run(call: PluginCall): Promise<Json>;
}

/**
 * Answers a message of A2E's SDK by calls of the plugin's operations, each of which is judged as if the peer had
 * made it. Gives the members of the answer.
 */
export type SdkHandler = (message: SdkMessage) => Promise<JsonObject>;

/** A message of A2E's SDK. Nothing of it has been judged. */
export interface SdkMessage {
  /** Its own members. The SDK writes all of them: an empty text, array or object, or null, counts as left out. */
  readonly members: JsonObject;
  readonly session: SessionScope;
  /**
   * Calls an operation of the same capability.
   *
   * @throws PluginError if it is refused or fails; its code may be one of the protocol's own.
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

/** A message that has passed every check. */
export interface PluginCall {
  /** The message's own `tool_name` for tools, toolkits and mcp; its `name` for all others. */
  readonly name?: string;
  /** The message's own `server`, which only messages of mcp have. */
  readonly server?: string;
  readonly arguments: JsonObject;
  /** The principal on whose authority it runs: the capability's, or the host's where authority is ambient. */
  readonly principal: string;
  /** The agent that calls, where the transport authenticates it. */
  readonly invoker?: string;
  readonly session: SessionScope;
  /** Aborted when the call is cancelled or times out, and when its capability or its session ends. */
  readonly signal: AbortSignal;
  /**
   * Returns whether the session's tokens allow any call of an operation. For lists: a call itself is judged with its
   * arguments.
   *
   * @param named - What it calls, as {@link PluginCall.name} and {@link PluginCall.server} have it; any unless given.
   */
  mayCall(operation: string, named?: { readonly name?: string; readonly server?: string }): boolean;
  /** Sends a part ahead, if the caller asked for parts. Await it before the next: the peer keeps up then. */
  send(chunk: Json): Promise<void>;
}

/** The session that a message came in. */
export interface SessionScope {
  /** Unique to this session; never used again. */
  readonly id: string;
  /** The peer's name for itself: a claim, which nothing may be decided by. */
  readonly agentId: string;
}

/** Thrown by a plugin for a call that it cannot do: the caller gets code, message and detail. */
export class PluginError extends Error {
  override readonly name = "PluginError";
  /** Stable, in snake_case, such as `tool_unknown`. */
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

/** Compares names, since a plugin may have another copy of this package. */
export function isPluginError(error: unknown): error is PluginError {
  return error instanceof Error && error.name === "PluginError";
}

/** The form of one capability's messages. */
interface Naming {
  /** The first part of their types. */
  readonly namespace: string;
  /** The member that names what they call; its other spelling is refused. */
  readonly called: "tool_name" | "name";
  /** True if they may have a `server`. */
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

/** An operation: its namespace, then one or more parts. */
const OPERATION = /^[a-z][a-z0-9_]{0,31}(?:\/[a-z][a-z0-9_]{0,31}){1,3}$/;

/** The form of an operation, to be put after "must be". */
export const OPERATION_FORM = 'two to four names in small letters with "/" between, as "tool/call"';

/** The grant that tokens for a capability have. */
export function grantOf(name: CapabilityName): string {
  return `a2e:${name}`;
}

/** The form of a capability's messages. */
export function namingOf(name: CapabilityName): Naming {
  return NAMING[name];
}

/** Returns whether a text has the form of an operation. */
export function isOperation(text: string): boolean {
  return OPERATION.test(text);
}

/** The capability that an operation belongs to, by its namespace; `undefined` for one of none. */
export function capabilityOf(operation: string): CapabilityName | undefined {
  return isOperation(operation) ? BY_NAMESPACE.get(operation.split("/", 1)[0] ?? "") : undefined;
}
