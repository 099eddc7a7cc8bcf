import type { Request, Response } from "express";
import type { IssuingAgent } from "../../agent/issuing-agent.js";
import { isJsonObject, type Json } from "../../bytes/json.js";
import type { Admitted, Call } from "./call.js";
import { CAPABILITY_METHODS } from "./capability-methods.js";
import { fault, malformed, throwRefused } from "./errors.js";
import { EXTENSION_URI, METHODS } from "./extension.js";
import type { Need } from "./outline.js";
import { sentTask } from "./sent-task.js";

/** A call of one of the extension's own JSON-RPC methods, as the gate judges it. */
export interface OwnCall {
  readonly call: Call;
  readonly need: Need;
  /** Runs what the gate has let in; `undefined` for what goes on to the SDK's handler. */
  readonly run: ((admitted: Admitted) => Promise<object>) | undefined;
}

/** Reads a call of a method. @throws Refused where it cannot be read. */
export type OwnMethod = (call: Call, req: Request) => OwnCall | Promise<OwnCall>;

/** The extension's own JSON-RPC methods, by name. */
export type OwnMethods = ReadonlyMap<string, OwnMethod>;

/** Gives the methods that every agent has. @param verificationUri - Where people decide about what is asked for. */
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

/** The JSON-RPC method that a request has called, whatever it goes on as; if it is like the name of one. */
export function calledMethod(req: Request): string | undefined {
  if (sent.has(req)) return METHODS.send;
  const method: unknown = req.body?.method;
  return typeof method === "string" && NAME.test(method) ? method : undefined;
}

const NAME = /^(?:a2a\/)?[A-Za-z]{1,40}(?:\/[A-Za-z]{1,40}){0,2}$/;

const OWN: readonly unknown[] = Object.values(METHODS);

/** Whether a method is one of the extension's own, which the SDK's handler does not know. */
export function isOwnMethod(method: Json | undefined): boolean {
  return OWN.includes(method);
}

/** Reads a call of one of the extension's own methods. @throws Refused where it cannot be read. */
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
