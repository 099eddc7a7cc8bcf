import type { AgentDenial } from "../../../agent/refusal.js";
import type { Json, JsonObject } from "../../../bytes/json.js";
import type { GateCall } from "../authority/gate-authority.js";
import { resourceArguments } from "../authority/resource-call.js";
import { type Edit, inexactNumberIn, type Path } from "../message/edit.js";
import { errorText, INVALID_PARAMS } from "../message/message.js";
import { objectAt, stringAt } from "../message/values.js";
import { ServerError, serverFailure } from "../server/connection.js";
import type { GateParts } from "./gate-parts.js";
import { type HostRequest, judgedParameters } from "./host-request.js";
import { type HostRule, isToolName } from "./methods.js";
import { refusalAnswer, unknownToolAnswer } from "./refusal.js";
import { resourceLink } from "./resource-routes.js";
import type { ServerLink } from "./server-link.js";
import { misspeltArgument, misspeltLimit } from "./spellings.js";

/** The call that a request makes, and the server that receives it. */
export interface CallTarget {
  readonly link: ServerLink;
  readonly call: GateCall;
  /** Edits of the request that replace the host's name of a tool or a prompt by the server's own name. */
  readonly edits: readonly Edit[];
}

/** The target of a request, the answer to a request without a target, or the gate's own reason to refuse the call. */
export type FoundTarget =
  | { readonly kind: "target"; readonly target: CallTarget }
  | { readonly kind: "answer"; readonly text: string }
  | { readonly kind: "refused"; readonly call: GateCall; readonly denial: AgentDenial };

type CallRule = Extract<HostRule, { by: "call" }>;

/** Finds the target of a request. If the gate asks a server for it and the server fails, the failure is the answer. */
export async function callTarget(
  parts: GateParts,
  request: HostRequest,
  rule: CallRule,
): Promise<FoundTarget> {
  try {
    const found = await targetOf(parts, request, rule);
    return found.kind === "target" ? withExactArguments(parts, request, found.target) : found;
  } catch (error) {
    if (!(error instanceof ServerError)) throw error;
    return { kind: "answer", text: serverFailure(request.id, error) };
  }
}

/** Refuses arguments that a server could read differently. */
function withExactArguments(
  parts: GateParts,
  request: HostRequest,
  target: CallTarget,
): FoundTarget {
  const { call } = target;
  const hops = parts.authority.hops(request.presented);
  const misspelt = misspeltLimit(call.arguments, hops, call.operation);
  if (misspelt !== undefined) {
    const message = `the argument ${JSON.stringify(misspelt)} differs in case alone from one that a token limits`;
    return refused(call, message);
  }
  const number = inexactNumberIn(request.message.text, ["params", "arguments"]);
  if (number === undefined) return { kind: "target", target };
  return refused(call, `the number ${number} cannot be kept as it is written; send it as a string`);
}

function targetOf(
  parts: GateParts,
  request: HostRequest,
  rule: CallRule,
): Promise<FoundTarget> | FoundTarget {
  switch (rule.what) {
    case "tool":
      return toolTarget(parts, request);
    case "prompt":
      return promptTarget(parts, request, rule.operation);
    case "resource":
      return resourceTarget(parts, request, rule.operation, request.params["uri"]);
    case "completion":
      return completionTarget(parts, request, rule.operation);
  }
}

async function toolTarget(parts: GateParts, request: HostRequest): Promise<FoundTarget> {
  const { authority, servers, catalog } = parts;
  const { params, presented } = request;
  const hostName = stringAt(params, ["name"]);
  const given = params["arguments"] === undefined ? {} : objectAt(params, ["arguments"]);
  if (hostName === undefined) return invalid(request, "params.name must be a string");
  if (given === undefined) return invalid(request, "params.arguments must be an object");
  const route = servers.route(hostName);
  if (route === undefined || !isToolName(route.name)) return unknownTool(request);
  const { link, name } = route;
  const call = callAt(parts, request, link, name, given);
  if (!authority.holds(presented, call.operation)) {
    const decision = await authority.decide(presented, call);
    if (decision.allowed || decision.denials.every(({ code }) => code === "operation_denied")) {
      return unknownTool(request);
    }
    return { kind: "answer", text: refusalAnswer(request, decision.denials, decision.remedies) };
  }
  const tool = await catalog.find(link, name, request);
  if (tool === undefined) {
    authority.refuse(presented, call, [
      { code: "tool_unknown", rule: "name", message: "the server has no such tool" },
    ]);
    return unknownTool(request);
  }
  if (tool.isChanged) {
    const message =
      "the server has changed its definition of this tool since it was accepted; " +
      "proviso mcp pins shows the change, and accepts it";
    return { kind: "refused", call, denial: { code: "tool_changed", rule: "name", message } };
  }
  const misspelt = misspeltArgument(given, tool.definition.inputSchema);
  if (misspelt !== undefined) {
    const message = `the argument ${JSON.stringify(misspelt)} differs in case alone from another; write it as the tool's schema does`;
    return refused(call, message);
  }
  const edits = renamed(["params", "name"], hostName, name);
  return { kind: "target", target: { link, call, edits } };
}

function promptTarget(parts: GateParts, request: HostRequest, operation: string): FoundTarget {
  const { params } = request;
  const hostName = stringAt(params, ["name"]);
  if (hostName === undefined) return invalid(request, "params.name must be a string");
  const route = parts.servers.route(hostName);
  if (route === undefined) return invalid(request, "there is no such prompt");
  const { link, name } = route;
  const call = callAt(parts, request, link, operation, { ...judgedParameters(params), name });
  const edits = renamed(["params", "name"], hostName, name);
  return { kind: "target", target: { link, call, edits } };
}

/**
 * Finds the target of a request for one resource. A request for several resources has one target for each URI.
 *
 * @param uri - The value that the host sent as the URI. It may be any JSON value.
 */
export async function resourceTarget(
  parts: GateParts,
  request: HostRequest,
  operation: string,
  uri: Json | undefined,
): Promise<FoundTarget> {
  if (typeof uri !== "string") return invalid(request, "the URI of a resource must be a string");
  const link = await resourceLink(parts, request, operation, uri);
  if (link === undefined) return invalid(request, "there is no such resource");
  const read = resourceArguments(uri);
  if (!read.ok) {
    const call = callAt(parts, request, link, operation, { uri });
    return { kind: "refused", call, denial: read.denial };
  }
  const call = callAt(parts, request, link, operation, read.arguments);
  const { undecodedPath } = read;
  return { kind: "target", target: { link, call: { ...call, undecodedPath }, edits: [] } };
}

async function completionTarget(
  parts: GateParts,
  request: HostRequest,
  operation: string,
): Promise<FoundTarget> {
  const { params } = request;
  const noReference = "params.ref names no prompt or resource";
  const hostName = stringAt(params, ["ref", "name"]);
  if (hostName !== undefined) {
    const route = parts.servers.route(hostName);
    if (route === undefined) return invalid(request, noReference);
    const { link, name } = route;
    const call = callAt(parts, request, link, operation, judgedParameters(params));
    const edits = renamed(["params", "ref", "name"], hostName, name);
    return { kind: "target", target: { link, call, edits } };
  }
  const uri = stringAt(params, ["ref", "uri"]);
  const link = uri === undefined ? undefined : await resourceLink(parts, request, operation, uri);
  if (link === undefined) return invalid(request, noReference);
  const call = callAt(parts, request, link, operation, judgedParameters(params));
  return { kind: "target", target: { link, call, edits: [] } };
}

function callAt(
  { servers }: GateParts,
  { method }: HostRequest,
  link: ServerLink,
  operation: string,
  given: JsonObject,
): GateCall {
  const { name: server } = link;
  return { operation: servers.operation(link, operation), arguments: given, method, server };
}

/** Returns the edit that replaces the host's name of a tool or a prompt by the server's own name, if they differ. */
function renamed(path: Path, hostName: string, name: string): readonly Edit[] {
  return name === hostName ? [] : [{ path, value: name }];
}

function unknownTool(request: HostRequest): FoundTarget {
  return { kind: "answer", text: unknownToolAnswer(request) };
}

function invalid(request: HostRequest, message: string): FoundTarget {
  return { kind: "answer", text: errorText(request.id, INVALID_PARAMS, message) };
}

function refused(call: GateCall, message: string): FoundTarget {
  return {
    kind: "refused",
    call,
    denial: { code: "arguments_invalid", rule: "arguments", message },
  };
}
