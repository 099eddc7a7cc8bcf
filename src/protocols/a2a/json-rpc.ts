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
import { eventText, rpcStatus } from "./answer.js";
import { failedWithin, faultOf, jsonRpcBody } from "./errors.js";
import { isRoot } from "./outline.js";

/** What answers JSON-RPC. */
export interface JsonRpcOptions {
  readonly handler: A2ARequestHandler;
  readonly userBuilder: (req: Request) => Promise<User>;
  /** Called with what could not be answered: its caller learns only that something failed. */
  readonly onFailure: (error: unknown, what: string) => void;
}

/**
 * Answers A2A's JSON-RPC behind `before`, by the SDK's transport. The SDK's own handler for Express answers all with
 * 200, and writes each stream that is refused to the console.
 */
export function jsonRpc({ handler, userBuilder, onFailure }: JsonRpcOptions): RequestHandler {
  const transport = new JsonRpcTransportHandler(handler);
  return async (req, res, next) => {
    // Whatever else there is at the address, or below it, is not JSON-RPC.
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
      // What the app's own onFailure throws is the app's to handle.
      onFailure(error, "answer");
    }
  };
}

/** As the SDK's handler answers, without the settings that an app has for JSON. */
function send(res: Response, answer: unknown, context: ServerCallContext): void {
  const text = JSON.stringify(answer);
  // What stands in front may have given up waiting.
  if (res.headersSent) return;
  const error = isObject(answer) ? answer["error"] : undefined;
  res.statusCode = rpcStatus(isObject(error) ? error["code"] : undefined);
  setExtensions(res, context);
  res.setHeader("Content-Type", "application/json; charset=utf-8");
  res.setHeader("Content-Length", Buffer.byteLength(text));
  res.end(text);
}

/** What the SDK's handler sends with its streams. */
const STREAM_HEADERS = new Map([
  ["Content-Type", "text/event-stream"],
  ["Cache-Control", "no-cache"],
  ["Connection", "keep-alive"],
  // Against proxies of nginx that would hold events back.
  ["X-Accel-Buffering", "no"],
]);

/** Sends events as they come. What fails before the first is an answer as any other, and then the last event. */
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
      // What stands in front may have given up waiting.
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
