import type { Readable, Writable } from "node:stream";
import {
  type JSONRPCMessage,
  ReadBuffer,
  serializeMessage,
  type Transport,
} from "@modelcontextprotocol/client";
import type { Exchange, HostSession } from "../../../src/protocols/mcp/front/exchange.js";
import { eraOf, type Message } from "../../../src/protocols/mcp/message/message.js";
import type { ServerConnection } from "../../../src/protocols/mcp/server/connection.js";

/** A session that passes everything on to one server and back: the two transports, with no gate in between. */
export class Relay implements HostSession {
  toHost: (text: string) => Promise<void> = async () => {};
  readonly #server: ServerConnection;
  readonly #exchanges = new Map<string | number, Exchange>();

  constructor(server: ServerConnection) {
    this.#server = server;
    server.onMessage = (text) => this.#answered(text);
  }

  async receive(message: Message, exchange: Exchange): Promise<void> {
    const { id, kind, text } = message;
    if (kind === "request" && id !== undefined) this.#exchanges.set(id, exchange);
    const { signal, headers } = exchange;
    await this.#server.send(text, { signal, headers, era: eraOf(message) });
  }

  async #answered(text: string): Promise<void> {
    const { id, method, params } = JSON.parse(text);
    const forRequest = method === undefined ? id : params?.progressToken;
    const exchange = this.#exchanges.get(forRequest);
    if (method === undefined) this.#exchanges.delete(forRequest);
    await (exchange === undefined ? this.toHost(text) : exchange.send(text));
  }

  close(): Promise<void> {
    return this.#server.close();
  }
}

/** The official client's end of two streams. */
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
