import { A2A_VERSION_HEADER, Extensions, HTTP_EXTENSION_HEADER } from "@a2a-js/sdk";
import {
  JsonRpcTransportHandler,
  ServerCallContext,
  STATE_HEADERS_KEY,
  type User,
} from "@a2a-js/sdk/server";
import { jsonRpcHandler } from "@a2a-js/sdk/server/express";
import type { Request, RequestHandler, Response } from "express";
import type { GuardedHandler } from "./guarded-handler.js";

/**
 * Answers A2A's JSON-RPC behind an entrance. An operation that the entrance has let in goes to the SDK's transport at
 * once: its handler for Express would route the request, look for a body to read and judge the version once more.
 * Streams, and what was not let in, are left to that handler.
 */
export function jsonRpc(handler: GuardedHandler): RequestHandler {
  const transport = new JsonRpcTransportHandler(handler);
  const userOf = ({ headers }: Pick<Request, "headers">): User =>
    handler.waiting(headers)?.user ?? UNKNOWN;
  const others = jsonRpcHandler({
    requestHandler: handler,
    userBuilder: async (req) => userOf(req),
  });
  return (req, res, next) => {
    const { body, headers } = req;
    const isWaiting = handler.waiting(headers) !== undefined;
    if (!isWaiting || STREAMS.includes(body.method) || !JSON_TYPE.test(typeOf(req))) {
      others(req, res, next);
      return;
    }
    const context = new ServerCallContext({
      requestedExtensions: Extensions.parseServiceParameter(req.get(HTTP_EXTENSION_HEADER)),
      requestedVersion: req.get(A2A_VERSION_HEADER) ?? "",
      user: userOf(req),
      state: new Map([[STATE_HEADERS_KEY, headers]]),
    });
    transport
      .handle(body, context)
      .then((answer) => send(res, answer, context))
      .catch(next);
  };
}

/** As the SDK's handler answers, without the settings of the app. */
function send(res: Response, answer: unknown, { activatedExtensions }: ServerCallContext): void {
  const text = JSON.stringify(answer);
  if (activatedExtensions !== undefined) {
    res.setHeader(HTTP_EXTENSION_HEADER, [...activatedExtensions]);
  }
  res.setHeader("Content-Type", "application/json; charset=utf-8");
  res.setHeader("Content-Length", Buffer.byteLength(text));
  res.end(text);
}

function typeOf({ headers }: Pick<Request, "headers">): string {
  return headers["content-type"] ?? "";
}

const STREAMS: readonly unknown[] = ["SendStreamingMessage", "SubscribeToTask"];
/** What the SDK's handler takes; others it refuses. */
const JSON_TYPE = /^application\/json\s*(?:;|$)/i;
const UNKNOWN: User = { isAuthenticated: false, userName: "" };
