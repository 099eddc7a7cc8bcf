import { isJsonObject, type Json, type JsonObject } from "../../bytes/json.js";
import { CAPABILITY_METHODS } from "./capability-methods.js";
import type { Binding } from "./errors.js";
import { CAPABILITY_HEADER, EXTENSION_URI, METHODS } from "./extension.js";
import type { CapabilityPlaces } from "./presented-authority.js";

const HEADER: CapabilityPlaces = { params: [], defined: [], metadata: false, header: true };
const METADATA: CapabilityPlaces = { ...HEADER, metadata: true };
const MESSAGE: CapabilityPlaces = { ...METADATA, message: true };
const PUSH: CapabilityPlaces = { ...HEADER, defined: ["token"] };
const OWN: CapabilityPlaces = { ...HEADER, header: false };
/**
 * The places for a message that calls a method about capabilities. That method reads capabilities from its own
 * parameters.
 */
const METHOD_IN_MESSAGE: CapabilityPlaces = { ...OWN, metadata: "declaration" };
const ONE = ["token", "capabilityId"];

/**
 * The requirement of a method. `message` and `skill`: the gate clears the message or the skill call. `task`:
 * the gate admits the caller's capabilities. `card` and `caller`: the caller is authenticated.
 */
export type Need = "message" | "skill" | "task" | "card" | "caller";

interface Method {
  /** Absent for the extension's own methods. */
  readonly need?: Need;
  readonly places: CapabilityPlaces;
  /** True if the answer is a stream of events. */
  readonly streams?: true;
}

const METHODS_BY_NAME: ReadonlyMap<Json | undefined, Method> = new Map<Json | undefined, Method>([
  ["SendMessage", { need: "message", places: MESSAGE }],
  ["SendStreamingMessage", { need: "message", places: MESSAGE, streams: true }],
  ["GetTask", { need: "task", places: HEADER }],
  ["ListTasks", { need: "task", places: HEADER }],
  ["CancelTask", { need: "task", places: METADATA }],
  ["SubscribeToTask", { need: "task", places: HEADER, streams: true }],
  ["CreateTaskPushNotificationConfig", { need: "task", places: PUSH }],
  ["GetTaskPushNotificationConfig", { need: "task", places: HEADER }],
  ["ListTaskPushNotificationConfigs", { need: "task", places: HEADER }],
  ["DeleteTaskPushNotificationConfig", { need: "task", places: HEADER }],
  ["GetExtendedAgentCard", { need: "card", places: HEADER }],
  [METHODS.request, { places: OWN }],
  [METHODS.collect, { places: OWN }],
  [METHODS.attenuate, { places: { ...OWN, params: ONE } }],
  [METHODS.revoke, { places: { ...OWN, params: ONE } }],
  [METHODS.introspect, { places: { ...OWN, params: ONE } }],
  [METHODS.invoke, { places: { ...METADATA, params: [...ONE, "capabilities"] } }],
  [METHODS.send, { places: { ...MESSAGE, params: [...ONE, "capabilities", "attenuations"] } }],
]);

/** A route of HTTP+JSON. Like the SDK's routes, it ignores case and a trailing slash. */
interface Route {
  readonly method: string;
  readonly verbs: readonly string[];
  /** Matches the path below the binding's path, with or without a tenant at its start. */
  readonly path: RegExp;
  /** The names of the parameters in the path, in order. */
  readonly ids: readonly string[];
}

const TASK = "tasks/([^/]+)";
const CONFIGS = `${TASK}/pushNotificationConfigs`;

/** In the order of the SDK's routes. */
const ROUTES: readonly Route[] = [
  route("GetExtendedAgentCard", ["GET"], "extendedAgentCard"),
  route("SendMessage", ["POST"], "message:send"),
  route("SendStreamingMessage", ["POST"], "message:stream"),
  route("SubscribeToTask", ["GET", "POST"], `${TASK}:subscribe`, "id"),
  route("CancelTask", ["POST"], `${TASK}:cancel`, "id"),
  route("GetTask", ["GET"], TASK, "id"),
  route("ListTasks", ["GET"], "tasks"),
  route("CreateTaskPushNotificationConfig", ["POST"], CONFIGS, "taskId"),
  route("ListTaskPushNotificationConfigs", ["GET"], CONFIGS, "taskId"),
  route("GetTaskPushNotificationConfig", ["GET"], `${CONFIGS}/([^/]+)`, "taskId", "id"),
  route("DeleteTaskPushNotificationConfig", ["DELETE"], `${CONFIGS}/([^/]+)`, "taskId", "id"),
];

function route(method: string, verbs: readonly string[], path: string, ...ids: string[]): Route {
  return { method, verbs, ids, path: new RegExp(`^/(?:([^/]+)/)?${path}/?$`, "i") };
}

/** Returns whether the path below the binding's path has only slashes. The SDK's routes accept several slashes. */
export function isRoot(path: string): boolean {
  return /^\/+$/.test(path);
}

const WORDS = /^(?:message:(?:send|stream)|tasks|pushNotificationConfigs|extendedAgentCard)?$/i;

/**
 * Returns a path for the log, without the parts that the client chose: in the place of an id, there may be a
 * secret.
 */
export function routeOf(path: string): string {
  const parts = path.split("/").map((part) => {
    if (WORDS.test(part)) return part;
    const [done = ""] = /:(?:cancel|subscribe)$/.exec(part) ?? [];
    return `…${done}`;
  });
  return parts.slice(0, 8).join("/");
}

/** A called method, its parameters, and the places where it reads capabilities. */
interface Called {
  readonly method: string;
  readonly params: JsonObject;
  readonly places: CapabilityPlaces;
}

/** A parsed request. */
export interface Outline extends Omit<Called, "method"> {
  /** The method's JSON-RPC name; `undefined` for an unknown HTTP+JSON path. */
  readonly method: Json | undefined;
  /** `undefined` for a method that A2A does not define. */
  readonly need: Need | undefined;
  /** True if the answer is a stream of events. */
  readonly streams: boolean;
  /** All parameters of the method; over HTTP+JSON including those in the path and the query. */
  readonly parameters: JsonObject;
  readonly tenant: Json;
  /** The body's properties beside `params`. No method reads capabilities from them. */
  readonly envelope: JsonObject;
  /** The method about capabilities that the request's message calls, if any. */
  readonly inMessage: Called | undefined;
  /** The id of the task that the request is about, if any. */
  readonly task: string | undefined;
}

/** A request as received by its binding. */
export interface Asked {
  readonly binding: Binding;
  /** The HTTP method. */
  readonly verb: string;
  /** The path below the binding's path. */
  readonly path: string;
  readonly query: { readonly [name: string]: unknown };
  readonly body: JsonObject;
}

/** Parses a request. For an unknown method, capabilities are read only from the header. */
export function outlineOf(asked: Asked): Outline {
  const { binding, body } = asked;
  const isRpc = binding === "jsonrpc";
  const { params: given = {}, ...envelope } = isRpc ? body : { params: body };
  const params = isJsonObject(given) ? given : { params: given };
  const found = isRpc ? undefined : routeTo(asked);
  const method = isRpc ? body["method"] : found?.method;
  const known = METHODS_BY_NAME.get(method);
  const { need, streams = false } = known ?? {};
  const parameters = isRpc ? params : { ...parametersIn(asked, params), ...found?.ids };
  const tenant = (isRpc ? params["tenant"] : found?.tenant) ?? "";
  // Over HTTP+JSON, the SDK reads no metadata of CancelTask.
  const readsHeader = !isRpc && method === "CancelTask";
  const places = readsHeader ? HEADER : (known?.places ?? HEADER);
  const inMessage = places.message === true ? methodIn(params["message"]) : undefined;
  return {
    envelope,
    params,
    parameters,
    method,
    need,
    streams,
    tenant,
    inMessage,
    task: need === "task" ? taskIn(parameters) : undefined,
    places: inMessage === undefined ? places : METHOD_IN_MESSAGE,
  };
}

/** Converts the outline of a request to the outline of a SendMessage request. */
export function asMessage(outline: Outline, params: JsonObject): Outline {
  return { ...outline, method: "SendMessage", need: "message", params, parameters: params };
}

function taskIn({ id, taskId = id }: JsonObject): string | undefined {
  // In the parameters of push configurations, "id" is the id of the configuration.
  return typeof taskId === "string" ? taskId : undefined;
}

/** Finds the method of an HTTP+JSON request, with the tenant and the ids in its path. */
function routeTo({ verb, path }: Asked) {
  // Express answers HEAD like GET.
  const asked = verb === "HEAD" ? "GET" : verb;
  for (const { method, verbs, path: pattern, ids } of ROUTES) {
    const [whole, tenant, ...values] = verbs.includes(asked) ? (pattern.exec(path) ?? []) : [];
    if (whole === undefined) continue;
    const named = ids.map((name, at) => [name, decoded(values[at] ?? "")] as const);
    return { method, tenant, ids: Object.fromEntries(named) };
  }
  return undefined;
}

/** Returns the parameters in the body or query of an HTTP+JSON request. */
function parametersIn({ verb, query }: Asked, body: JsonObject): JsonObject {
  // The SDK reads no parameters from the query of a POST request.
  if (verb === "POST") return body;
  const given = Object.entries(query).filter(([, value]) => value !== "");
  return Object.fromEntries(given.map(([name, value]) => [name, valueIn(name, value)]));
}

/** Converts a query field to its JSON type. */
function valueIn(name: string, value: unknown): Json {
  if (typeof value !== "string") return Array.isArray(value) ? [] : {};
  if (name === "includeArtifacts" && ["true", "false"].includes(value)) return value === "true";
  return name === "status" && /^\d$/.test(value) ? Number(value) : value;
}

/**
 * Returns the method about capabilities that a message calls. The call must be in the message's only part, a
 * data part. The gate answers such a message itself.
 */
function methodIn(message: Json | undefined): Called | undefined {
  const { parts } = membersOf(message);
  const [part]: readonly Json[] = Array.isArray(parts) && parts.length === 1 ? parts : [];
  const { text = null, raw = null, url = null, data } = membersOf(part);
  // If a part has several kinds of content, the SDK does not read its data. A property that is null counts as
  // absent.
  if (text !== null || raw !== null || url !== null) return undefined;
  const { method, params = {} } = membersOf(data);
  if (typeof method !== "string" || !CAPABILITY_METHODS.has(method)) return undefined;
  const { places = OWN } = METHODS_BY_NAME.get(method) ?? {};
  return isJsonObject(params) ? { method, params, places } : undefined;
}

/** Percent-decodes a URL. Returns a malformed URL unchanged. */
export function decoded(url: string): string {
  if (!url.includes("%")) return url;
  try {
    return decodeURIComponent(url);
  } catch {
    // The router refuses a URL that cannot be decoded.
    return url;
  }
}

/** Returns `value` if it is a JSON object, otherwise an empty object. */
export function membersOf(value: Json | undefined): JsonObject {
  return value !== undefined && isJsonObject(value) ? value : {};
}

/** Describes the places where the method of a request reads capabilities. */
export function readIn({ places, inMessage }: Outline): string {
  const { params, metadata, header } = inMessage?.places ?? places;
  const read = [
    ...params.map((name) => `params.${name}`),
    ...(metadata === true ? [`params.metadata["${EXTENSION_URI}"]`] : []),
    ...(header ? [`the header ${CAPABILITY_HEADER}`] : []),
  ];
  return read.length === 0 ? "nowhere" : `only in ${read.join(", ")}`;
}
