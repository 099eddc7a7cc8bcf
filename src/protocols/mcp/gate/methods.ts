// src/protocols/mcp/gate: passes messages between a host and the servers behind the gate. Start with gate-session.ts. A
// tools/call goes from there through host-requests.ts, call.ts, call-target.ts, forward.ts and server-link.ts. Its
// answer comes back through server-link.ts, forward.ts and finishCall in call.ts. This file is the table of known
// methods; the gate does not pass on any other method.

/**
 * `old`: revisions up to 2025-11-25, with `initialize` and sessions. `new`: revisions from 2026-07-28 on, without them.
 */
export type Era = "old" | "new";

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
