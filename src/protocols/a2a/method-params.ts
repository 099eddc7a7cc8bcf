import { Ajv2020, type ErrorObject, type ValidateFunction } from "ajv/dist/2020.js";
import type { Json, JsonObject } from "../../bytes/json.js";
import { LONGEST_ID } from "./answer.js";
import { membersOf, type Outline } from "./outline.js";

/**
 * A JSON Schema for parameters of A2A 1.0's methods, from the protocol's `a2a.proto`. Every binding uses the
 * same schemas. As in ProtoJSON, null means an absent property, an integer may be a string of digits, an enum
 * value may be given by its number, and a property name may be in snake case. Unknown properties are ignored
 * (section 5.7). Each `title` completes the sentence "… must be …".
 */
type Schema = { readonly [keyword: string]: Json };

function text(more: Schema = {}): Schema {
  return { type: ["string", "null"], title: "a string", ...more };
}

/** An id. The SDK prints ids in errors, so they must be short and without control characters. */
const ID = text({
  pattern: `^[ -~]{0,${LONGEST_ID}}$`,
  title: `at most ${LONGEST_ID} printable ASCII characters`,
});
const MESSAGE_ID = text({
  pattern: `^[^\\p{Cc}\\p{Cf}\\p{Zl}\\p{Zp}]{0,${LONGEST_ID}}$`,
  title: `at most ${LONGEST_ID} printable characters`,
});
const LARGEST_INT32 = 2 ** 31 - 1;
const COUNT: Schema = {
  type: ["integer", "string", "null"],
  minimum: 0,
  maximum: LARGEST_INT32,
  pattern: "^[0-9]{1,9}$",
  title: "a whole number, 0 or more",
};
const PAGE_SIZE: Schema = {
  type: ["integer", "string", "null"],
  minimum: 1,
  maximum: 100,
  pattern: "^(?:[1-9][0-9]?|100)$",
  title: "a whole number from 1 to 100",
};
const BOOLEAN: Schema = { type: ["boolean", "null"], title: "true or false" };
const TIME = text({
  format: "timestamp",
  title: 'a time with its zone (RFC 3339), such as "2026-01-09T13:00:00Z"',
});
const STRUCT: Schema = { type: ["object", "null"], title: "an object" };
const BASE64 = text({ pattern: "^[A-Za-z0-9+/_-]*={0,2}$", title: "bytes in base64" });
// The value is sent in a header. With other characters, notifications could not be delivered.
const HEADER_VALUE = text({
  pattern: "^(?:[!-~](?:[ -~]*[!-~])?)?$",
  title: "printable ASCII characters without spaces at either end: it is sent in a header",
});
const SCHEME: Schema = {
  type: "string",
  pattern: "^[!#$%&'*+.^_`|~0-9A-Za-z-]+$",
  title: 'an authentication scheme, such as "Bearer"',
};

function list(items: Schema, title: string): Schema {
  return { type: ["array", "null"], items, title };
}

/** Returns the schema of an object with these properties, each also allowed in snake case. */
function object(properties: { readonly [name: string]: Schema }, more: Schema = {}): Schema {
  const spelled = Object.entries(properties).flatMap(([name, schema]) => [
    [name, schema] as const,
    [name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`), schema] as const,
  ]);
  return { ...STRUCT, properties: Object.fromEntries(spelled), ...more };
}

const PART = object(
  {
    text: text(),
    raw: BASE64,
    url: text(),
    data: {},
    metadata: STRUCT,
    filename: text(),
    mediaType: text(),
  },
  { atMostOneOf: ["text", "raw", "url", "data"] },
);
const ROLE: Schema = {
  enum: ["ROLE_UNSPECIFIED", "ROLE_USER", "ROLE_AGENT", 0, 1, 2, null],
  title: "ROLE_USER or ROLE_AGENT",
};
const MESSAGE = object({
  messageId: MESSAGE_ID,
  contextId: ID,
  taskId: ID,
  role: ROLE,
  parts: list(PART, "an array of parts"),
  metadata: STRUCT,
  extensions: list({ type: "string", title: "a string" }, "an array of strings"),
  referenceTaskIds: list({ ...ID, type: "string" }, "an array of strings"),
});
const PUSH_CONFIG = object({
  tenant: text(),
  id: ID,
  taskId: ID,
  url: text(),
  token: HEADER_VALUE,
  authentication: object({ scheme: SCHEME, credentials: HEADER_VALUE }, { required: ["scheme"] }),
});
const SEND = object({
  tenant: text(),
  message: MESSAGE,
  metadata: STRUCT,
  configuration: object({
    acceptedOutputModes: list({ type: "string", title: "a string" }, "an array of strings"),
    taskPushNotificationConfig: PUSH_CONFIG,
    historyLength: COUNT,
    returnImmediately: BOOLEAN,
  }),
});
const STATES = [
  "TASK_STATE_UNSPECIFIED",
  "TASK_STATE_SUBMITTED",
  "TASK_STATE_WORKING",
  "TASK_STATE_COMPLETED",
  "TASK_STATE_FAILED",
  "TASK_STATE_CANCELED",
  "TASK_STATE_INPUT_REQUIRED",
  "TASK_STATE_REJECTED",
  "TASK_STATE_AUTH_REQUIRED",
];
const TASK = { tenant: text(), id: ID };
const CONFIG_OF_TASK = object({ ...TASK, taskId: ID });

/** Schemas by JSON-RPC method. */
const SCHEMAS: ReadonlyMap<Json | undefined, Schema> = new Map(
  Object.entries({
    SendMessage: SEND,
    SendStreamingMessage: SEND,
    GetTask: object({ ...TASK, historyLength: COUNT }),
    ListTasks: object({
      tenant: text(),
      contextId: ID,
      pageSize: PAGE_SIZE,
      pageToken: text(),
      status: { enum: [...STATES, ...STATES.keys(), null], title: "the name of a task state" },
      historyLength: COUNT,
      statusTimestampAfter: TIME,
      includeArtifacts: BOOLEAN,
    }),
    CancelTask: object({ ...TASK, metadata: STRUCT }),
    SubscribeToTask: object(TASK),
    CreateTaskPushNotificationConfig: PUSH_CONFIG,
    GetTaskPushNotificationConfig: CONFIG_OF_TASK,
    ListTaskPushNotificationConfigs: object({
      tenant: text(),
      taskId: ID,
      pageSize: COUNT,
      pageToken: text(),
    }),
    DeleteTaskPushNotificationConfig: CONFIG_OF_TASK,
    GetExtendedAgentCard: object({ tenant: text() }),
  }),
);

const ajv = new Ajv2020({
  strict: true,
  allowUnionTypes: true,
  ownProperties: true,
  verbose: true,
  meta: false,
  validateSchema: false,
});
ajv.addFormat("timestamp", isTimestamp);
ajv.addKeyword({
  keyword: "atMostOneOf",
  validate: (names: readonly string[], value: JsonObject) =>
    names.filter((name) => (value[name] ?? null) !== null).length <= 1,
});
const compiled = new Map<Json | undefined, ValidateFunction>();

/**
 * Checks the parameters of one of A2A's methods.
 *
 * @returns A sentence about the first invalid property; `undefined` if the parameters are valid or the method
 *   is unknown.
 */
export function flawInParams(method: Json | undefined, params: JsonObject): string | undefined {
  const schema = SCHEMAS.get(method);
  if (schema === undefined) return undefined;
  const validate = compiled.get(method) ?? ajv.compile(schema);
  compiled.set(method, validate);
  if (validate(params)) return undefined;
  const [error] = validate.errors ?? [];
  return error === undefined ? "params: are invalid" : sentenceOf(error);
}

function sentenceOf({ instancePath, keyword, params, schema, parentSchema }: ErrorObject): string {
  const where = `params${instancePath.replace(/\/(\d+)/g, "[$1]").replaceAll("/", ".")}`;
  if (keyword === "required") return `${where}.${params["missingProperty"]} is required`;
  if (keyword === "atMostOneOf") {
    return `${where} must have only one of ${String(schema).replaceAll(",", ", ")}`;
  }
  return `${where} must be ${parentSchema?.["title"]}`;
}

const TIMESTAMP =
  /^(\d{4}-\d\d-\d\d)T(?:[01]\d|2[0-3]):\d\d:\d\d(?:\.\d{1,9})?(?:Z|[+-]\d\d:\d\d)$/i;

/** Returns whether a string is a Timestamp of ProtoJSON on a day that exists. */
function isTimestamp(value: string): boolean {
  const [, day] = TIMESTAMP.exec(value) ?? [];
  if (day === undefined || Number.isNaN(Date.parse(value))) return false;
  // JavaScript reads February 30 as a day in March.
  return new Date(`${day}T00:00:00Z`).toISOString().startsWith(day);
}

/** Property names for a conversation history, in lower case and without "-" and "_". */
const HISTORY_NAMES: ReadonlySet<string> = new Set([
  "history",
  "messages",
  "messagehistory",
  "conversationhistory",
]);

/**
 * Returns the problem of a message with a conversation history; `undefined` if it has none. Only agents that
 * declare `message_history_injection` accept a history. Without this check, the SDK would ignore the history
 * silently.
 */
export function historyIn({ places, inMessage, params }: Outline): string | undefined {
  if (places.message !== true && inMessage === undefined) return undefined;
  const owners = [
    { where: "params", value: params },
    { where: "params.message", value: membersOf(params["message"]) },
    { where: "params.configuration", value: membersOf(params["configuration"]) },
  ];
  for (const { where, value } of owners) {
    const name = Object.keys(value).find((one) => isHistory(one) && value[one] !== null);
    if (name === undefined) continue;
    return `this agent takes no history from its callers, and its card declares none: leave ${where}.${name} out`;
  }
  return undefined;
}

function isHistory(name: string): boolean {
  return HISTORY_NAMES.has(name.toLowerCase().replace(/[-_]/g, ""));
}
