import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import type { Readable } from "node:stream";
import { setTimeout as sleep } from "node:timers/promises";
import type { JSONRPCMessage, Transport } from "@modelcontextprotocol/client";
import { jsonRpcEnds } from "../../../../bytes/json-rpc-ends.js";
import { LineSplitter, type SplitLine } from "../../../../bytes/line-splitter.js";
import type { ReadyServer } from "./ready-server.js";

/** The code of the error that replaces an answer over the limit; JSON-RPC leaves it to implementations. */
export const TOO_LARGE = -32_050;

/** Milliseconds between the signals to a server that is being ended. */
const GRACE = 2000;

/** The client's own functions for reading and writing MCP messages. */
export interface MessageCodec {
  deserializeMessage(line: string): JSONRPCMessage;
  serializeMessage(message: JSONRPCMessage): string;
}

/**
 * An MCP server over standard streams. Unlike the client's own transport, it replaces an answer over the limit
 * by an error with the code {@link TOO_LARGE}, and continues.
 */
export class ServerTransport implements Transport {
  onclose?: () => void;
  onerror?: (error: Error) => void;
  onmessage?: (message: JSONRPCMessage) => void;
  readonly #server: ReadyServer;
  readonly #codec: MessageCodec;
  readonly #lines: LineSplitter;
  readonly #onStderr: ((bytes: Uint8Array) => void) | undefined;
  #child: ChildProcess | undefined;

  /**
   * @param limit - Longest line in bytes.
   * @param options - `onStderr` is called with what the server writes to standard error.
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

  /** The id of the server's process; `null` unless it is running. */
  get pid(): number | null {
    return this.#child?.pid ?? null;
  }

  async start(): Promise<void> {
    const { command, args, cwd, env } = this.#server;
    const child = spawn(command, [...args], {
      env: { ...env },
      shell: false,
      windowsHide: true,
      stdio: ["pipe", "pipe", this.#onStderr === undefined ? "ignore" : "pipe"],
      cwd,
    });
    this.#child = child;
    child.on("error", (error) => this.onerror?.(error));
    child.once("close", () => {
      this.#child = undefined;
      this.onclose?.();
    });
    child.stdin?.on("error", (error) => this.onerror?.(error));
    child.stdout?.on("data", (bytes: Buffer) => this.#read(bytes));
    const stderr: Readable | null = child.stderr;
    if (this.#onStderr !== undefined) stderr?.on("data", this.#onStderr);
    await once(child, "spawn");
  }

  #read(bytes: Buffer): void {
    for (const line of this.#lines.split(bytes)) {
      if (line.kind === "line") this.#take(Buffer.from(line.bytes).toString());
      else if (!this.#answerTooLarge(line)) {
        // Some request would wait for ever.
        this.onerror?.(new Error("a line is too large"));
        void this.close();
        return;
      }
    }
  }

  /** Answers the request to which a line over the limit belongs. Returns false if there is none. */
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
      // Servers may log to standard output.
      this.onerror?.(error instanceof Error ? error : new Error("a line is no message"));
      return;
    }
    this.onmessage?.(message);
  }

  async send(message: JSONRPCMessage): Promise<void> {
    const stdin = this.#child?.stdin;
    if (stdin === null || stdin === undefined) throw new Error("the server does not run");
    if (stdin.write(this.#codec.serializeMessage(message))) return;
    // A server that is ending does not read the rest.
    await Promise.race([once(stdin, "drain"), once(stdin, "close")]);
  }

  /** Ends the server: closes its input, then sends SIGTERM, then SIGKILL. */
  async close(): Promise<void> {
    const child = this.#child;
    if (child === undefined) return;
    this.#child = undefined;
    const closed = once(child, "close").then(() => true);
    child.stdin?.end();
    for (const signal of ["SIGTERM", "SIGKILL"] as const) {
      if (await Promise.race([closed, sleep(GRACE, false, { ref: false })])) return;
      child.kill(signal);
    }
  }
}
