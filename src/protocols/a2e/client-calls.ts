import type { Json, JsonObject } from "../../bytes/json.js";
import { assertMembers } from "../../checks/members.js";
import type { Outlet } from "./connection.js";
import { type CapabilityName, namingOf } from "./plugin.js";
import { readError, SessionError } from "./received.js";
import type { Timers } from "./timers.js";

export interface SessionCallOptions {
  /** What is called, such as a tool's name. */
  readonly name?: string;
  /** The MCP server that is called; of mcp alone. */
  readonly server?: string;
  readonly arguments?: JsonObject;
  /** Calls it off, at the host too. */
  readonly signal?: AbortSignal;
  /** Milliseconds, which the host may cut; unless given, what it gives, and the session's `callTimeout` at most. */
  readonly timeout?: number;
  /** Asks for parts of the answer ahead of it, and takes them. */
  readonly onChunk?: (chunk: Json) => void;
}

/** A call that waits for its answer. */
interface Waiting {
  readonly operation: string;
  readonly onChunk: ((chunk: Json) => void) | undefined;
  readonly settle: (outcome: { readonly data: Json } | { readonly error: unknown }) => void;
}

const OPTIONS = ["name", "server", "arguments", "signal", "timeout", "onChunk"];
/** Milliseconds after a call's own time, for the host's answer to come. */
const SLACK = 1000;

/** The calls that a client waits for. */
export class ClientCalls {
  readonly #outlet: Outlet;
  readonly #timers: Timers;
  readonly #callTimeout: number;
  readonly #waiting = new Map<string, Waiting>();
  readonly #idle = new Set<() => void>();

  /** @param callTimeout - Milliseconds for a call that gives none. */
  constructor(outlet: Outlet, timers: Timers, callTimeout: number) {
    this.#outlet = outlet;
    this.#timers = timers;
    this.#callTimeout = callTimeout;
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
    assertMembers(options, OPTIONS, "options");
    const { name, server, arguments: given = {}, signal, timeout, onChunk } = options;
    if (timeout !== undefined && !(timeout > 0)) throw new TypeError("timeout: must be above 0");
    signal?.throwIfAborted();
    const id = this.#outlet.nextId();
    const { called } = namingOf(capability);
    const offs: (() => void)[] = [];
    try {
      return await new Promise<Json>((resolve, reject) => {
        this.#waiting.set(id, {
          ...{ operation, onChunk },
          settle: (outcome) => {
            if ("data" in outcome) resolve(outcome.data);
            else reject(outcome.error);
          },
        });
        const callOff = (error: unknown): void => {
          this.#outlet.send({ type: "cancel", session_id: session, req_id: id });
          reject(error);
        };
        if (signal !== undefined) {
          const abort = (): void => callOff(signal.reason);
          signal.addEventListener("abort", abort, { once: true });
          offs.push(() => signal.removeEventListener("abort", abort));
        }
        const late = new SessionError("timed_out", "the host did not answer in time", {
          ...{ retryable: true, capability },
        });
        const wait = timeout === undefined ? this.#callTimeout : timeout + SLACK;
        offs.push(this.#timers.after(wait, () => callOff(late)));
        const why = this.#outlet.send({
          ...{ type: `${operation}/req`, id, session_id: session, arguments: given },
          ...(name === undefined ? {} : { [called]: name }),
          ...(server === undefined ? {} : { server }),
          ...(timeout === undefined ? {} : { timeout: timeout / 1000 }),
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

  /** Fulfilled once none waits. */
  settled(): Promise<void> {
    if (this.#waiting.size === 0) return Promise.resolve();
    return new Promise((resolve) => this.#idle.add(resolve));
  }

  /** Takes what may be the answer to a call, or a part of it; what answers none is let be. */
  take(message: JsonObject): void {
    const { type, req_id: answered, data = null } = message;
    const waiting = typeof answered === "string" ? this.#waiting.get(answered) : undefined;
    if (waiting === undefined) return;
    if (type === "error") waiting.settle({ error: readError(message) });
    else if (type === `${waiting.operation}/resp`) waiting.settle({ data });
    else if (type === `${waiting.operation}/event`) {
      try {
        waiting.onChunk?.(data);
      } catch (error) {
        waiting.settle({ error });
      }
    }
  }

  /** Ends all that wait. */
  end(error: SessionError): void {
    for (const { settle } of this.#waiting.values()) settle({ error });
  }
}
