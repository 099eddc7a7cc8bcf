import type { AgentDenial } from "../../../agent/refusal.js";
import { type Json, type JsonObject, quotedName } from "../../../bytes/json.js";
import { type GateCall, UNAVAILABLE } from "../authority/gate-authority.js";
import { resourceArguments } from "../authority/resource-call.js";
import { type Edit, inexactNumberIn, type Path } from "../message/edit.js";
import { INVALID_PARAMS } from "../message/error-codes.js";
import { errorText } from "../message/message.js";
import { objectAt, stringAt } from "../message/values.js";
import { ServerError, serverFailure } from "../server/connection.js";
import type { GateParts } from "./gate-parts.js";
import { type HostRequest, judgedParameters } from "./host-request.js";
import { type HostRule, isToolName } from "./methods.js";
import { refusalAnswer } from "./refusal.js";
import { resourceLink } from "./resource-routes.js";
import type { ServerLink } from "./server-link.js";
import { misspeltArgument, misspeltLimit } from "./spellings.js";

/** The call that a request makes, and the server that receives it. */
interface CallTarget {
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
    const { name, other } = misspelt;
    const message = `the argument ${quotedName(name)} differs in case alone from ${quotedName(other)}, which a token limits`;
    return refused(call, message);
  }
  const number = inexactNumberIn(request.message.text, ["params", "arguments"]);
  if (number === undefined) return { kind: "target", target };
  return refused(call, `the number ${number} cannot be kept as it is written; send it as a string`);
}

function targetOf(parts: GateParts, request: HostRequest, rule: CallRule): Promise<FoundTarget> {
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
  if (route === undefined || !isToolName(route.name)) return unavailable(parts, request);
  const { link, name } = route;
  const call = callAt(parts, request, link, name, given);
  if (!authority.holds(presented, call.operation)) return withheld(parts, request, call);
  const tool = await catalog.find(link, name, request);
  if (tool === undefined) {
    authority.refuse(presented, call, [
      { code: "tool_unknown", rule: "name", message: "the server has no such tool" },
    ]);
    return unavailable(parts, request);
  }
  if (tool.isChanged) {
    const message =
      "the server has changed its definition of this tool since it was accepted; " +
      "proviso mcp pins list shows the change, and the user accepts it with proviso mcp pins accept";
    return { kind: "refused", call, denial: { code: "tool_changed", rule: "name", message } };
  }
  const misspelt = misspeltArgument(given, tool.definition.inputSchema);
  if (misspelt !== undefined) {
    const { name: argument, other } = misspelt;
    const message = `the argument ${quotedName(argument)} differs in case alone from ${quotedName(other)}; write it as the tool's schema does`;
    return refused(call, message);
  }
  const edits = renamed(["params", "name"], hostName, name);
  return { kind: "target", target: { link, call, edits } };
}

async function promptTarget(
  parts: GateParts,
  request: HostRequest,
  operation: string,
): Promise<FoundTarget> {
  const { params } = request;
  const hostName = stringAt(params, ["name"]);
  if (hostName === undefined) return invalid(request, "params.name must be a string");
  const route = parts.servers.route(hostName);
  if (route === undefined) return unavailable(parts, request);
  const { link, name } = route;
  const call = callAt(parts, request, link, operation, { ...judgedParameters(params), name });
  const edits = renamed(["params", "name"], hostName, name);
  return targetIfHeld(parts, request, { link, call, edits });
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
  if (link === undefined) return unavailable(parts, request);
  const read = resourceArguments(uri);
  if (read.ok) {
    const call = callAt(parts, request, link, operation, read.arguments);
    const { undecodedPath } = read;
    return targetIfHeld(parts, request, { link, call: { ...call, undecodedPath }, edits: [] });
  }
  const call = callAt(parts, request, link, operation, { uri });
  return parts.authority.holds(request.presented, call.operation)
    ? { kind: "refused", call, denial: read.denial }
    : withheld(parts, request, call);
}

async function completionTarget(
  parts: GateParts,
  request: HostRequest,
  operation: string,
): Promise<FoundTarget> {
  const { params } = request;
  const hostName = stringAt(params, ["ref", "name"]);
  if (hostName !== undefined) {
    const route = parts.servers.route(hostName);
    if (route === undefined) return unavailable(parts, request);
    const { link, name } = route;
    const call = callAt(parts, request, link, operation, judgedParameters(params));
    const edits = renamed(["params", "ref", "name"], hostName, name);
    return targetIfHeld(parts, request, { link, call, edits });
  }
  const uri = stringAt(params, ["ref", "uri"]);
  if (uri === undefined) return invalid(request, "params.ref names no prompt or resource");
  const link = await resourceLink(parts, request, operation, uri);
  if (link === undefined) return unavailable(parts, request);
  const call = callAt(parts, request, link, operation, judgedParameters(params));
  return targetIfHeld(parts, request, { link, call, edits: [] });
}

/** Returns the target if the tokens have the operation of its call; else the refusal of the call. */
async function targetIfHeld(
  parts: GateParts,
  request: HostRequest,
  target: CallTarget,
): Promise<FoundTarget> {
  const { call } = target;
  return parts.authority.holds(request.presented, call.operation)
    ? { kind: "target", target }
    : withheld(parts, request, call);
}

/** Refuses, and records, a call whose operation the tokens lack. */
async function withheld(
  parts: GateParts,
  request: HostRequest,
  call: GateCall,
): Promise<FoundTarget> {
  await parts.authority.decide(request.presented, call);
  return unavailable(parts, request);
}

/** Answers a request for something that is hidden or does not exist. Both get the same answer. */
async function unavailable({ authority }: GateParts, request: HostRequest): Promise<FoundTarget> {
  const denials = (await authority.standing(request.presented)) ?? [UNAVAILABLE];
  return { kind: "answer", text: refusalAnswer(request, denials) };
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
