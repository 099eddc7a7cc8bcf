import type { JsonObject } from "../../../bytes/json.js";
import { messageOf } from "../../../system/error-code.js";
import { edit } from "../message/edit.js";
import { type Message, readMessage, SERVER_LIMITS } from "../message/message.js";
import { tokenAt } from "../message/values.js";
import {
  failureIn,
  type Origin,
  type SendContext,
  type ServerConnection,
  type ServerEnd,
  ServerError,
} from "../server/connection.js";
import { SUBSCRIPTION_ID } from "./methods.js";
import { OldestOut } from "./oldest-out.js";
import { misspellingIn } from "./spellings.js";

const SUBSCRIPTION = ["params", "_meta", SUBSCRIPTION_ID];
const MOST_TASK_PROGRESS = 1000;

/** The callbacks and settings of a request that the gate has sent to a server and that has no answer yet. */
export interface Waiting {
  /** Called with the response, whose id is the gate's. */
  answered(response: Message): Promise<void>;
  /** Called if no response can come, for example because the server has ended. */
  failed(end: ServerEnd): Promise<void>;
  /** Called with a progress notification of the request, whose token is the gate's id. */
  progressed?(notification: Message): Promise<void>;
  /** Called with a notification of the subscription that the request has opened. */
  notified?(notification: Message): Promise<void>;
  /** Called with the server's `notifications/cancelled` of the subscription that the request has opened. */
  cancelled?(notification: Message): Promise<void>;
  /** The tokens that came with the host's request. */
  readonly credentials?: readonly string[] | undefined;
  /** Sends the host a message in addition to the answer. */
  readonly toHost?: ((text: string) => Promise<void>) | undefined;
  /** `true` for a request that may stay open without a time limit, such as a subscription. */
  readonly isEndless?: boolean | undefined;
  /**
   * Milliseconds without answer or progress after which the request fails; {@link LinkTimes.answerWithin} unless given.
   */
  readonly within?: number | undefined;
}

/** Milliseconds without answer or progress after which a request fails. */
export interface LinkTimes {
  readonly answerWithin: number;
  /** The same limit for the gate's own request to one of several servers whose answers the gate joins. */
  readonly shareWithin: number;
}

export interface LinkEvents {
  /** Called with a request of the server to the host. */
  requested(link: ServerLink, request: Message, origin: Origin): Promise<void>;
  /** Called with a notification that is neither progress nor part of a subscription. */
  notified(link: ServerLink, notification: Message, origin: Origin): Promise<void>;
  log(line: string): void;
}

interface Entry {
  readonly waiting: Waiting;
  readonly controller: AbortController;
  timer: NodeJS.Timeout | undefined;
}

/**
 * The gate's link to one server. The gate gives each request an id of its own, and drops an answer that no request
 * waits for.
 */
export class ServerLink {
  readonly connection: ServerConnection;
  /** The capabilities that the server declares; `undefined` until the gate has asked for them. */
  capabilities: JsonObject | undefined;
  /** `true` if the gate's last own request to the server timed out and the server has answered nothing since. */
  isMute = false;
  /** `true` once the host has opened a session of the old era with the server. */
  hasSession = false;
  readonly #events: LinkEvents;
  readonly #times: LinkTimes;
  readonly #entries = new Map<number, Entry>();
  readonly #taskProgress = new OldestOut<number, NonNullable<Waiting["progressed"]>>(
    MOST_TASK_PROGRESS,
  );
  #lastId = 0;
  #end: ServerEnd | undefined;

  constructor(connection: ServerConnection, events: LinkEvents, times: LinkTimes) {
    this.connection = connection;
    this.#events = events;
    this.#times = times;
    connection.onMessage = async (text, origin) => {
      try {
        await this.#received(text, origin);
      } catch (error) {
        events.log(`${this.#named}: a message could not be passed on: ${messageOf(error)}`);
      }
    };
    connection.onEnd = (end) => void this.#ended(end);
  }

  get name(): string | undefined {
    return this.connection.name;
  }

  get hasEnded(): boolean {
    return this.#end !== undefined;
  }

  /** Returns a new id for a request, and registers the functions that wait for the answer with this id. */
  expectAnswer(waiting: Waiting): number {
    const id = ++this.#lastId;
    const entry: Entry = { waiting, controller: new AbortController(), timer: undefined };
    this.#entries.set(id, entry);
    this.#startTimer(id, entry);
    return id;
  }

  /**
   * Sends a request with an id from {@link expectAnswer}. The promise is fulfilled when the server has taken the
   * request or has failed.
   */
  async send(id: number, text: string, context: SendContext = {}): Promise<void> {
    const entry = this.#entries.get(id);
    if (entry === undefined) return;
    if (this.#end !== undefined) return this.#fail(id, this.#end);
    const { signal } = entry.controller;
    try {
      await this.connection.send(text, { ...context, signal });
    } catch (error) {
      if (signal.aborted) return;
      if (!(error instanceof ServerError)) throw error;
      await this.#fail(id, error);
    }
  }

  /** Sends a notification, or an answer to a request of the server. Sends nothing to a server that has ended. */
  async tell(text: string, context?: SendContext): Promise<void> {
    if (this.#end !== undefined) return;
    try {
      await this.connection.send(text, context);
    } catch (error) {
      if (!(error instanceof ServerError)) throw error;
      this.#events.log(error.message);
    }
  }

  /** Returns whether the server declares a capability, or has not been asked for its capabilities yet. */
  mayHave(capability: string): boolean {
    return this.capabilities === undefined || Object.hasOwn(this.capabilities, capability);
  }

  /**
   * Sends one of the gate's own requests, and returns the response.
   *
   * @throws ServerError
   */
  ask(text: string, context?: SendContext): Promise<Message> {
    return new Promise((resolve, reject) => {
      const id = this.expectAnswer({
        answered: async (response) => resolve(response),
        failed: async ({ code, message }) => {
          this.isMute = code === "server_timeout";
          reject(new ServerError(code, message));
        },
        within: this.name === undefined ? undefined : this.#times.shareWithin,
      });
      this.send(id, edit(text, [{ path: ["id"], value: id }]), context).catch(reject);
    });
  }

  /** Stops waiting for a request. Sends `notification`, if given, to the server. */
  async cancel(id: number, notification?: string): Promise<void> {
    const entry = this.#take(id);
    if (entry === undefined) return;
    entry.controller.abort();
    if (notification !== undefined) await this.tell(notification);
  }

  /** Passes on progress of a task after the request that created the task has been answered. */
  keepProgress(id: number, progressed: (notification: Message) => Promise<void>): void {
    this.#taskProgress.set(id, progressed);
  }

  /** Returns the callbacks and settings of an open request; `undefined` if no open request has this id. */
  waitingFor(id: string | number | undefined): Waiting | undefined {
    return typeof id === "number" ? this.#entries.get(id)?.waiting : undefined;
  }

  /** Returns the callbacks and settings of all open requests, in the order of the requests. */
  allWaiting(): readonly Waiting[] {
    return [...this.#entries.values()].map(({ waiting }) => waiting);
  }

  /** Ends the server. */
  async close(): Promise<void> {
    for (const { timer } of this.#entries.values()) clearTimeout(timer);
    this.#entries.clear();
    await this.connection.close();
  }

  async #received(text: string, origin: Origin): Promise<void> {
    const read = readMessage(text, SERVER_LIMITS);
    if (!read.ok) return this.#unreadable(read.isAnswer ? read.id : null, read.reason);
    const { message } = read;
    const misspelling = misspellingIn(message.value);
    if (misspelling !== undefined) {
      return this.#unreadable(message.kind === "response" ? message.id : null, misspelling);
    }
    if (message.kind === "response") {
      this.isMute = false;
      const failure = failureIn(message);
      return failure !== undefined && typeof message.id === "number"
        ? this.#fail(message.id, failure)
        : this.#answered(message);
    }
    if (message.kind === "request") return this.#events.requested(this, message, origin);
    if (message.method === "notifications/progress") return this.#progressed(message);
    // Some servers write the subscription id as a string, which is no id of the gate. Over HTTP, the stream identifies
    // the subscription in that case.
    const named = this.waitingFor(tokenAt(message.value, SUBSCRIPTION));
    const subscription = named ?? this.waitingFor(origin.forRequest);
    if (subscription?.notified !== undefined) return subscription.notified(message);
    return this.#events.notified(this, message, origin);
  }

  /** Drops an unreadable message. If the message answers a request, the request fails. */
  async #unreadable(answered: string | number | null | undefined, reason: string): Promise<void> {
    this.#events.log(`${this.#named}: dropped an unreadable message: ${reason}`);
    if (typeof answered !== "number") return;
    const message = `${this.#named} sent an answer that is not an MCP message: ${reason}`;
    await this.#fail(answered, { code: "server_unreadable", message });
  }

  async #answered(response: Message): Promise<void> {
    const entry = typeof response.id === "number" ? this.#take(response.id) : undefined;
    if (entry === undefined) {
      this.#events.log(`${this.#named}: dropped an answer that no request waits for`);
      return;
    }
    await entry.waiting.answered(response);
  }

  async #progressed(notification: Message): Promise<void> {
    const token = tokenAt(notification.value, ["params", "progressToken"]);
    if (typeof token !== "number") return;
    const entry = this.#entries.get(token);
    if (entry !== undefined) this.#startTimer(token, entry);
    const progressed =
      entry === undefined
        ? this.#taskProgress.get(token)
        : entry.waiting.progressed?.bind(entry.waiting);
    await progressed?.(notification);
  }

  async #ended(end: ServerEnd): Promise<void> {
    this.#end = end;
    for (const id of [...this.#entries.keys()]) await this.#fail(id, end);
  }

  async #fail(id: number, end: ServerEnd): Promise<void> {
    const entry = this.#take(id);
    await entry?.waiting.failed(end);
  }

  #take(id: number): Entry | undefined {
    const entry = this.#entries.get(id);
    if (entry === undefined) return undefined;
    this.#entries.delete(id);
    clearTimeout(entry.timer);
    return entry;
  }

  #startTimer(id: number, entry: Entry): void {
    clearTimeout(entry.timer);
    if (entry.waiting.isEndless) return;
    const { within = this.#times.answerWithin } = entry.waiting;
    const message = `${this.#named} has not answered within ${within / 1000} seconds`;
    entry.timer = setTimeout(() => {
      entry.controller.abort();
      void this.#fail(id, { code: "server_timeout", message });
      void this.tell(cancelledText(id, "no answer in time"));
    }, within);
    entry.timer.unref();
  }

  get #named(): string {
    return this.name === undefined ? "the server" : `the server ${this.name}`;
  }
}

/** Writes a `notifications/cancelled` that the gate itself sends. */
export function cancelledText(requestId: string | number, reason: string): string {
  const params = { requestId, reason };
  return JSON.stringify({ jsonrpc: "2.0", method: "notifications/cancelled", params });
}
