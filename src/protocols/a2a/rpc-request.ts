import type { Request } from "express";
import { isObject } from "../../bytes/json.js";
import { invalidRequest } from "../../http/fault.js";
import { isPlainText, LONGEST_ID } from "./answer.js";
import { faultFromHttp, throwRefused } from "./errors.js";
import { METHODS } from "./extension.js";

/** The proposal's own methods, which may leave out "jsonrpc", as its examples do. */
const AS_WRITTEN: readonly unknown[] = [
  METHODS.request,
  METHODS.attenuate,
  METHODS.invoke,
  METHODS.send,
];
/** The other methods of the extension. All else may leave out "id": A2A has no notifications. */
const WITH_ID: readonly unknown[] = [METHODS.collect, METHODS.revoke, METHODS.introspect];

/**
 * Checks a body as a request of JSON-RPC 2.0 (section 4).
 *
 * @throws Refused, to be answered with `id: null`, for what is no request.
 */
export function assertRpcRequest(req: Request): void {
  const body: unknown = req.body;
  if (!isObject(body) || req.headers["content-length"] === "0") {
    const message = "the body is empty: it must be one JSON object";
    throwRefused(faultFromHttp({ status: 400, reason: "parse_error", message }));
  }
  const { jsonrpc, id, method } = body;
  const version = jsonrpc === undefined && AS_WRITTEN.includes(method) ? "2.0" : jsonrpc;
  if (version !== "2.0") refuseRequest('a request must have "jsonrpc": "2.0"');
  if (typeof method !== "string" || method === "") {
    refuseRequest('"method" must be the name of a method, a string');
  }
  if (!isId(id ?? null) || ((id ?? null) === null && WITH_ID.includes(method))) {
    refuseRequest(`"id" must be a whole number, or at most ${LONGEST_ID} printable characters`);
  }
}

function isId(id: unknown): boolean {
  return id === null || Number.isInteger(id) || (typeof id === "string" && isPlainText(id));
}

function refuseRequest(message: string): never {
  throwRefused(faultFromHttp(invalidRequest(message)));
}
