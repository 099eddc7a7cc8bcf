import { isJsonObject, type Json, type JsonObject } from "../../bytes/json.js";
import { CAPABILITY_METHODS } from "./capability-methods.js";
import { AUTHORITY_HEADER, CAPABILITY_HEADER, EXTENSION_URI, METHODS } from "./extension.js";

/** Where a method reads capabilities. What is called like one anywhere else refuses the call. */
export interface Places {
  /** Members of its parameters. */
  readonly params: readonly string[];
  /** Members of its parameters that have such a name in A2A 1.0 itself, and are no capability. */
  readonly defined: readonly string[];
  /** Whether in the metadata of the request, under the extension's URI; or no more than a declaration. */
  readonly metadata: boolean | "declaration";
  /** Whether in the header `Proviso-Capability`. */
  readonly header: boolean;
  /** Whether it has a message, which can call a method about capabilities. */
  readonly message?: true;
}

const HEADER: Places = { params: [], defined: [], metadata: false, header: true };
const METADATA: Places = { ...HEADER, metadata: true };
const MESSAGE: Places = { ...METADATA, message: true };
const OWN: Places = { ...HEADER, header: false };
/** Of a message that calls a method about capabilities, whose own parameters say which. */
export const METHOD_IN_MESSAGE: Places = { ...OWN, metadata: "declaration" };
const ONE = ["token", "capabilityId"];

/** By method; in the HTTP+JSON binding CancelTask has no metadata that the SDK reads. */
const PLACES: ReadonlyMap<string, Places> = new Map<string, Places>([
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

const REST_PLACES: readonly (readonly [pattern: RegExp, places: Places])[] = [
  [/^\/message:(?:send|stream)\/?$/i, MESSAGE],
  [/^\/tasks\/[^/]+\/pushNotificationConfigs\/?$/i, { ...HEADER, defined: ["token"] }],
];

/** Where a JSON-RPC method reads capabilities; in the header only unless it is known to do more. */
export function placesOf(method: Json | undefined): Places {
  return (typeof method === "string" ? PLACES.get(method) : undefined) ?? HEADER;
}

/** Where a request over HTTP+JSON is read. @param path - Below the binding's own. */
export function restPlacesOf(path: string): Places {
  return REST_PLACES.find(([pattern]) => pattern.test(path))?.[1] ?? HEADER;
}

/** Where a method reads capabilities, in words. */
export function readIn({ params, metadata, header }: Places): string {
  const places = [
    ...params.map((name) => `params.${name}`),
    ...(metadata === true ? [`params.metadata["${EXTENSION_URI}"]`] : []),
    ...(header ? [`the header ${CAPABILITY_HEADER}`] : []),
  ];
  return places.length === 0 ? "nowhere" : `only in ${places.join(", ")}`;
}

// How people write the names of the SEP, apart from case, "-" and "_".
const NAMES: ReadonlySet<string> = new Set(
  ["capability", "capabilityid", "capabilitytoken", "attenuation", "token"].flatMap((name) => [
    name,
    name === "capability" ? "capabilities" : `${name}s`,
  ]),
);

/** Whether a member, a header or a field of a query is called like a capability. */
function isNamed(name: string): boolean {
  return NAMES.has(name.toLowerCase().replace(/[-_]/g, ""));
}

/** Our own prefix: a key of metadata that begins with it, and is not the extension's, is a slip. */
const URN = "urn:proviso:";

/**
 * The first place in parameters where something is called like a capability and not read; `undefined`
 * if there is none. What a message says is not looked into, nor are the arguments of a skill.
 */
export function unreadMember(params: JsonObject, places: Places): string | undefined {
  const allowed = [...places.params, ...places.defined];
  return (
    memberNamed(params, "params", allowed) ??
    metadataNamed(params["metadata"], "params", places.metadata) ??
    messageNamed(params["message"]) ??
    configurationNamed(params["configuration"])
  );
}

/** The same of what stands beside the parameters, where nothing is read. */
export function unreadBeside(envelope: JsonObject): string | undefined {
  const where = "the request";
  return memberNamed(envelope, where) ?? metadataNamed(envelope["metadata"], where);
}

function memberNamed(
  value: Json | undefined,
  where: string,
  allowed: readonly string[] = [],
): string | undefined {
  if (value === undefined || !isJsonObject(value)) return undefined;
  const name = Object.keys(value).find((one) => isNamed(one) && !allowed.includes(one));
  return name === undefined ? undefined : `${where}.${name}`;
}

function metadataNamed(
  value: Json | undefined,
  owner: string,
  read: Places["metadata"] = false,
): string | undefined {
  const where = `${owner}.metadata`;
  if (value === undefined || !isJsonObject(value)) return undefined;
  const entry = value[EXTENSION_URI];
  const known = read === true || (read === "declaration" && isDeclaration(entry));
  if (entry !== undefined && !known) return `${where}["${EXTENSION_URI}"]`;
  const key = Object.keys(value).find(
    (one) => one !== EXTENSION_URI && one.toLowerCase().startsWith(URN),
  );
  return key === undefined ? memberNamed(value, where) : `${where}, a key that begins with ${URN}`;
}

function isDeclaration(entry: Json | undefined): boolean {
  return entry !== undefined && isJsonObject(entry) && Object.keys(entry).join() === "authority";
}

function messageNamed(message: Json | undefined): string | undefined {
  if (message === undefined || !isJsonObject(message)) return undefined;
  const where = "params.message";
  const own = memberNamed(message, where) ?? metadataNamed(message["metadata"], where);
  if (own !== undefined) return own;
  const parts = message["parts"];
  if (!Array.isArray(parts)) return undefined;
  for (const [at, part] of parts.entries()) {
    const here = `${where}.parts[${at}]`;
    if (!isJsonObject(part)) continue;
    const found = memberNamed(part, here) ?? metadataNamed(part["metadata"], here);
    if (found !== undefined) return found;
  }
  return undefined;
}

function configurationNamed(configuration: Json | undefined): string | undefined {
  if (configuration === undefined || !isJsonObject(configuration)) return undefined;
  const where = "params.configuration";
  const own = memberNamed(configuration, where);
  if (own !== undefined) return own;
  // As the SDK reads it: in either spelling.
  for (const name of ["taskPushNotificationConfig", "task_push_notification_config"]) {
    const found = memberNamed(configuration[name], `${where}.${name}`, ["token"]);
    if (found !== undefined) return found;
  }
  return undefined;
}

const READ_HEADERS: readonly string[] = [CAPABILITY_HEADER, AUTHORITY_HEADER].map((name) =>
  name.toLowerCase(),
);

/** The first header that is called like a capability and not read, in lower case as Node has it. */
export function unreadHeader(names: readonly string[], { header }: Places): string | undefined {
  const known = header ? READ_HEADERS : READ_HEADERS.slice(1);
  return names.find((name) => {
    if (known.includes(name)) return false;
    return name.startsWith("proviso-") || isNamed(name.replace(/^(?:(?:x|a2a|proviso)-)+/, ""));
  });
}

/** The first field of a query that is called like a capability: no method reads any. */
export function unreadField(names: Iterable<string>): string | undefined {
  for (const name of names) if (isNamed(name.replace(/[[.].*$/s, ""))) return name;
  return undefined;
}

/**
 * The method about capabilities that a message calls, with where its parameters are: a data part that
 * stands alone. Such a message is answered at once and not kept.
 */
export function methodIn(
  message: Json | undefined,
): { readonly method: string; readonly params: JsonObject } | undefined {
  if (message === undefined || !isJsonObject(message)) return undefined;
  const parts = message["parts"];
  const [part]: readonly (Json | undefined)[] =
    Array.isArray(parts) && parts.length === 1 ? parts : [];
  if (part === undefined || !isJsonObject(part)) return undefined;
  const { text = null, raw = null, url = null, data } = part;
  // Of several contents the SDK takes another than the data; what is null is none.
  if (text !== null || raw !== null || url !== null) return undefined;
  if (data === undefined || !isJsonObject(data)) return undefined;
  const { method, params = {} } = data;
  if (typeof method !== "string" || !CAPABILITY_METHODS.has(method)) return undefined;
  return isJsonObject(params) ? { method, params } : undefined;
}
