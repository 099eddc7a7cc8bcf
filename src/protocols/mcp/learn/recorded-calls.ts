import { isJsonObject, type Json, type JsonObject } from "../../../bytes/json.js";
import { shown } from "../../../caveats/scalar.js";
import { resourceArguments } from "../authority/resource-call.js";
import { inexactNumberIn } from "../message/edit.js";
import { HOST_LIMITS, type Message, readMessage, SERVER_LIMITS } from "../message/message.js";
import type { RecordedCall } from "./learned-limits.js";
import type { RecordedLine } from "./recording.js";

/** What a recorded line asks for. */
export type LineCalls =
  | { readonly ok: true; readonly calls: readonly RecordedCall[] }
  /** A gate would refuse the line, whatever the token. The reason is a sentence part. */
  | { readonly ok: false; readonly reason: string };

const NONE: LineCalls = { ok: true, calls: [] };
const URL_ELICITATION_REQUIRED = -32042;

/** Returns the calls that a gate judges of a recorded line: those of the host, and what the server asks of the host. */
export function callsOfLine({ from, text }: RecordedLine): LineCalls {
  const isHost = from === "host";
  const read = readMessage(text, isHost ? HOST_LIMITS : SERVER_LIMITS);
  // Servers also write what is no message, and hosts end their lines with spaces.
  if (!read.ok) return isHost && text.trim() !== "" ? read : NONE;
  return isHost ? hostCalls(read.message) : { ok: true, calls: serverCalls(read.message) };
}

function hostCalls({ text, value, method, id }: Message): LineCalls {
  const params = objectAt(value, "params") ?? {};
  const number = inexactNumberIn(text, ["params", "arguments"]);
  if (number !== undefined) return refused(`the number ${number} cannot be kept as it is written`);
  const isRequest = id !== undefined;
  switch (isRequest ? method : undefined) {
    case "tools/call":
      return toolCall(params);
    case "resources/read":
      return resourceCall("resources:read", params["uri"]);
    case "resources/subscribe":
    case "resources/unsubscribe":
      return resourceCall("resources:subscribe", params["uri"]);
    case "subscriptions/listen":
      return subscriptions(objectAt(params, "notifications")?.["resourceSubscriptions"]);
    case "prompts/get":
      return one("prompts:get", judged(params));
    case "completion/complete":
      return one("completion:complete", judged(params));
    default:
      return NONE;
  }
}

function toolCall(params: JsonObject): LineCalls {
  const { name } = params;
  const given = params["arguments"] === undefined ? {} : objectAt(params, "arguments");
  if (typeof name !== "string" || given === undefined) return refused("a tools/call is malformed");
  if (name === "" || /[:/]/.test(name)) return refused(`no tool may have the name ${shown(name)}`);
  return one(name, given);
}

function resourceCall(operation: string, uri: Json | undefined): LineCalls {
  if (typeof uri !== "string") return refused("the URI of a resource is no string");
  const read = resourceArguments(uri);
  return read.ok ? one(operation, read.arguments) : refused(read.denial.message);
}

function subscriptions(uris: Json | undefined): LineCalls {
  const read = (Array.isArray(uris) ? uris : []).map((uri) =>
    resourceCall("resources:subscribe", uri),
  );
  const bad = read.find(({ ok }) => !ok);
  return bad ?? { ok: true, calls: read.flatMap((found) => (found.ok ? found.calls : [])) };
}

/** What a server asks of the host: by requests of its own, or in its answers. */
function serverCalls({ value, method, id }: Message): readonly RecordedCall[] {
  if (method !== undefined) {
    return id === undefined ? [] : clientCall(method, objectAt(value, "params") ?? {});
  }
  const asked = objectAt(objectAt(value, "result") ?? {}, "inputRequests") ?? {};
  const error = objectAt(value, "error") ?? {};
  const urls = objectAt(error, "data")?.["elicitations"];
  const needsUrls = error["code"] === URL_ELICITATION_REQUIRED && Array.isArray(urls);
  return [
    ...Object.values(asked).flatMap((input) => {
      const request = isJsonObject(input) ? input : {};
      return clientCall(String(request["method"]), objectAt(request, "params") ?? {});
    }),
    ...(needsUrls ? urls : []).flatMap((params: Json) =>
      isJsonObject(params) ? clientCall("elicitation/create", params) : [],
    ),
  ];
}

/** Requests of a server to its host. Their texts are for people and models, so URLs alone are limited. */
const CLIENT_CALLS: ReadonlyMap<string, Pick<RecordedCall, "operation" | "limited">> = new Map([
  ["sampling/createMessage", { operation: "client:sampling", limited: [] }],
  ["elicitation/create", { operation: "client:elicitation", limited: ["url"] }],
  ["roots/list", { operation: "client:roots", limited: [] }],
]);

function clientCall(method: string, params: JsonObject): readonly RecordedCall[] {
  const call = CLIENT_CALLS.get(method);
  return call === undefined ? [] : [{ ...call, arguments: judged(params) }];
}

/** The parameters that say what is done; the rest belongs to the protocol. */
function judged(params: JsonObject): JsonObject {
  const protocol = ["_meta", "inputResponses", "requestState"];
  return Object.fromEntries(Object.entries(params).filter(([name]) => !protocol.includes(name)));
}

function objectAt(value: JsonObject, name: string): JsonObject | undefined {
  const inner = Object.hasOwn(value, name) ? value[name] : undefined;
  return inner !== undefined && isJsonObject(inner) ? inner : undefined;
}

function one(operation: string, given: JsonObject): LineCalls {
  return { ok: true, calls: [{ operation, arguments: given }] };
}

function refused(reason: string): LineCalls {
  return { ok: false, reason };
}
