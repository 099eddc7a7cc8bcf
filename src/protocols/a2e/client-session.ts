import type { Duplex } from "node:stream";
import type { Json, JsonObject } from "../../bytes/json.js";
import { assertString } from "../../checks/kinds.js";
import { meant } from "../../checks/members.js";
import { ClientCalls, type SessionCallOptions } from "./client-calls.js";
import { Connection, type ConnectionLimits, Outlet } from "./connection.js";
import { A2E_VERSION, dialectOf, isOtherVersion } from "./dialect.js";
import { capabilityOf } from "./plugin.js";
import {
  type AcceptedEntry,
  type Greeting,
  readAccepted,
  readError,
  readGreeting,
  SessionError,
} from "./received.js";
import type { Timers } from "./timers.js";

/** Capabilities that ended during the session. */
export interface SessionUpdate {
  readonly ended: readonly string[];
  /** The reason: a code such as `revoked` or `expired`. */
  readonly reason: string;
}

/** The agent's side of a session. */
export interface Session {
  readonly id: string;
  /** The current outcome for each requested capability, by name. */
  readonly capabilities: ReadonlyMap<string, AcceptedEntry>;
  readonly maxParallel: number;
  /** Resolves when the session has ended: with the reason, or `undefined` if `close` ended it. */
  readonly over: Promise<SessionError | undefined>;
  /**
   * Calls an operation, such as `tool/call`.
   *
   * @throws SessionError if the client or the host refuses the call, or if the call fails.
   * @throws The reason of the option `signal`, if the signal is aborted.
   */
  call(operation: string, options?: SessionCallOptions): Promise<Json>;
  /**
   * Sends a ping, and resolves when the host answers.
   *
   * @throws SessionError if the session ends first, or if there is no answer within `callTimeout` (`timed_out`).
   */
  ping(): Promise<void>;
  /**
   * Ends the session when running calls are answered, or after `closeTimeout`. If the host then keeps its end of the
   * stream open, the client closes the stream after one more second.
   */
  close(): Promise<void>;
}

export interface ClientParts {
  readonly stream: Duplex;
  readonly limits: ConnectionLimits;
  readonly timers: Timers;
  readonly onUpdate: (update: SessionUpdate) => void;
  readonly callTimeout: number;
  readonly closeTimeout: number;
  /** The names of the requested capabilities. */
  readonly asked: ReadonlySet<string>;
}

export class ClientSession implements Session {
  readonly over: Promise<SessionError | undefined>;
  readonly #connection: Connection;
  readonly #outlet: Outlet;
  readonly #calls: ClientCalls;
  readonly #parts: ClientParts;
  readonly #pings = new Map<string, () => void>();
  #over: (why: SessionError | undefined) => void = () => {};
  #greeted: ((message: JsonObject) => void) | undefined;
  #capabilities: ReadonlyMap<string, AcceptedEntry> = new Map();
  #maxParallel = 0;
  #id = "";
  #why: SessionError | undefined;
  #closing: Promise<void> | undefined;

  constructor(parts: ClientParts) {
    const { stream, limits, timers, callTimeout } = parts;
    this.#parts = parts;
    this.#connection = new Connection(stream, limits, timers);
    this.#outlet = new Outlet(this.#connection, Date.now, "c");
    this.#calls = new ClientCalls(this.#outlet, timers, callTimeout);
    this.over = new Promise((resolve) => {
      this.#over = resolve;
    });
    void this.#read();
  }

  get id(): string {
    return this.#id;
  }

  get capabilities(): ReadonlyMap<string, AcceptedEntry> {
    return this.#capabilities;
  }

  get maxParallel(): number {
    return this.#maxParallel;
  }

  async open(request: JsonObject, signal: AbortSignal): Promise<void> {
    const abort = (): void => this.#connection.cut();
    if (signal.aborted) abort();
    signal.addEventListener("abort", abort, { once: true });
    const id = this.#outlet.nextId();
    const response = new Promise<Greeting | undefined>((resolve) => {
      this.#greeted = (message) => resolve(this.#greet(message, id));
      void this.over.then(() => resolve(undefined));
    });
    this.#outlet.send({ type: "handshake/req", id, ...request });
    const greeting = await response;
    signal.removeEventListener("abort", abort);
    signal.throwIfAborted();
    if (greeting === undefined) throw this.#why ?? vanished();
    if (greeting.ok) return;
    this.#connection.cut();
    throw greeting.error;
  }

  /** Reads the handshake answer synchronously, since the next line may already report ended capabilities. */
  #greet(message: JsonObject, id: string): Greeting {
    this.#greeted = undefined;
    if (message["type"] === "error") return { ok: false, error: readError(message) };
    const greeting = readGreeting(message, id, this.#parts.asked);
    if (greeting.ok) {
      const dialect = dialectOf(message);
      if (isOtherVersion(message, dialect)) {
        const text = `the host does not speak A2E ${A2E_VERSION}`;
        return { ok: false, error: new SessionError("version_mismatch", text) };
      }
      this.#outlet.speak(dialect);
      this.#calls.speak(dialect);
      this.#id = greeting.id;
      this.#maxParallel = greeting.maxParallel;
      this.#capabilities = greeting.capabilities;
    }
    return greeting;
  }

  async call(operation: string, options: SessionCallOptions = {}): Promise<Json> {
    assertString(operation, "operation");
    const capability = capabilityOf(operation);
    if (capability === undefined) {
      throw new TypeError(`operation: A2E has no "${operation.slice(0, 64)}"`);
    }
    if (this.#connection.isOver || this.#closing !== undefined) throw this.#why ?? vanished();
    const accepted = this.#capabilities.get(capability);
    if (accepted?.enabled !== true) {
      const names = [...this.#capabilities.keys()];
      const reason =
        accepted === undefined
          ? `was not asked for, or the host left it out${meant(capability, names)}`
          : `is not enabled: ${accepted.reason ?? ""}`;
      throw new SessionError("capability_missing", `${capability} ${reason}`, { capability });
    }
    if (this.#calls.size >= this.#maxParallel) {
      const text = `${this.#maxParallel} calls are running, the most that the host accepts at once`;
      throw new SessionError("too_many_parallel", text, { capability, retryable: true });
    }
    return this.#calls.call(operation, capability, this.#id, options);
  }

  async ping(): Promise<void> {
    const id = this.#outlet.nextId();
    const answered = new Promise<"answered">((resolve) => {
      this.#pings.set(id, () => resolve("answered"));
    });
    this.#outlet.send({ type: "ping", id, session_id: this.#id });
    const { timers, callTimeout } = this.#parts;
    let off = (): void => {};
    const late = new Promise<"late">((resolve) => {
      off = timers.after(callTimeout, () => resolve("late"));
    });
    const outcome = await Promise.race([answered, late, this.over.then(() => "over" as const)]);
    off();
    this.#pings.delete(id);
    if (outcome === "over") throw this.#why ?? vanished();
    if (outcome === "late") {
      throw new SessionError("timed_out", "the host did not answer in time", { retryable: true });
    }
  }

  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  async #close(): Promise<void> {
    const { timers, closeTimeout } = this.#parts;
    const off = timers.after(closeTimeout, () => this.#connection.cut());
    await this.#calls.settled();
    off();
    this.#outlet.send({ type: "shutdown", session_id: this.#id });
    await this.#connection.end();
    await this.over;
  }

  async #read(): Promise<void> {
    try {
      await this.#connection.read({
        exact: false,
        message: (message) => this.#take(message),
        problem: (code, text) => {
          this.#why ??= new SessionError(code, `what the host sends cannot be read: ${text}`);
          this.#connection.cut();
        },
      });
    } catch (error) {
      this.#fail("the stream cannot be read", error);
    }
    const why = this.#why ?? (this.#closing === undefined ? vanished() : undefined);
    this.#calls.end(why ?? vanished());
    this.#over(why);
    await this.#connection.end();
  }

  #take(message: JsonObject): void {
    const { type, req_id: answered } = message;
    if (this.#greeted !== undefined) {
      // Before the handshake is answered, an error can only be about the handshake.
      if (type === "handshake/resp" || type === "error") this.#greeted(message);
    } else if (type === "session/update") this.#update(message);
    else if (type === "pong" && typeof answered === "string") this.#pings.get(answered)?.();
    else if (type === "error" && answered === "") this.#why ??= readError(message);
    else this.#calls.take(message);
  }

  #update({ accepted_caps: entries, ended, reason }: JsonObject): void {
    const names = Array.isArray(ended) ? ended.filter((name) => typeof name === "string") : [];
    const { asked, onUpdate } = this.#parts;
    const now = readAccepted(entries, asked);
    // Capabilities that the update leaves out have ended too.
    const before = [...this.#capabilities].filter(([name]) => !now.has(name));
    const gone = before.map(([name, entry]) => [name, { ...entry, enabled: false }] as const);
    this.#capabilities = new Map([...gone, ...now]);
    try {
      onUpdate({ ended: names, reason: typeof reason === "string" ? reason : "" });
    } catch (error) {
      this.#fail("onUpdate threw", error);
    }
  }

  /** Ends the session because of an error in this client. */
  #fail(what: string, error: unknown): void {
    const text = error instanceof Error ? error.message : String(error);
    this.#why ??= new SessionError("session_ended", `${what}: ${text}`);
    this.#connection.cut();
  }
}

function vanished(): SessionError {
  return new SessionError("session_ended", "the session is over", { retryable: true });
}
