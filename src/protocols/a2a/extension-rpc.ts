import type { RequestHandler } from "express";
import { isJsonObject, type Json } from "../../bytes/json.js";
import { callerOf } from "../../http/callers.js";
import { answerFault } from "./answer.js";
import { CAPABILITY_METHODS, type MethodOutcome } from "./capability-methods.js";
import { fault } from "./errors.js";
import { EXTENSION_URI, METHODS } from "./extension.js";
import { presentedOf } from "./presentation.js";
import type { PresentedReading } from "./presented.js";
import { invokeSkill, type SkillMethodContext, sendTask } from "./skill-methods.js";

/**
 * The extension's own JSON-RPC methods, which the SDK's handler does not know: put ahead of it.
 * Requests for other methods pass on.
 */
export function extensionMethods(context: SkillMethodContext): RequestHandler {
  return async (req, res, next) => {
    // Whatever else there is at the address, or below it, is not JSON-RPC.
    if (req.method !== "POST" || req.path !== "/") return next();
    const body: Json = req.body ?? null;
    const method = isJsonObject(body) ? body["method"] : undefined;
    if (!isJsonObject(body) || typeof method !== "string" || !isOwn(method)) return next();
    const lenient = AS_WRITTEN.includes(method);
    const { id = lenient ? null : undefined, jsonrpc = lenient ? "2.0" : undefined } = body;
    if (jsonrpc !== "2.0" || !(isId(id) || (lenient && id === null))) {
      const message = 'a request has "jsonrpc": "2.0" and an "id" that is a text or a number';
      return answerFault(res, "jsonrpc", fault(-32600, message, "invalid_request"), id);
    }
    const params = body["params"] ?? {};
    let outcome: MethodOutcome;
    try {
      outcome = isJsonObject(params)
        ? await call(method, callerOf(req), params, context, presentedOf(req))
        : { ok: false, fault: fault(-32602, '"params" must be an object', "invalid_request") };
    } catch (error) {
      context.onFailure(error, method);
      outcome = { ok: false, fault: fault(-32603, "internal error", "internal_error") };
    }
    res.setHeader("A2A-Extensions", EXTENSION_URI);
    res.setHeader("Cache-Control", "no-store");
    if (!outcome.ok) return answerFault(res, "jsonrpc", outcome.fault, id);
    return res.json({ jsonrpc: "2.0", id, result: outcome.result });
  };
}

/**
 * The SEP's own methods, in whose examples "id" and "jsonrpc" are left out: answered like any other,
 * with `id: null`, though JSON-RPC would have them be notifications.
 */
const AS_WRITTEN: readonly string[] = [
  METHODS.request,
  METHODS.attenuate,
  METHODS.invoke,
  METHODS.send,
];
const OWN: readonly string[] = Object.values(METHODS);

function isOwn(method: string): boolean {
  return OWN.includes(method);
}

function isId(id: Json | undefined): id is string | number {
  return typeof id === "string" || typeof id === "number";
}

async function call(
  method: string,
  caller: ReturnType<typeof callerOf>,
  params: { readonly [name: string]: Json },
  context: SkillMethodContext,
  presented: PresentedReading,
): Promise<MethodOutcome> {
  if (method === METHODS.invoke) return invokeSkill(caller, params, context, presented);
  if (method === METHODS.send) return sendTask(caller, params, context, presented);
  const known = CAPABILITY_METHODS.get(method);
  if (known !== undefined) return known(context.agent, caller, params);
  return { ok: false, fault: fault(-32601, "there is no such method", "method_not_found") };
}
