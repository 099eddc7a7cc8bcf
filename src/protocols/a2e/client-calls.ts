import type { Json, JsonObject } from "../../bytes/json.js";
import { knownMembers } from "../../checks/members.js";
import { plainCopy, plainObject } from "../../checks/plain.js";
import type { Outlet } from "./connection.js";
import type { Dialect } from "./dialect.js";
import { type CapabilityName, namingOf } from "./plugin.js";
import { readError, SessionError } from "./received.js";
import { hasTimeout, sdkOutcome, sdkRequest } from "./sdk/client.js";
import { sdkMembers } from "./sdk/types.js";
import type { Timers } from "./timers.js";

export interface SessionCallOptions {
  /** The name of the called tool, program or other target. */
  readonly name?: string;
  /** The MCP server to call; only for operations of `mcp`. */
  readonly server?: string;
  readonly arguments?: JsonObject;
  /** Cancels the call, in this client and at the host. */
  readonly signal?: AbortSignal;
  /**
   * Time limit in milliseconds, which the host may reduce. Unless given, the host's own limit applies, and the client
   * waits at most `callTimeout`.
   */
  readonly timeout?: number;
  /**
   * Called with each part of the answer as soon as it arrives. With this option, the client requests parts from the
   * host.
   */
  readonly onChunk?: (chunk: Json) => void;
}

/** A call that waits for its answer. */
interface Waiting {
  readonly operation: string;
  readonly capability: CapabilityName;
  readonly onChunk: ((chunk: Json) => void) | undefined;
  readonly settle: (outcome: { readonly data: Json } | { readonly error: unknown }) => void;
}

const OPTIONS = ["name", "server", "arguments", "signal", "timeout", "onChunk"];
/** Milliseconds that the client waits for the host's answer after the call's `timeout` is over. */
const SLACK = 1000;

/**
 * Returns whether a message is a part of an answer. In the SDK's dialect, any type that ends in `/event` is accepted: a
 * part of `tool/call`, for example, has the type `tool/event`.
 */
function isEvent(type: Json | undefined, operation: string, isSdk: boolean): boolean {
  if (type === `${operation}/event`) return true;
  return isSdk && typeof type === "string" && type.endsWith("/event");
}

/** The pending calls of a client. */
export class ClientCalls {
  readonly #outlet: Outlet;
  readonly #timers: Timers;
  readonly #callTimeout: number;
  #dialect: Dialect = "own";
  readonly #waiting = new Map<string, Waiting>();
  readonly #idle = new Set<() => void>();

  /** @param callTimeout - Milliseconds for a call without a `timeout`. */
  constructor(outlet: Outlet, timers: Timers, callTimeout: number) {
    this.#outlet = outlet;
    this.#timers = timers;
    this.#callTimeout = callTimeout;
  }

  /** Switches to the dialect of the host's handshake answer. */
  speak(dialect: Dialect): void {
    this.#dialect = dialect;
  }

  get size(): number {
    return this.#waiting.size;
  }

  async call(
    operation: string,
    capability: CapabilityName,
    session: string,
    options: SessionCallOptions,
  ): Promise<Json> {
    const own = knownMembers(options, OPTIONS, "options");
    const { signal, timeout, onChunk } = own;
    if (timeout !== undefined && !(timeout > 0)) throw new TypeError("timeout: must be above 0");
    signal?.throwIfAborted();
    const id = this.#outlet.nextId();
    const request = this.#requestOf(operation, capability, own);
    const offs: (() => void)[] = [];
    try {
      return await new Promise<Json>((resolve, reject) => {
        this.#waiting.set(id, {
          operation,
          capability,
          onChunk,
          settle: (outcome) => {
            if ("data" in outcome) resolve(outcome.data);
            else reject(outcome.error);
          },
        });
        const callOff = (error: unknown): void => {
          // The SDK's dialect has no message that cancels a call.
          if (this.#dialect === "own") {
            this.#outlet.send({ type: "cancel", session_id: session, req_id: id });
          }
          reject(error);
        };
        if (signal !== undefined) {
          const abort = (): void => callOff(signal.reason);
          signal.addEventListener("abort", abort, { once: true });
          offs.push(() => signal.removeEventListener("abort", abort));
        }
        const late = new SessionError("timed_out", "the host did not answer in time", {
          retryable: true,
          capability,
        });
        const wait = timeout === undefined ? this.#callTimeout : timeout + SLACK;
        offs.push(this.#timers.after(wait, () => callOff(late)));
        const why = this.#outlet.send({
          ...request,
          type: `${operation}/req`,
          id,
          session_id: session,
          ...(onChunk === undefined ? {} : { streaming: true }),
        });
        if (why !== undefined) {
          const code = why === "too_large" ? "line_too_large" : "line_malformed";
          reject(new SessionError(code, "the arguments do not fit into a line", { capability }));
        }
      });
    } finally {
      this.#waiting.delete(id);
      for (const off of offs) off();
      if (this.#waiting.size === 0) {
        for (const resolve of this.#idle) resolve();
        this.#idle.clear();
      }
    }
  }

  #requestOf(
    operation: string,
    capability: CapabilityName,
    { name, server, arguments: values = {}, timeout }: SessionCallOptions,
  ): JsonObject {
    const given = plainCopy(plainObject(values, "arguments"), "arguments", "arguments");
    const { called } = namingOf(capability);
    const isSdk = this.#dialect === "sdk";
    const sdk = isSdk
      ? sdkRequest(operation, called, { name, server, arguments: given })
      : undefined;
    const own: JsonObject = {
      arguments: given,
      ...(name === undefined ? {} : { [called]: name }),
      ...(server === undefined ? {} : { server }),
    };
    if (timeout === undefined || (isSdk && !hasTimeout(operation))) return sdk ?? own;
    const seconds = timeout / 1000;
    // The SDK's host reads whole seconds only.
    return { ...(sdk ?? own), timeout: isSdk ? Math.ceil(seconds) : seconds };
  }

  /** Resolves once no call is pending. */
  settled(): Promise<void> {
    if (this.#waiting.size === 0) return Promise.resolve();
    return new Promise((resolve) => this.#idle.add(resolve));
  }

  /** Handles an answer, or a part of an answer; ignores other messages. */
  take(message: JsonObject): void {
    const { type, req_id: answered, data = null } = message;
    const isSdk = this.#dialect === "sdk";
    const waiting = typeof answered === "string" ? this.#waiting.get(answered) : undefined;
    if (waiting === undefined) return;
    if (type === "error") waiting.settle({ error: readError(message) });
    else if (type === `${waiting.operation}/resp`) {
      const { operation, capability } = waiting;
      const isTheirs = isSdk && sdkMembers(operation) !== undefined;
      waiting.settle(isTheirs ? sdkOutcome(operation, capability, message) : { data });
    } else if (isEvent(type, waiting.operation, isSdk)) {
      try {
        waiting.onChunk?.(data);
      } catch (error) {
        waiting.settle({ error });
      }
    }
  }

  /** Rejects all pending calls. */
  end(error: SessionError): void {
    for (const { settle } of this.#waiting.values()) settle({ error });
  }
}
