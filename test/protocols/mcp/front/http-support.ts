import { once } from "node:events";
import { type IncomingMessage, request as requestHttp } from "node:http";
import { pino } from "pino";
import { expect, onTestFinished } from "vitest";
import {
  type HttpFront,
  type HttpFrontOptions,
  serveHttp,
} from "../../../../src/protocols/mcp/front/http-front.js";
import { Recorder } from "../support.js";

export const never: Promise<never> = new Promise<never>(() => {});

export interface ServedFront {
  readonly front: HttpFront;
  readonly url: URL;
  readonly sessions: Recorder[];
  /** For each session, whether it was opened as stateless. */
  readonly opened: boolean[];
  /** Functions that end the servers of a session. */
  readonly ends: (() => void)[];
}

/** Starts a front whose sessions record the messages that they receive. */
export async function served(options: Partial<HttpFrontOptions> = {}): Promise<ServedFront> {
  const sessions: Recorder[] = [];
  const opened: boolean[] = [];
  const ends: (() => void)[] = [];
  const front = await serveHttp({
    address: {},
    log: pino({ level: "silent" }),
    grace: 200,
    opening: async () => ({ opener: "alice", credentials: [] }),
    callerOf: async () => "alice",
    open: async (stateless) => {
      const session = new Recorder();
      session.onReceive = async ({ id, kind }, { send }) => {
        if (kind === "request") await send(JSON.stringify({ jsonrpc: "2.0", id, result: {} }));
      };
      sessions.push(session);
      opened.push(stateless);
      const ended = new Promise<void>((resolve) => void ends.push(resolve));
      return { session, ended };
    },
    ...options,
  });
  onTestFinished(() => front.close());
  return { front, url: new URL(front.url), sessions, opened, ends };
}

export interface Reply {
  readonly status: number;
  readonly headers: IncomingMessage["headers"];
  readonly text: string;
}

export type Headers = { readonly [name: string]: string };

/** Sends a request, and returns the response without reading its body. */
export async function open(
  url: URL,
  method: string,
  headers: Headers,
  body?: string | Buffer,
): Promise<IncomingMessage> {
  const sent = requestHttp(url, { method, headers });
  sent.on("error", () => {});
  sent.end(body);
  const [res]: IncomingMessage[] = await once(sent, "response");
  if (res === undefined) throw new Error("no response");
  return res;
}

export async function ask(
  url: URL,
  method: string,
  headers: Headers,
  body?: string | Buffer,
): Promise<Reply> {
  const res = await open(url, method, headers, body);
  let text = "";
  for await (const chunk of res) text += chunk;
  return { status: res.statusCode ?? 0, headers: res.headers, text };
}

export const POST = {
  "content-type": "application/json",
  accept: "application/json, text/event-stream",
};

export const post = (url: URL, body: string | Buffer, headers: Headers = {}): Promise<Reply> =>
  ask(url, "POST", { ...POST, ...headers }, body);

export const call = (id: number, method: string, params: object = {}): string =>
  JSON.stringify({ jsonrpc: "2.0", id, method, params });

const META = {
  "io.modelcontextprotocol/protocolVersion": "2026-07-28",
  "io.modelcontextprotocol/clientCapabilities": {},
};
export const modern = (id: number, method: string, params: object = {}): string =>
  call(id, method, { ...params, _meta: META });
export const MODERN = { "mcp-protocol-version": "2026-07-28" };

export const codeOf = ({ text }: Reply): unknown => JSON.parse(text).error.code;

/** Opens a session of the old era. */
export async function initialized(url: URL): Promise<Headers> {
  const { status, headers } = await post(url, call(1, "initialize"));
  expect(status).toBe(200);
  return { "mcp-session-id": String(headers["mcp-session-id"]) };
}

/** A promise, and the function that fulfils it. */
export function deferred(): { readonly promise: Promise<void>; resolve(): void } {
  let resolve = (): void => {};
  const promise = new Promise<void>((fulfil) => {
    resolve = fulfil;
  });
  return { promise, resolve: () => resolve() };
}
