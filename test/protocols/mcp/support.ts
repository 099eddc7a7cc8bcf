import { type ChildProcess, spawn } from "node:child_process";
import { PassThrough, type Readable, type Writable } from "node:stream";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { getRequestListener } from "@hono/node-server";
import {
  type JSONRPCMessage,
  ReadBuffer,
  serializeMessage,
  type Transport,
} from "@modelcontextprotocol/client";
import { createMcpHandler, type McpServer } from "@modelcontextprotocol/server";
import type { Exchange, HostSession } from "../../../src/protocols/mcp/front/exchange.js";
import { serveStdio } from "../../../src/protocols/mcp/front/stdio-front.js";
import { eraOf, type Message } from "../../../src/protocols/mcp/message/message.js";
import type { ServerConnection } from "../../../src/protocols/mcp/server/connection.js";
import { freePort } from "../../support/free-port.js";
import { httpServer } from "../../support/loopback-servers.js";

/**
 * A session that passes all messages between a front and a server on. It connects the two transports without a gate.
 */
export class Relay implements HostSession {
  toHost: (text: string) => Promise<void> = async () => {};
  readonly #server: ServerConnection;
  readonly #exchanges = new Map<string | number, Exchange>();

  constructor(server: ServerConnection) {
    this.#server = server;
    server.onMessage = (text, { forRequest }) => this.#answered(text, forRequest);
  }

  async receive(message: Message, exchange: Exchange): Promise<void> {
    const { id, kind, text } = message;
    if (kind === "request" && id !== undefined) this.#exchanges.set(id, exchange);
    const { signal, headers } = exchange;
    await this.#server.send(text, { signal, headers, era: eraOf(message) });
  }

  async #answered(text: string, origin: string | number | undefined): Promise<void> {
    const { id, method, params } = JSON.parse(text);
    const forRequest = method === undefined ? id : (origin ?? params?.progressToken);
    const exchange = this.#exchanges.get(forRequest);
    if (method === undefined) this.#exchanges.delete(forRequest);
    await (exchange === undefined ? this.toHost(text) : exchange.send(text));
  }

  close(): Promise<void> {
    return this.#server.close();
  }
}

/** A session that records the messages that it receives, and handles them as the test says. */
export class Recorder implements HostSession {
  toHost: (text: string) => Promise<void> = async () => {};
  readonly received: { readonly message: Message; readonly exchange: Exchange }[] = [];
  isClosed = false;
  onReceive: (message: Message, exchange: Exchange) => Promise<void> = async () => {};

  async receive(message: Message, exchange: Exchange): Promise<void> {
    this.received.push({ message, exchange });
    await this.onReceive(message, exchange);
  }

  async close(): Promise<void> {
    this.isClosed = true;
  }
}

/** The official client's transport over two streams. */
export class StreamTransport implements Transport {
  onclose?: () => void;
  onerror?: (error: Error) => void;
  onmessage?: (message: JSONRPCMessage) => void;
  readonly #input: Readable;
  readonly #output: Writable;
  readonly #buffer = new ReadBuffer();

  constructor(input: Readable, output: Writable) {
    this.#input = input;
    this.#output = output;
  }

  async start(): Promise<void> {
    this.#input.on("data", (chunk: Buffer) => {
      this.#buffer.append(chunk);
      for (let one = this.#buffer.readMessage(); one !== null; one = this.#buffer.readMessage()) {
        this.onmessage?.(one);
      }
    });
    this.#input.on("close", () => this.onclose?.());
  }

  async send(message: JSONRPCMessage): Promise<void> {
    this.#output.write(serializeMessage(message));
  }

  async close(): Promise<void> {
    this.#output.end();
  }
}

/** Returns a transport through which the official client reaches a server, over the stdio front. */
export function clientOf(server: ServerConnection): {
  readonly transport: Transport;
  close(): Promise<void>;
} {
  const [input, output] = [new PassThrough(), new PassThrough()];
  const stop = new AbortController();
  const { signal } = stop;
  const session = new Relay(server);
  const over = serveStdio({ session, input, output, signal, log: () => {} });
  const close = (): Promise<void> => {
    stop.abort();
    return over;
  };
  return { transport: new StreamTransport(output, input), close };
}

/**
 * Starts the published "everything" server of 2025-11-25 over Streamable HTTP. @returns The address and the process.
 */
export async function startEverything(): Promise<{ url: URL; process: ChildProcess }> {
  const path = import.meta.resolve("@modelcontextprotocol/server-everything/dist/index.js");
  const port = await freePort();
  const child = spawn(process.execPath, [fileURLToPath(path), "streamableHttp"], {
    env: { ...process.env, PORT: String(port) },
    stdio: "ignore",
  });
  const url = new URL(`http://127.0.0.1:${port}/mcp`);
  for (let tries = 0; tries < 200; tries++) {
    if (
      await fetch(url).then(
        () => true,
        () => false,
      )
    )
      return { url, process: child };
    await sleep(50);
  }
  child.kill();
  throw new Error("the server does not start");
}

/** Serves a server of 2026-07-28, made with the official SDK, over HTTP. @returns The address. */
export async function serveModern(make: () => McpServer): Promise<URL> {
  const { fetch: answer } = createMcpHandler(make, { legacy: "reject" });
  const listener = getRequestListener((request) => answer(request));
  const { url } = await httpServer((req, res) => void listener(req, res));
  return new URL(`${url}/mcp`);
}
