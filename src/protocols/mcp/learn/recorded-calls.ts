import type { Json, JsonObject } from "../../../bytes/json.js";
import { shown } from "../../../caveats/scalar.js";
import { resourceArguments } from "../authority/resource-call.js";
import { judgedParameters } from "../gate/host-request.js";
import { hostRequestRule, isToolName, OPERATIONS, serverRequestRule } from "../gate/methods.js";
import { inexactNumberIn } from "../message/edit.js";
import { URL_ELICITATION_REQUIRED } from "../message/error-codes.js";
import { HOST_LIMITS, type Message, readMessage, SERVER_LIMITS } from "../message/message.js";
import { listAt, objectAt, stringAt, valueAt } from "../message/values.js";
import type { RecordedCall } from "./learned-limits.js";
import type { RecordedLine } from "./recording.js";

/** A recorded line as a gate reads it. */
interface ReadLine {
  /** The message; `undefined` if the line is not a message. */
  readonly message: Message | undefined;
  readonly asks: LineCalls;
}

/** The calls in a recorded line. */
type LineCalls =
  | { readonly ok: true; readonly calls: readonly RecordedCall[] }
  /** A gate would refuse the line with any token. The reason is a clause, such as `a tools/call is malformed`. */
  | { readonly ok: false; readonly reason: string };

const NONE: LineCalls = { ok: true, calls: [] };

/** Reads a line, and the calls in it that a gate judges: calls of the host, and requests of the server to the host. */
export function readLine({ from, text }: RecordedLine): ReadLine {
  const isHost = from === "host";
  const read = readMessage(text, isHost ? HOST_LIMITS : SERVER_LIMITS);
  // A server may also write lines that are no messages, and a host may write blank lines. Neither is an error.
  if (!read.ok) return { message: undefined, asks: isHost && text.trim() !== "" ? read : NONE };
  const { message } = read;
  const asks: LineCalls = isHost ? hostCalls(message) : { ok: true, calls: serverCalls(message) };
  return { message, asks };
}

function hostCalls({ text, value, method = "", kind }: Message): LineCalls {
  if (kind !== "request") return NONE;
  // A method of both eras is judged by the same rule in both.
  const rule = hostRequestRule(method, "old") ?? hostRequestRule(method, "new");
  const params = objectAt(value, ["params"]) ?? {};
  if (rule?.by === "listen") {
    return subscriptions(listAt(params, ["notifications", "resourceSubscriptions"]) ?? []);
  }
  if (rule?.by !== "call") return NONE;
  const number = inexactNumberIn(text, ["params", "arguments"]);
  if (number !== undefined) return refused(`the number ${number} cannot be kept as it is written`);
  if (rule.what === "tool") return toolCall(params);
  if (rule.what === "resource") return resourceCall(rule.operation, params["uri"]);
  return one(rule.operation, judgedParameters(params));
}

function toolCall(params: JsonObject): LineCalls {
  const name = stringAt(params, ["name"]);
  const given = params["arguments"] === undefined ? {} : objectAt(params, ["arguments"]);
  if (name === undefined || given === undefined) return refused("a tools/call is malformed");
  return isToolName(name) ? one(name, given) : refused(`no tool may have the name ${shown(name)}`);
}

function resourceCall(operation: string, uri: Json | undefined): LineCalls {
  if (typeof uri !== "string") return refused("the URI of a resource is no string");
  const read = resourceArguments(uri);
  return read.ok ? one(operation, read.arguments) : refused(read.denial.message);
}

function subscriptions(uris: readonly Json[]): LineCalls {
  const read = uris.map((uri) => resourceCall(OPERATIONS.subscribe, uri));
  const bad = read.find(({ ok }) => !ok);
  return bad ?? { ok: true, calls: read.flatMap((found) => (found.ok ? found.calls : [])) };
}

/** Returns the requests of a server to the host: its own requests, and the requests in its answers. */
function serverCalls({ value, method, kind }: Message): readonly RecordedCall[] {
  if (kind === "request") return clientCall(method, objectAt(value, ["params"]));
  const asked = Object.values(objectAt(value, ["result", "inputRequests"]) ?? {});
  const needsUrls = valueAt(value, ["error", "code"]) === URL_ELICITATION_REQUIRED;
  const urls = needsUrls ? (listAt(value, ["error", "data", "elicitations"]) ?? []) : [];
  return [
    ...asked.flatMap((input) =>
      clientCall(stringAt(input, ["method"]), objectAt(input, ["params"])),
    ),
    ...urls.flatMap((params) => clientCall("elicitation/create", objectAt(params, []))),
  ];
}

function clientCall(method = "", params: JsonObject = {}): readonly RecordedCall[] {
  const rule = serverRequestRule(method);
  if (rule?.by !== "client") return [];
  // The remaining arguments are texts for people and models, which get no limits.
  const limited = rule.operation === OPERATIONS.elicit ? ["url"] : [];
  return [{ operation: rule.operation, arguments: judgedParameters(params), limited }];
}

function one(operation: string, given: JsonObject): LineCalls {
  return { ok: true, calls: [{ operation, arguments: given }] };
}

function refused(reason: string): LineCalls {
  return { ok: false, reason };
}
