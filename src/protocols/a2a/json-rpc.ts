import { A2A_VERSION_HEADER, Extensions, HTTP_EXTENSION_HEADER } from "@a2a-js/sdk";
import {
  JsonRpcTransportHandler,
  ServerCallContext,
  STATE_HEADERS_KEY,
  type User,
} from "@a2a-js/sdk/server";
import { jsonRpcHandler } from "@a2a-js/sdk/server/express";
import type { Request, RequestHandler, Response } from "express";
import { isObject } from "../../bytes/json.js";
import { rpcStatus } from "./answer.js";
import { failedWithin, jsonRpcBody } from "./errors.js";
import type { GuardedHandler } from "./guarded-handler.js";
import { isRoot } from "./places.js";

/**
 * Answers A2A's JSON-RPC behind an entrance. An operation that the entrance has let in goes to the SDK's transport at
 * once: its handler for Express would route the request, look for a body to read and judge the version once more.
 * Streams, and whatever else there is at the address or below it, are left to that handler.
 *
 * @param onFailure - Called with what could not be answered: its caller learns only that something failed.
 */
export function jsonRpc(
  handler: GuardedHandler,
  onFailure: (error: unknown, what: string) => void,
): RequestHandler {
  const transport = new JsonRpcTransportHandler(handler);
  const others = jsonRpcHandler({
    requestHandler: handler,
    userBuilder: async ({ headers }) => handler.waiting(headers)?.user ?? UNKNOWN,
  });
  return (req, res, next) => {
    const { body, headers } = req;
    const user = handler.waiting(headers)?.user;
    if (user === undefined || !isUnary(req)) {
      others(req, res, next);
      return;
    }
    const context = new ServerCallContext({
      requestedExtensions: Extensions.parseServiceParameter(req.get(HTTP_EXTENSION_HEADER)),
      requestedVersion: req.get(A2A_VERSION_HEADER) ?? "",
      user,
      state: new Map([[STATE_HEADERS_KEY, headers]]),
    });
    const answered = transport.handle(body, context).then((answer) => send(res, answer, context));
    const failed = (error: unknown): void => {
      if (!res.headersSent) res.status(500).json(jsonRpcBody(failedWithin(error), body.id));
      onFailure(error, "answer");
    };
    // What the app's own onFailure throws is the app's to handle.
    answered.catch(failed).catch(next);
  };
}

/**
 * Whether a request that was let in is a call with one answer. What stands below the address was judged as HTTP+JSON:
 * its body must not be answered as JSON-RPC.
 */
function isUnary({ method, path, headers, body }: Request): boolean {
  return (
    method === "POST" &&
    isRoot(path) &&
    !STREAMS.includes(body?.method) &&
    JSON_TYPE.test(headers["content-type"] ?? "")
  );
}

/** As the SDK's handler answers, without the settings that an app has for JSON. */
function send(res: Response, answer: unknown, { activatedExtensions }: ServerCallContext): void {
  const text = JSON.stringify(answer);
  // What stands in front may have given up waiting.
  if (res.headersSent) return;
  const error = isObject(answer) ? answer["error"] : undefined;
  res.statusCode = rpcStatus(isObject(error) ? error["code"] : undefined);
  if (activatedExtensions !== undefined) {
    res.setHeader(HTTP_EXTENSION_HEADER, [...activatedExtensions]);
  }
  res.setHeader("Content-Type", "application/json; charset=utf-8");
  res.setHeader("Content-Length", Buffer.byteLength(text));
  res.end(text);
}

const STREAMS: readonly unknown[] = ["SendStreamingMessage", "SubscribeToTask"];
/** What the SDK's handler takes; others it refuses. */
const JSON_TYPE = /^application\/json\s*(?:;|$)/i;
const UNKNOWN: User = { isAuthenticated: false, userName: "" };
