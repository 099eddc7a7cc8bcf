// src/protocols/mcp/gate: what passes between a host and the servers behind the gate. Start with gate-session.ts: a
// tools/call goes from there through host-requests.ts, call.ts, call-target.ts, forward.ts and server-link.ts; its
// answer comes back through server-link.ts, forward.ts and finishCall in call.ts. This file is the closed table of
// methods: what is not in it is not passed on.

/** `old` has `initialize` and sessions, up to 2025-11-25; `new`, from 2026-07-28 on, has neither. */
export type Era = "old" | "new";

/** The operations that are not tools. A tool cannot have one of these names: no name of a tool may have a `:`. */
export const OPERATIONS = {
  read: "resources:read",
  subscribe: "resources:subscribe",
  prompt: "prompts:get",
  complete: "completion:complete",
  sample: "client:sampling",
  elicit: "client:elicitation",
  roots: "client:roots",
} as const;

/** The treatment of a host's request. */
export type HostRule =
  /** Asks for the names, versions and capabilities of the servers. */
  | { readonly by: "opening" }
  /** Needs no authority. */
  | { readonly by: "free" }
  /** Runs or reads something, and is judged with its arguments. The operation of a tool is the tool's name. */
  | { readonly by: "call"; readonly what: "tool" }
  | {
      readonly by: "call";
      readonly what: "resource" | "prompt" | "completion";
      readonly operation: string;
    }
  /** Lists tools, each shown if its operation is allowed, or other entries, all shown if `operation` is allowed. */
  | { readonly by: "list"; readonly what: "tools" }
  | { readonly by: "list"; readonly what: ListedMember; readonly operation: string }
  /** Subscribes to changes, and is judged for each resource and each task. */
  | { readonly by: "listen" }
  /** Concerns a task, and is allowed to the creator of the task alone. */
  | { readonly by: "task" }
  | { readonly by: "task-list" };

/** The property of a list's result that has the entries. */
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

/** The way of a host's notification: to the server of the request or task that it is about, or to all servers. */
export type HostNotificationRule = "cancelled" | "progress" | "task" | "all";

const HOST_NOTIFICATIONS: ReadonlyMap<string, HostNotificationRule> = table<HostNotificationRule>({
  "notifications/cancelled": "cancelled",
  "notifications/progress": "progress",
  "notifications/initialized": "all",
  "notifications/roots/list_changed": "all",
  "notifications/tasks/status": "task",
});

/** The treatment of a server's request to the host, which the old era alone has. */
export type ServerRequestRule =
  | { readonly by: "free" }
  /** Uses the host's model, user or roots. It is judged, since a poisoned server could carry data out. */
  | { readonly by: "client"; readonly operation: string }
  /** Concerns a task that the host runs for the server. */
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

/** The way of a server's notification: to the request that it is about, to a subscription, or to the host itself. */
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

/** Returns the treatment of a host's request; `undefined` for a method that its era does not have. */
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
