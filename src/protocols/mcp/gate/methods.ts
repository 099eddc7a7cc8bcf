// The table of known methods. The gate does not pass on any other method.

import { METHOD_NOT_FOUND } from "../message/error-codes.js";
import { type Era, errorText } from "../message/message.js";

/**
 * The operations that are not tools. No tool can have one of these names, because a tool's name must not contain `:`.
 */
export const OPERATIONS = {
  read: "resources:read",
  subscribe: "resources:subscribe",
  prompt: "prompts:get",
  complete: "completion:complete",
  sample: "client:sampling",
  elicit: "client:elicitation",
  roots: "client:roots",
} as const;

/**
 * Returns whether a tool may have this name. A name with `:` could mean an operation that is not a tool; a name with
 * `/` could mean a tool of another server.
 */
export function isToolName(name: string): boolean {
  return name !== "" && !/[:/]/.test(name);
}

/** The way in which the gate handles a request of the host. */
export type HostRule =
  /** A request for the names, versions and capabilities of the servers. */
  | { readonly by: "opening" }
  /** A request that needs no authority. */
  | { readonly by: "free" }
  /**
   * A request that runs or reads something. It is judged with its arguments. The operation of a tool is the tool's
   * name.
   */
  | { readonly by: "call"; readonly what: "tool" }
  | {
      readonly by: "call";
      readonly what: "resource" | "prompt" | "completion";
      readonly operation: string;
    }
  /**
   * A request for a list. A tool is shown if its operation is allowed; other entries are all shown if `operation` is
   * allowed.
   */
  | { readonly by: "list"; readonly what: "tools" }
  | { readonly by: "list"; readonly what: ListedMember; readonly operation: string }
  /** A subscription to changes. Each resource and each task in it is judged. */
  | { readonly by: "listen" }
  /** A request about a task. Only the party that created the task may make it. */
  | { readonly by: "task" }
  | { readonly by: "task-list" };

/** The property that has the entries in the result of a list. */
export type ListedMember = "resources" | "resourceTemplates" | "prompts";

const { read, subscribe, prompt, complete } = OPERATIONS;

const BOTH_ERAS: Readonly<Record<string, HostRule>> = {
  "tools/list": { by: "list", what: "tools" },
  "tools/call": { by: "call", what: "tool" },
  "resources/list": { by: "list", what: "resources", operation: read },
  "resources/templates/list": { by: "list", what: "resourceTemplates", operation: read },
  "resources/read": { by: "call", what: "resource", operation: read },
  "prompts/list": { by: "list", what: "prompts", operation: prompt },
  "prompts/get": { by: "call", what: "prompt", operation: prompt },
  "completion/complete": { by: "call", what: "completion", operation: complete },
  "tasks/get": { by: "task" },
  "tasks/cancel": { by: "task" },
};

const HOST_REQUESTS: Readonly<Record<Era, ReadonlyMap<string, HostRule>>> = {
  old: table<HostRule>({
    ...BOTH_ERAS,
    initialize: { by: "opening" },
    ping: { by: "free" },
    "logging/setLevel": { by: "free" },
    "resources/subscribe": { by: "call", what: "resource", operation: subscribe },
    "resources/unsubscribe": { by: "call", what: "resource", operation: subscribe },
    "tasks/result": { by: "task" },
    "tasks/list": { by: "task-list" },
  }),
  new: table<HostRule>({
    ...BOTH_ERAS,
    "server/discover": { by: "opening" },
    "subscriptions/listen": { by: "listen" },
    "tasks/update": { by: "task" },
  }),
};

/**
 * The kind of a host's notification. It decides whether the server of a request or a task receives the notification, or
 * every server does.
 */
export type HostNotificationRule = "cancelled" | "progress" | "task" | "all";

const HOST_NOTIFICATIONS: ReadonlyMap<string, HostNotificationRule> = table<HostNotificationRule>({
  "notifications/cancelled": "cancelled",
  "notifications/progress": "progress",
  "notifications/initialized": "all",
  "notifications/roots/list_changed": "all",
  "notifications/tasks/status": "task",
});

/** The way in which the gate handles a server's request to the host. Only the old era has such requests. */
export type ServerRequestRule =
  | { readonly by: "free" }
  /**
   * A request for the host's model, user or roots. It is judged, because a malicious server could use it to leak data.
   */
  | { readonly by: "client"; readonly operation: string }
  /** A request about a task that the host runs for the server. */
  | { readonly by: "task" }
  | { readonly by: "task-list" };

const SERVER_REQUESTS: ReadonlyMap<string, ServerRequestRule> = table<ServerRequestRule>({
  ping: { by: "free" },
  "sampling/createMessage": { by: "client", operation: OPERATIONS.sample },
  "elicitation/create": { by: "client", operation: OPERATIONS.elicit },
  "roots/list": { by: "client", operation: OPERATIONS.roots },
  "tasks/get": { by: "task" },
  "tasks/result": { by: "task" },
  "tasks/cancel": { by: "task" },
  "tasks/list": { by: "task-list" },
});

/**
 * The kind of a server's notification. It decides whether the notification goes to a request, to a subscription or to
 * the host.
 */
export type ServerNotificationRule = "progress" | "cancelled" | "log" | "change" | "task" | "host";

const SERVER_NOTIFICATIONS: ReadonlyMap<string, ServerNotificationRule> =
  table<ServerNotificationRule>({
    "notifications/progress": "progress",
    "notifications/cancelled": "cancelled",
    "notifications/message": "log",
    "notifications/tools/list_changed": "change",
    "notifications/resources/list_changed": "change",
    "notifications/prompts/list_changed": "change",
    "notifications/resources/updated": "change",
    "notifications/subscriptions/acknowledged": "change",
    "notifications/tasks/status": "task",
    "notifications/tasks": "task",
    "notifications/elicitation/complete": "host",
  });

function table<Rule>(rules: Readonly<Record<string, Rule>>): ReadonlyMap<string, Rule> {
  return new Map(Object.entries(rules));
}

/** The property of `_meta` that names the subscription of a notification or of an answer. */
export const SUBSCRIPTION_ID = "io.modelcontextprotocol/subscriptionId";

/** Returns the rule for a host's request; `undefined` for a method that the era does not have. */
export function hostRequestRule(method: string, era: Era): HostRule | undefined {
  return HOST_REQUESTS[era].get(method);
}

export function hostNotificationRule(method: string): HostNotificationRule | undefined {
  return HOST_NOTIFICATIONS.get(method);
}

export function serverRequestRule(method: string): ServerRequestRule | undefined {
  return SERVER_REQUESTS.get(method);
}

export function serverNotificationRule(method: string): ServerNotificationRule | undefined {
  return SERVER_NOTIFICATIONS.get(method);
}

/** Returns the error for a method that is not in the table. */
export function unknownMethod(id: string | number | null, method: string): string {
  return errorText(id, METHOD_NOT_FOUND, `Method not found: ${method}`);
}
