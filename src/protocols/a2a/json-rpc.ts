import { A2A_VERSION_HEADER, Extensions, HTTP_EXTENSION_HEADER } from "@a2a-js/sdk";
import { toJsonRpcError } from "@a2a-js/sdk/errors";
import {
  type A2ARequestHandler,
  defaultServerCallContextBuilder,
  JsonRpcTransportHandler,
  type ServerCallContext,
  type User,
} from "@a2a-js/sdk/server";
import type { Request, RequestHandler, Response } from "express";
import { isObject } from "../../bytes/json.js";
import { invalidRequest } from "../../http/fault.js";
import { eventText, isPlainText, LONGEST_ID, rpcStatus } from "./answer.js";
import { failedWithin, faultFromHttp, faultOf, jsonRpcBody, throwRefused } from "./errors.js";
import { METHODS } from "./extension.js";
import { isRoot } from "./outline.js";

export interface JsonRpcOptions {
  readonly handler: A2ARequestHandler;
  readonly userBuilder: (req: Request) => Promise<User>;
  /** Called with each internal error. The client learns only that an error occurred. */
  readonly onFailure: (error: unknown, what: string) => void;
}

/**
 * Answers the JSON-RPC requests that `before` has passed on, through the SDK's transport. The SDK's own Express
 * handler is not used: it answers every request with 200, and prints each refused stream to the console.
 */
export function jsonRpc({ handler, userBuilder, onFailure }: JsonRpcOptions): RequestHandler {
  const transport = new JsonRpcTransportHandler(handler);
  return async (req, res, next) => {
    // Requests with other HTTP methods, or to paths below this one, are not JSON-RPC.
    if (req.method !== "POST" || !isRoot(req.path)) return next();
    const { body, headers } = req;
    try {
      const context = defaultServerCallContextBuilder({
        user: await userBuilder(req),
        extensions: Extensions.parseServiceParameter(req.get(HTTP_EXTENSION_HEADER)),
        headers,
        requestedVersion: req.get(A2A_VERSION_HEADER) ?? "",
      });
      const answer = await transport.handle(body, context);
      if (Symbol.asyncIterator in answer)
        await sendStream(res, answer, body.id, context, onFailure);
      else send(res, answer, context);
    } catch (error) {
      if (!res.headersSent) res.status(500).json(jsonRpcBody(failedWithin(error), body.id));
      // Called after the answer is sent, because the app's own `onFailure` may throw.
      onFailure(error, "answer");
    }
  };
}

/**
 * Sends JSON as the SDK's handler does. Does not use Express's `res.json`, which applies the app's settings for
 * JSON.
 */
function send(res: Response, answer: unknown, context: ServerCallContext): void {
  const text = JSON.stringify(answer);
  // Other middleware may have answered, for example after a timeout.
  if (res.headersSent) return;
  const error = isObject(answer) ? answer["error"] : undefined;
  res.statusCode = rpcStatus(isObject(error) ? error["code"] : undefined);
  setExtensions(res, context);
  res.setHeader("Content-Type", "application/json; charset=utf-8");
  res.setHeader("Content-Length", Buffer.byteLength(text));
  res.end(text);
}

/** The headers that the SDK's handler sends with streams. */
const STREAM_HEADERS = new Map([
  ["Content-Type", "text/event-stream"],
  ["Cache-Control", "no-cache"],
  ["Connection", "keep-alive"],
  // Stops nginx from buffering events.
  ["X-Accel-Buffering", "no"],
]);

/**
 * Sends events as they arrive. An error before the first event becomes an ordinary answer; a later error
 * becomes the last event.
 */
async function sendStream(
  res: Response,
  events: AsyncIterable<unknown>,
  id: unknown,
  context: ServerCallContext,
  onFailure: JsonRpcOptions["onFailure"],
): Promise<void> {
  let hasBegun = false;
  const begin = (): void => {
    setExtensions(res, context);
    res.setHeaders(STREAM_HEADERS);
    res.flushHeaders();
    hasBegun = true;
  };
  try {
    for await (const event of events) {
      if (!hasBegun && !res.headersSent) begin();
      // Other middleware may have answered, for example after a timeout.
      if (res.writableEnded) return;
      res.write(eventText(event));
    }
    if (!res.headersSent) begin();
    if (hasBegun) res.end();
  } catch (error) {
    if (faultOf(error) === undefined) onFailure(error, "stream");
    const answer = { jsonrpc: "2.0", id: id ?? null, error: toJsonRpcError(error) };
    if (!hasBegun) send(res, answer, context);
    else if (!res.writableEnded) res.end(`event: error\n${eventText(answer)}`);
  }
}

function setExtensions(res: Response, { activatedExtensions }: ServerCallContext): void {
  if (activatedExtensions === undefined) return;
  res.setHeader(HTTP_EXTENSION_HEADER, [...activatedExtensions]);
}

/** The methods that the SEP defines. As in the SEP's examples, requests for them may omit "jsonrpc". */
const AS_WRITTEN: readonly unknown[] = [
  METHODS.request,
  METHODS.attenuate,
  METHODS.invoke,
  METHODS.send,
];
/**
 * The extension's methods that the SEP does not define. Requests for them must have an "id". Requests for all
 * other methods may omit "id", because A2A has no notifications.
 */
const WITH_ID: readonly unknown[] = [METHODS.collect, METHODS.revoke, METHODS.introspect];

/**
 * Validates a body as a JSON-RPC 2.0 request (section 4).
 *
 * @throws Refused if the body is not a request. The answer then has `id: null`.
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
