import { isJsonObject, type Json, type JsonObject } from "../../bytes/json.js";
import { CAPABILITY_METHODS } from "./capability-methods.js";
import type { Binding } from "./errors.js";
import { CAPABILITY_HEADER, EXTENSION_URI, METHODS } from "./extension.js";
import type { Places } from "./presented.js";

const HEADER: Places = { params: [], defined: [], metadata: false, header: true };
const METADATA: Places = { ...HEADER, metadata: true };
const MESSAGE: Places = { ...METADATA, message: true };
const PUSH: Places = { ...HEADER, defined: ["token"] };
const OWN: Places = { ...HEADER, header: false };
/** Of a message that calls a method about capabilities, whose own parameters say which. */
const METHOD_IN_MESSAGE: Places = { ...OWN, metadata: "declaration" };
const ONE = ["token", "capabilityId"];

/** What one of A2A's own methods needs: leave for its message, an admission, or a caller alone. */
export type Need = "message" | "task" | "card";

interface Method {
  /** Absent for the extension's own methods. */
  readonly need?: Need;
  readonly places: Places;
}

const METHODS_BY_NAME: ReadonlyMap<Json | undefined, Method> = new Map<Json | undefined, Method>([
  ["SendMessage", { need: "message", places: MESSAGE }],
  ["SendStreamingMessage", { need: "message", places: MESSAGE }],
  ["GetTask", { need: "task", places: HEADER }],
  ["ListTasks", { need: "task", places: HEADER }],
  ["CancelTask", { need: "task", places: METADATA }],
  ["SubscribeToTask", { need: "task", places: HEADER }],
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

/**
 * In HTTP+JSON, by what follows the binding's own path, behind the tenant where there is one. Over it,
 * CancelTask has no metadata that the SDK reads.
 */
const METHODS_BY_PATH: readonly (readonly [path: RegExp, method: Method])[] = [
  [/^\/(?:([^/]+)\/)?message:(?:send|stream)\/?$/i, { need: "message", places: MESSAGE }],
  [/^\/(?:([^/]+)\/)?tasks\/[^/]+\/pushNotificationConfigs\/?$/i, { need: "task", places: PUSH }],
  [/^\/(?:([^/]+)\/)?extendedAgentCard\/?$/i, { need: "card", places: HEADER }],
  [/^\/(?:([^/]+)\/)?tasks(?:\/.*)?$/i, { need: "task", places: HEADER }],
];

/** Whether a path below a binding's own is that of the binding: the SDK's routes take further slashes. */
export function isRoot(path: string): boolean {
  return /^\/+$/.test(path);
}

const WORDS = /^(?:message:(?:send|stream)|tasks|pushNotificationConfigs|extendedAgentCard)?$/i;

/** A path without what its caller chose, as it may be logged: an id may be a secret by mistake. */
export function routeOf(path: string): string {
  const parts = path.split("/").map((part) => {
    if (WORDS.test(part)) return part;
    const [done = ""] = /:(?:cancel|subscribe)$/.exec(part) ?? [];
    return `…${done}`;
  });
  return parts.slice(0, 8).join("/");
}

/** A method's parameters, with where in them it reads capabilities. */
interface Called {
  readonly method: string;
  readonly params: JsonObject;
  readonly places: Places;
}

/** A request, laid out by what its method reads. */
export interface Outline extends Omit<Called, "method"> {
  /** In JSON-RPC, the method as it is named. */
  readonly method: Json | undefined;
  /** Absent for what is not one of A2A's own methods. */
  readonly need: Need | undefined;
  readonly tenant: Json;
  /** What stands beside the parameters, where nothing is read. */
  readonly envelope: JsonObject;
  /** The method about capabilities that the request's message calls. */
  readonly inMessage: Called | undefined;
  /** The id of the task that it is about, if it is about one. */
  readonly task: string | undefined;
}

/**
 * Lays a request out; a method that is not known reads only the header.
 *
 * @param path - Below the binding's own.
 */
export function outlineOf(binding: Binding, path: string, body: JsonObject): Outline {
  const isRpc = binding === "jsonrpc";
  const { params: given = {}, ...envelope } = isRpc ? body : { params: body };
  const params = isJsonObject(given) ? given : { params: given };
  const { method } = isRpc ? body : {};
  const [matched, byPath] = isRpc ? [] : methodByPath(path);
  const { need, places } = (isRpc ? METHODS_BY_NAME.get(method) : byPath) ?? { places: HEADER };
  const tenant = (isRpc ? params["tenant"] : matched?.[1]) ?? "";
  const task = need === "task" ? taskIn(isRpc, path, params) : undefined;
  const inMessage = places.message === true ? methodIn(params["message"]) : undefined;
  const read = inMessage === undefined ? places : METHOD_IN_MESSAGE;
  return { envelope, params, method, need, tenant, task, places: read, inMessage };
}

function taskIn(isRpc: boolean, path: string, params: JsonObject): string | undefined {
  if (!isRpc) return /^\/(?:[^/]+\/)?tasks\/([\w-]+)(?:[:/]|$)/i.exec(path)?.[1];
  // Of push configurations, "id" is their own.
  const { taskId = params["id"] } = params;
  return typeof taskId === "string" ? taskId : undefined;
}

function methodByPath(path: string): readonly [match?: RegExpExecArray, method?: Method] {
  for (const [pattern, method] of METHODS_BY_PATH) {
    const match = pattern.exec(path);
    if (match !== null) return [match, method];
  }
  return [];
}

/**
 * The method about capabilities that a message calls, in a data part that stands alone. Such a message
 * is answered at once and not kept.
 */
function methodIn(message: Json | undefined): Called | undefined {
  const { parts } = membersOf(message);
  const [part]: readonly Json[] = Array.isArray(parts) && parts.length === 1 ? parts : [];
  const { text = null, raw = null, url = null, data } = membersOf(part);
  // Of several contents the SDK takes another than the data; a null content is absent.
  if (text !== null || raw !== null || url !== null) return undefined;
  const { method, params = {} } = membersOf(data);
  if (typeof method !== "string" || !CAPABILITY_METHODS.has(method)) return undefined;
  const { places = OWN } = METHODS_BY_NAME.get(method) ?? {};
  return isJsonObject(params) ? { method, params, places } : undefined;
}

/** The members of an object; of anything else, none. */
export function membersOf(value: Json | undefined): JsonObject {
  return value !== undefined && isJsonObject(value) ? value : {};
}

/** Where a request's capabilities are read, in words. */
export function readIn({ places, inMessage }: Outline): string {
  const { params, metadata, header } = inMessage?.places ?? places;
  const read = [
    ...params.map((name) => `params.${name}`),
    ...(metadata === true ? [`params.metadata["${EXTENSION_URI}"]`] : []),
    ...(header ? [`the header ${CAPABILITY_HEADER}`] : []),
  ];
  return read.length === 0 ? "nowhere" : `only in ${read.join(", ")}`;
}
