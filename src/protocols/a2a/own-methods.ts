import { randomUUID } from "node:crypto";
import type { Request, Response } from "express";
import type { IssuingAgent } from "../../agent/issuing-agent.js";
import type { AuthenticatedCapability } from "../../agent/presented.js";
import { isJsonObject, type Json, type JsonObject } from "../../bytes/json.js";
import type { HopInit } from "../../caveats/hop.js";
import type { Admitted, Call } from "./call.js";
import { assertMembersOf, attenuated, CAPABILITY_METHODS } from "./capability-methods.js";
import { denialFault, fault, malformed, throwRefused } from "./errors.js";
import { EXTENSION_URI, METHODS } from "./extension.js";
import { asMessage, type Need } from "./outline.js";

/** A parsed call of one of the extension's own JSON-RPC methods. */
export interface OwnCall {
  readonly call: Call;
  readonly need: Need;
  /** Runs the admitted call; `undefined` if the SDK's handler runs it. */
  readonly run: ((admitted: Admitted) => Promise<object>) | undefined;
}

/**
 * Parses a call of one method.
 *
 * @throws Refused if a parameter is invalid.
 */
export type OwnMethod = (call: Call, req: Request) => OwnCall | Promise<OwnCall>;

/** The extension's own JSON-RPC methods, by name. */
export type OwnMethods = ReadonlyMap<string, OwnMethod>;

/**
 * Returns the methods that every agent has.
 *
 * @param verificationUri - The URL where people decide requests.
 */
export function ownMethods(agent: IssuingAgent, verificationUri?: string): Map<string, OwnMethod> {
  const methods = new Map<string, OwnMethod>();
  for (const [name, method] of CAPABILITY_METHODS) {
    methods.set(name, (call) => {
      const { caller, outline } = call;
      const run = async (): Promise<object> =>
        (await method(agent, caller, outline.params, { verificationUri })).result;
      return { call, need: "caller", run };
    });
  }
  methods.set(METHODS.send, async (call, req) => {
    const sending = await sentTask(call, agent);
    sent.add(req);
    req.headers["a2a-version"] = "1.0";
    req.headers["a2a-extensions"] = EXTENSION_URI;
    const { id = null } = req.body;
    req.body = { jsonrpc: "2.0", id, method: "SendMessage", params: sending.outline.params };
    return { call: sending, need: "message", run: undefined };
  });
  return methods;
}

const sent = new WeakSet<Request>();

/** Returns the JSON-RPC method of a request, for the log; `undefined` if the value cannot be a method name. */
export function calledMethod(req: Request): string | undefined {
  if (sent.has(req)) return METHODS.send;
  const method: unknown = req.body?.method;
  return typeof method === "string" && NAME.test(method) ? method : undefined;
}

const NAME = /^(?:a2a\/)?[A-Za-z]{1,40}(?:\/[A-Za-z]{1,40}){0,2}$/;

const OWN: readonly unknown[] = Object.values(METHODS);

/** Returns whether the extension defines a method. The SDK's handler knows none of these methods. */
export function isOwnMethod(method: Json | undefined): boolean {
  return OWN.includes(method);
}

/**
 * Parses a call of one of the extension's own methods.
 *
 * @throws Refused if the method is unknown, or a parameter is invalid.
 */
export async function readOwn(
  req: Request,
  res: Response,
  call: Call,
  methods: OwnMethods,
): Promise<OwnCall> {
  res.setHeader("A2A-Extensions", EXTENSION_URI);
  const params: Json = req.body.params ?? {};
  if (!isJsonObject(params)) return throwRefused(malformed('"params" must be an object'));
  const method = methods.get(String(call.outline.method));
  if (method !== undefined) return method(call, req);
  return throwRefused(fault(-32601, "there is no such method", "method_not_found"));
}

const MEMBERS = ["message", "attenuations", "capabilityId", "token", "capabilities", "metadata"];

/**
 * Parses a call of `a2a/task/send`, the SEP's name for SendMessage. `params` has the `message`, its
 * `capabilities`, and their `attenuations`: an object that maps a capability's id to a hop. The hop narrows the
 * capability before the task gets it. With attenuations, the task gets only the capabilities in `capabilities`.
 *
 * @returns The equivalent call of SendMessage.
 * @throws Refused if a parameter is invalid, or a hop cannot narrow its capability.
 */
async function sentTask(call: Call, agent: IssuingAgent): Promise<Call> {
  const { params } = call.outline;
  assertMembersOf(params, MEMBERS);
  const message = readMessage(params["message"]);
  if (message === undefined)
    return throwRefused(malformed('"message" must be an object with "parts"'));
  const outline = asMessage(call.outline, { message });
  const { attenuations } = params;
  if (attenuations === undefined) return { ...call, outline };
  return { ...call, outline, asked: attenuations, capabilities: await narrowed(call, agent) };
}

/** Returns the capabilities of a call. A capability with a hop in `attenuations` is narrowed by that hop. */
async function narrowed(
  { caller, capabilities: presented, outline: { params } }: Call,
  agent: IssuingAgent,
): Promise<readonly AuthenticatedCapability[]> {
  const { attenuations, capabilities: listed } = params;
  if (attenuations === undefined || !isJsonObject(attenuations)) {
    return throwRefused(malformed('"attenuations" must be an object: id of a capability to hop'));
  }
  if (!Array.isArray(listed) || presented.length > listed.length) {
    const message = 'with "attenuations", "capabilities" is the whole list, with nothing beside it';
    return throwRefused(malformed(message));
  }
  const capabilities: AuthenticatedCapability[] = [];
  const ids = new Set<string>();
  for (const one of await agent.authenticate(caller, presented)) {
    if (!one.ok) return throwRefused(denialFault(one.denials));
    const { id } = one.token.identifier;
    ids.add(id);
    const hop = Object.hasOwn(attenuations, id) ? attenuations[id] : undefined;
    if (hop === undefined) {
      capabilities.push(one);
      continue;
    }
    if (!isJsonObject(hop))
      return throwRefused(malformed("an attenuation must be an object: a hop"));
    const outcome = await attenuated(agent.attenuate(caller, one, hop as HopInit));
    capabilities.push(outcome.presented);
  }
  const stray = Object.keys(attenuations).find((id) => !ids.has(id));
  if (stray === undefined) return capabilities;
  return throwRefused(
    malformed(`"attenuations" names ${stray.slice(0, 64)}, which "capabilities" does not`),
  );
}

const ROLES: Readonly<Record<string, string>> = { user: "ROLE_USER", agent: "ROLE_AGENT" };

/** Converts a message from the form of the SEP's examples to the form of A2A 1.0. */
function readMessage(value: Json | undefined): JsonObject | undefined {
  if (value === undefined || !isJsonObject(value) || !Array.isArray(value["parts"]))
    return undefined;
  const { role, messageId, ...others } = value;
  const parts = value["parts"].map((part: Json) => {
    if (!isJsonObject(part)) return part;
    // Up to A2A 0.3, parts had their type in "kind" or "type".
    const { type: _type, kind: _kind, ...content } = part;
    return content;
  });
  return {
    ...others,
    parts,
    role: typeof role === "string" ? (ROLES[role] ?? role) : "ROLE_USER",
    messageId: typeof messageId === "string" && messageId !== "" ? messageId : randomUUID(),
  };
}
