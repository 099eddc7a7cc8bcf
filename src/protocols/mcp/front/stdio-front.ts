import { once } from "node:events";
import type { Readable, Writable } from "node:stream";
import { setTimeout as sleep } from "node:timers/promises";
import { linesOf, type OversizedLine } from "../../../bytes/line-splitter.js";
import { INTERNAL_ERROR } from "../message/error-codes.js";
import {
  eraOf,
  errorText,
  HOST_LIMITS,
  isAnswer,
  type Message,
  type MessageLimits,
  onOneLine,
  readMessage,
} from "../message/message.js";
import { aboutTooLarge } from "../message/too-large.js";
import { tokenAt } from "../message/values.js";
import type { Exchange, HostSession } from "./exchange.js";

export interface StdioFrontOptions {
  readonly session: HostSession;
  readonly input: Readable;
  readonly output: Writable;
  /** Ends the session when aborted, for example at SIGTERM. */
  readonly signal: AbortSignal;
  /** Longest message of the host, in bytes; 4 MiB unless given. */
  readonly bytes?: number | undefined;
  /** Milliseconds to wait for open requests after the host has closed its end; 5,000 unless given. */
  readonly grace?: number | undefined;
  /** Called with a sentence about a dropped message or a failure of the gate. */
  readonly log: (line: string) => void;
}

const GRACE = 5000;

/**
 * Serves one host over standard streams until the host closes its end or is gone, or the signal is aborted. Then closes
 * the session and fulfils the promise.
 */
export async function serveStdio(options: StdioFrontOptions): Promise<void> {
  const front = new StdioFront(options);
  try {
    await front.serve();
  } finally {
    await options.session.close();
  }
}

class StdioFront {
  readonly #options: StdioFrontOptions;
  readonly #limits: MessageLimits;
  /** Aborted when the host is gone, or when serving has ended. */
  readonly #gone = new AbortController();
  /** Ids of the requests whose answers `serve` awaits after the host has closed its end. */
  readonly #open = new Set<string | number>();
  #allAnswered: () => void = () => {};
  #draining: Promise<unknown> | undefined;

  constructor(options: StdioFrontOptions) {
    this.#options = options;
    this.#limits = { ...HOST_LIMITS, bytes: options.bytes ?? HOST_LIMITS.bytes };
    options.session.toHost = (text) => this.#write(text);
    const leave = (): void => this.#gone.abort();
    options.output.on("error", leave).on("close", leave);
    options.signal.addEventListener("abort", leave, { once: true });
    if (options.signal.aborted) leave();
  }

  async serve(): Promise<void> {
    const { input, grace = GRACE } = this.#options;
    const stop = once(this.#gone.signal, "abort").then(() => input.destroy());
    if (this.#gone.signal.aborted) return;
    await Promise.race([this.#read(), stop]);
    if (this.#open.size > 0 && !this.#gone.signal.aborted) {
      const answered = new Promise<void>((resolve) => {
        this.#allAnswered = resolve;
      });
      await Promise.race([answered, stop, sleep(grace, undefined, { ref: false })]);
    }
    this.#gone.abort();
  }

  async #read(): Promise<void> {
    try {
      for await (const line of linesOf(this.#options.input, this.#limits.bytes)) {
        if (line.kind === "line") await this.#take(line.bytes);
        else await this.#tooLarge(line);
      }
    } catch {
      // The stream has failed: the host is gone.
    }
  }

  async #take(line: Uint8Array): Promise<void> {
    // Ignores blank lines, which a terminal can send.
    if (line.every((byte) => byte === 0x20 || byte === 0x09 || byte === 0x0d)) return;
    const read = readMessage(line, this.#limits);
    if (!read.ok) {
      this.#options.log(`refused a message of the host: ${read.reason}`);
      if (!read.isAnswer) await this.#write(errorText(read.id, read.code, read.reason));
      return;
    }
    const { message } = read;
    this.#count(message);
    const exchange = this.#exchange(message);
    try {
      await this.#options.session.receive(message, exchange);
    } catch (error) {
      const why = error instanceof Error ? error.name : typeof error;
      this.#options.log(`the gate has failed on ${message.method ?? "an answer"}: ${why}`);
      await exchange.send(errorText(message.id ?? null, INTERNAL_ERROR, "internal error"));
    }
  }

  /** Remembers an open request, unless it is endless. Forgets a request that the host cancels. */
  #count({ kind, id, method, value }: Message): void {
    if (kind === "request" && id !== undefined && method !== "subscriptions/listen") {
      this.#open.add(id);
    }
    if (method !== "notifications/cancelled") return;
    const cancelled = tokenAt(value, ["params", "requestId"]);
    if (cancelled !== undefined) this.#settled(cancelled);
  }

  #settled(id: string | number): void {
    this.#open.delete(id);
    if (this.#open.size === 0) this.#allAnswered();
  }

  #exchange(message: Message): Exchange {
    const { kind, id } = message;
    let isOpen = kind === "request";
    return {
      credentials: [],
      era: eraOf(message),
      signal: this.#gone.signal,
      send: async (text) => {
        if (!isOpen) return;
        if (isAnswer(text)) isOpen = false;
        await this.#write(text);
        if (!isOpen && id !== undefined) this.#settled(id);
      },
    };
  }

  async #tooLarge(line: OversizedLine): Promise<void> {
    const about = aboutTooLarge(line, this.#limits.bytes);
    this.#options.log(
      `refused a message of the host: it has more than ${this.#limits.bytes} bytes`,
    );
    if (about.kind === "answer") await this.#write(about.text);
    // The session receives this error in place of the host's answer.
    if (about.kind === "replace") await this.#take(Buffer.from(about.text));
  }

  /** Writes a message. The promise is fulfilled when the host can take another message, or is gone. */
  async #write(text: string): Promise<void> {
    const { output } = this.#options;
    if (this.#gone.signal.aborted) return;
    if (!output.write(`${onOneLine(text)}\n`)) {
      this.#draining ??= this.#drained().finally(() => {
        this.#draining = undefined;
      });
    }
    await this.#draining;
  }

  async #drained(): Promise<void> {
    const stop = new AbortController();
    const { signal } = this.#gone;
    try {
      await Promise.race([once(this.#options.output, "drain", stop), once(signal, "abort", stop)]);
    } catch {
      // The output is broken; the host is gone.
    } finally {
      stop.abort();
    }
  }
}
