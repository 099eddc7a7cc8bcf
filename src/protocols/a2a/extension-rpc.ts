import type { Request, Response } from "express";
import { isJsonObject, type Json, type JsonObject } from "../../bytes/json.js";
import { answerFault } from "./answer.js";
import type { Call } from "./calls.js";
import { CAPABILITY_METHODS, type MethodOutcome } from "./capability-methods.js";
import type { Gates, Read } from "./entering.js";
import { type Fault, fault, malformed } from "./errors.js";
import { EXTENSION_URI, METHODS } from "./extension.js";
import { asMessage } from "./places.js";
import { sentTask } from "./sent-task.js";

/** The extension's JSON-RPC methods that run something, by name. */
export type OwnMethods = ReadonlyMap<
  string,
  (call: Call, params: JsonObject) => Promise<MethodOutcome>
>;

const sent = new WeakSet<Request>();

/** The JSON-RPC method that a request has called, whatever it goes on as; if it is like the name of one. */
export function calledMethod(req: Request): string | undefined {
  if (sent.has(req)) return METHODS.send;
  const method: unknown = req.body?.method;
  return typeof method === "string" && NAME.test(method) ? method : undefined;
}

const NAME = /^(?:a2a\/)?[A-Za-z]{1,40}(?:\/[A-Za-z]{1,40}){0,2}$/;

/**
 * Answers the extension's own JSON-RPC methods, which the SDK's handler does not know. `a2a/task/send`
 * goes on as the SendMessage that it stands for.
 *
 * @returns What goes on to the SDK's handler.
 */
export async function answerOwnMethod(
  req: Request,
  res: Response,
  read: Read,
  {
    agent,
    methods,
    verificationUri,
  }: Pick<Gates, "agent" | "verificationUri"> & { readonly methods: OwnMethods },
): Promise<Read | "answered"> {
  const body: Json = req.body ?? null;
  const method = isJsonObject(body) ? body["method"] : undefined;
  if (!isJsonObject(body) || !isOwnMethod(method)) return read;
  const { id = null } = body;
  const answer = (why: Fault): "answered" => {
    answerFault(res, "jsonrpc", why, id);
    return "answered";
  };
  const params = body["params"] ?? {};
  res.setHeader("A2A-Extensions", EXTENSION_URI);
  if (!isJsonObject(params)) return answer(malformed('"params" must be an object'));
  const { call, outline } = read;
  if (method === METHODS.send) {
    const task = await sentTask(call, params, agent);
    if (!task.ok) return answer(task.fault);
    sent.add(req);
    req.headers["a2a-version"] = "1.0";
    req.headers["a2a-extensions"] = EXTENSION_URI;
    const message = { message: task.message };
    req.body = { jsonrpc: "2.0", id, method: "SendMessage", params: message };
    return { call: task.call, outline: asMessage(outline, message) };
  }
  const known = CAPABILITY_METHODS.get(method);
  const run =
    known === undefined
      ? methods.get(method)
      : (_: Call, given: JsonObject) => known(agent, call.caller, given, { verificationUri });
  const outcome = await run?.(call, params);
  if (outcome === undefined) {
    return answer(fault(-32601, "there is no such method", "method_not_found"));
  }
  if (!outcome.ok) return answer(outcome.fault);
  res.json({ jsonrpc: "2.0", id, result: outcome.result });
  return "answered";
}

const OWN: readonly string[] = Object.values(METHODS);

/** Whether a method is one of the extension's own. */
export function isOwnMethod(method: Json | undefined): method is string {
  return typeof method === "string" && OWN.includes(method);
}
