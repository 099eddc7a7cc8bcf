import { once } from "node:events";
import type { JSONRPCMessage, Transport } from "@modelcontextprotocol/client";
import { jsonRpcEnds } from "../../../../bytes/json-rpc-ends.js";
import { LineSplitter, type SplitLine } from "../../../../bytes/line-splitter.js";
import { PipedChild } from "../../../../system/piped-child.js";
import type { ReadyServer } from "./ready-server.js";

/**
 * The JSON-RPC error code for an answer that is too long. It is in the range that JSON-RPC reserves for
 * implementations.
 */
export const TOO_LARGE = -32_050;

/** Functions of the MCP client for parsing and writing messages. */
export interface MessageCodec {
  deserializeMessage(line: string): JSONRPCMessage;
  serializeMessage(message: JSONRPCMessage): string;
}

/**
 * An MCP server over standard streams. Unlike the client's own transport, it replaces an answer that is too long with
 * an error (code {@link TOO_LARGE}), and continues.
 */
export class ServerTransport implements Transport {
  onclose?: () => void;
  onerror?: (error: Error) => void;
  onmessage?: (message: JSONRPCMessage) => void;
  readonly #server: ReadyServer;
  readonly #codec: MessageCodec;
  readonly #lines: LineSplitter;
  readonly #onStderr: ((bytes: Uint8Array) => void) | undefined;
  #child: PipedChild | undefined;

  /**
   * @param limit - Longest line in bytes.
   * @param options - `onStderr` is called with the bytes that the server writes to standard error.
   */
  constructor(
    server: ReadyServer,
    limit: number,
    codec: MessageCodec,
    { onStderr }: { readonly onStderr?: (bytes: Uint8Array) => void } = {},
  ) {
    this.#server = server;
    this.#codec = codec;
    this.#lines = new LineSplitter(limit);
    this.#onStderr = onStderr;
  }

  /** The server's process id; `null` unless it is running. */
  get pid(): number | null {
    return this.#child?.pid ?? null;
  }

  async start(): Promise<void> {
    const { command, args, cwd, env } = this.#server;
    const stderr = this.#onStderr === undefined ? "ignore" : "pipe";
    const child = await PipedChild.start({ command, args, cwd, env, stderr });
    this.#child = child;
    child.stdout.on("data", (bytes: Buffer) => this.#read(bytes));
    if (this.#onStderr !== undefined) child.stderr?.on("data", this.#onStderr);
    void child.ended.then(() => {
      this.#child = undefined;
      this.onclose?.();
    });
  }

  #read(bytes: Buffer): void {
    for (const line of this.#lines.split(bytes)) {
      if (line.kind === "line") this.#take(Buffer.from(line.bytes).toString());
      else if (!this.#answerTooLarge(line)) {
        // If the line is an answer, its request would otherwise wait forever.
        this.onerror?.(new Error("a line is too large"));
        void this.close();
        return;
      }
    }
  }

  /**
   * If a line over the limit is an answer, passes on an error answer in its place. Returns `false` for any other line.
   */
  #answerTooLarge({ head, tail }: Extract<SplitLine, { kind: "too_large" }>): boolean {
    const ends = jsonRpcEnds(head, tail);
    if (ends?.kind !== "answer") return false;
    const error = { code: TOO_LARGE, message: "the answer is too large" };
    this.onmessage?.({ jsonrpc: "2.0", id: ends.id, error });
    return true;
  }

  #take(text: string): void {
    let message: JSONRPCMessage;
    try {
      message = this.#codec.deserializeMessage(text);
    } catch (error) {
      // Servers may write log lines to standard output.
      this.onerror?.(error instanceof Error ? error : new Error("a line is not a message"));
      return;
    }
    this.onmessage?.(message);
  }

  async send(message: JSONRPCMessage): Promise<void> {
    const stdin = this.#child?.stdin;
    if (stdin === undefined) throw new Error("the server does not run");
    if (stdin.write(this.#codec.serializeMessage(message))) return;
    // A server that exits does not read the rest, and "drain" is never emitted.
    await Promise.race([once(stdin, "drain"), once(stdin, "close")]);
  }

  /** Stops the server: closes its input, then sends SIGTERM, then SIGKILL. */
  async close(): Promise<void> {
    const child = this.#child;
    this.#child = undefined;
    await child?.end();
  }
}
