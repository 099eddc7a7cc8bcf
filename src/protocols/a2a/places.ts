import { isJsonObject, type Json, type JsonObject } from "../../bytes/json.js";
import { CAPABILITY_METHODS } from "./capability-methods.js";
import type { Binding } from "./errors.js";
import { CAPABILITY_HEADER, EXTENSION_URI, METHODS } from "./extension.js";
import type { Places } from "./presented.js";

const HEADER: Places = { params: [], defined: [], metadata: false, header: true };
const METADATA: Places = { ...HEADER, metadata: true };
const MESSAGE: Places = { ...METADATA, message: true };
const OWN: Places = { ...HEADER, header: false };
/** Of a message that calls a method about capabilities, whose own parameters say which. */
const METHOD_IN_MESSAGE: Places = { ...OWN, metadata: "declaration" };
const ONE = ["token", "capabilityId"];

/** By method; in the HTTP+JSON binding CancelTask has no metadata that the SDK reads. */
const PLACES: ReadonlyMap<Json | undefined, Places> = new Map<Json | undefined, Places>([
  ["SendMessage", MESSAGE],
  ["SendStreamingMessage", MESSAGE],
  ["CancelTask", METADATA],
  ["CreateTaskPushNotificationConfig", { ...HEADER, defined: ["token"] }],
  [METHODS.request, OWN],
  [METHODS.attenuate, { ...OWN, params: ONE }],
  [METHODS.revoke, { ...OWN, params: ONE }],
  [METHODS.introspect, { ...OWN, params: ONE }],
  [METHODS.invoke, { ...METADATA, params: [...ONE, "capabilities"] }],
  [METHODS.send, { ...MESSAGE, params: [...ONE, "capabilities", "attenuations"] }],
]);

/** By what follows the binding's own path. */
const REST_PLACES: readonly (readonly [pattern: RegExp, places: Places])[] = [
  [/^\/message:(?:send|stream)\/?$/i, MESSAGE],
  [/^\/tasks\/[^/]+\/pushNotificationConfigs\/?$/i, { ...HEADER, defined: ["token"] }],
];

/** A method's parameters, with where in them it reads capabilities. */
interface Called {
  readonly params: JsonObject;
  readonly places: Places;
}

/** A request, laid out by what its method reads. */
export interface Outline extends Called {
  /** What stands beside the parameters, where nothing is read. */
  readonly envelope: JsonObject;
  /** The method about capabilities that the request's message calls. */
  readonly inMessage?: Called;
}

/**
 * Lays a request out; a method that is not known reads only the header.
 *
 * @param path - Below the binding's own.
 */
export function outlineOf(binding: Binding, path: string, body: JsonObject): Outline {
  const isRpc = binding === "jsonrpc";
  const rest = REST_PLACES.find(([pattern]) => pattern.test(path))?.[1];
  const places = (isRpc ? PLACES.get(body["method"]) : rest) ?? HEADER;
  const { params: given = {}, ...envelope } = isRpc ? body : { params: body };
  const params = isJsonObject(given) ? given : { params: given };
  const inMessage = places.message === true ? methodIn(params["message"]) : undefined;
  if (inMessage === undefined) return { envelope, params, places };
  return { envelope, params, places: METHOD_IN_MESSAGE, inMessage };
}

/**
 * The method about capabilities that a message calls, in a data part that stands alone. Such a message
 * is answered at once and not kept.
 */
function methodIn(message: Json | undefined): Called | undefined {
  const { parts } = membersOf(message);
  const [part]: readonly Json[] = Array.isArray(parts) && parts.length === 1 ? parts : [];
  const { text = null, raw = null, url = null, data } = membersOf(part);
  // Of several contents the SDK takes another than the data; what is null is none.
  if (text !== null || raw !== null || url !== null) return undefined;
  const { method, params = {} } = membersOf(data);
  if (typeof method !== "string" || !CAPABILITY_METHODS.has(method)) return undefined;
  return isJsonObject(params) ? { params, places: PLACES.get(method) ?? OWN } : undefined;
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
