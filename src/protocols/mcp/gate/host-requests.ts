import type { JsonObject } from "../../../bytes/json.js";
import { messageOf } from "../../../system/error-code.js";
import type { Exchange } from "../front/exchange.js";
import {
  INTERNAL_ERROR,
  INVALID_PARAMS,
  INVALID_REQUEST,
  TOO_MANY,
} from "../message/error-codes.js";
import { errorText, type Message } from "../message/message.js";
import { objectAt, tokenAt } from "../message/values.js";
import { runCall } from "./call.js";
import { runFree } from "./free-requests.js";
import type { GateParts } from "./gate-parts.js";
import type { HostRequest } from "./host-request.js";
import { runList } from "./lists.js";
import { type HostRule, hostRequestRule, unknownMethod } from "./methods.js";
import { runOpening } from "./opening.js";
import { runListen, type Subscriptions } from "./subscriptions.js";
import { runTaskRequest } from "./task-requests.js";

/**
 * Maximum number of requests in progress, and their maximum total length in characters. At a limit, the gate takes no
 * further request.
 */
const MOST_AT_ONCE = 256;
const MOST_TEXT = 64 * 1024 * 1024;
/** Maximum number of unanswered requests of one session. */
const MOST_OPEN = 512;
/** Longest id or progress token, in characters. The gate keeps both until the request is answered. */
const LONGEST_ID = 1024;

/** A well-formed request with a known method, or the error that answers any other request. */
type Checked =
  | (Pick<HostRequest, "id" | "method" | "params" | "credentials" | "progressToken"> & {
      readonly ok: true;
      readonly rule: HostRule;
    })
  | { readonly ok: false; readonly answer: string };

/**
 * Handles the host's requests: checks the form of a request, authenticates its tokens, runs it, and answers it once.
 */
export class HostRequests {
  readonly #parts: GateParts;
  readonly #subscriptions: Subscriptions;
  readonly #isStateless: boolean;
  /** Requests that wait for an answer, by id; empty in a stateless session, where two clients may use the same id. */
  readonly #open = new Map<string | number, AbortController>();
  /** The number of requests that wait for an answer. */
  #unanswered = 0;
  /** The number of requests that are neither passed on nor answered yet, and their total length in characters. */
  #working = 0;
  #text = 0;
  /** Functions that end a wait in `receive`. They are called when the requests in progress are below the limits. */
  readonly #waiting: (() => void)[] = [];
  #ofSession: readonly string[] = [];

  constructor(parts: GateParts, subscriptions: Subscriptions, isStateless: boolean) {
    this.#parts = parts;
    this.#subscriptions = subscriptions;
    this.#isStateless = isStateless;
  }

  /** The tokens that came with `initialize`. */
  get ofSession(): readonly string[] {
    return this.#ofSession;
  }

  /**
   * Takes a request, and handles it concurrently with other requests. Refuses the request if too many requests are
   * unanswered; calling code that waits for the promise before the next request reaches this limit only if servers do
   * not answer.
   */
  async receive(message: Message, exchange: Exchange): Promise<void> {
    if (this.#unanswered >= MOST_OPEN || this.#text >= MOST_TEXT) {
      const problem = "too many requests of this session wait for an answer; try again later";
      return exchange.send(errorText(message.id ?? null, TOO_MANY, problem));
    }
    const { length } = message.text;
    this.#working++;
    this.#text += length;
    void this.#run(message, exchange)
      .catch((error) => this.#parts.log(`a request could not be answered: ${messageOf(error)}`))
      .finally(() => {
        this.#working--;
        this.#text -= length;
        if (!this.#isFull) for (const resolve of this.#waiting.splice(0)) resolve();
      });
    if (!this.#isFull) return;
    await new Promise<void>((resolve) => this.#waiting.push(resolve));
  }

  get #isFull(): boolean {
    return this.#working >= MOST_AT_ONCE || this.#text >= MOST_TEXT;
  }

  /** Cancels a request, and notifies the server that works on it. */
  cancel(id: string | number | undefined, notification: Message): void {
    if (id !== undefined) this.#open.get(id)?.abort(notification);
  }

  async #run(message: Message, exchange: Exchange): Promise<void> {
    const checked = this.#checked(message, exchange);
    if (!checked.ok) return exchange.send(checked.answer);
    const { id, method, params, rule, credentials, progressToken } = checked;
    if (method === "initialize") this.#ofSession = credentials;
    const { over, answer } = this.#opened(id, exchange);
    const fail = (error: unknown): Promise<void> => {
      this.#parts.log(`the gate has failed to answer ${method}: ${messageOf(error)}`);
      return answer(errorText(id, INTERNAL_ERROR, "the gate has failed; its log says why"));
    };
    try {
      const presented = this.#parts.authority.present(credentials);
      const request: HostRequest = {
        message,
        id,
        method,
        params,
        era: exchange.era,
        exchange,
        credentials,
        presented,
        progressToken,
        over,
        answer,
        fail,
      };
      if (rule.by !== "opening" && rule.by !== "free") await this.#parts.authority.catchUp();
      await this.#dispatch(request, rule);
    } catch (error) {
      await fail(error);
    }
  }

  /**
   * Checks the form of a request. If the request is malformed or its method is unknown, returns the error for the
   * answer.
   */
  #checked(message: Message, { era, credentials }: Exchange): Checked {
    const { id = null, method = "", value } = message;
    const rule = hostRequestRule(method, era);
    if (rule === undefined || id === null) return { ok: false, answer: unknownMethod(id, method) };
    const invalid = (problem: string): Checked => ({
      ok: false,
      answer: errorText(id, INVALID_PARAMS, problem),
    });
    const params = value["params"] === undefined ? {} : objectAt(value, ["params"]);
    if (params === undefined) return invalid("params must be an object");
    const stray = strayInput(method, rule, params);
    if (stray !== undefined) return invalid(`params.${stray} has no meaning in ${method}`);
    const progressToken = tokenAt(params, ["_meta", "progressToken"]);
    if ([id, progressToken].some((token) => String(token).length > LONGEST_ID)) {
      const problem = `an id or a progress token has more than ${LONGEST_ID} characters`;
      return { ok: false, answer: errorText(id, INVALID_REQUEST, problem) };
    }
    if (this.#open.has(id)) {
      const problem = `there is a request with the id ${JSON.stringify(id)} that is not answered yet`;
      return { ok: false, answer: errorText(null, INVALID_REQUEST, problem) };
    }
    return { ok: true, id, method, params, rule, credentials, progressToken };
  }

  /** Registers a request until it is answered or cancelled. */
  #opened(id: string | number, exchange: Exchange): Pick<HostRequest, "over" | "answer"> {
    const controller = new AbortController();
    const { signal: over } = controller;
    if (!this.#isStateless) this.#open.set(id, controller);
    this.#unanswered++;
    over.addEventListener("abort", () => this.#closed(id, controller), { once: true });
    if (exchange.era === "new") {
      exchange.signal.addEventListener("abort", () => controller.abort(), { signal: over });
      if (exchange.signal.aborted) controller.abort();
    }
    const answer = async (text: string): Promise<void> => {
      if (over.aborted) return;
      controller.abort("answered");
      await exchange.send(text);
    };
    return { over, answer };
  }

  #dispatch(request: HostRequest, rule: HostRule): Promise<void> {
    switch (rule.by) {
      case "opening":
        return runOpening(this.#parts, request);
      case "free":
        return runFree(this.#parts, request);
      case "call":
        return runCall(this.#parts, request, rule);
      case "list":
      case "task-list":
        return runList(this.#parts, request, rule);
      case "listen":
        return runListen(this.#parts, this.#subscriptions, request);
      case "task":
        return runTaskRequest(this.#parts, request);
    }
  }

  #closed(id: string | number, controller: AbortController): void {
    this.#unanswered--;
    if (this.#open.get(id) === controller) this.#open.delete(id);
  }
}

/**
 * Returns `inputResponses` or `requestState` if the request has this parameter but must not have it, because the gate
 * would not judge it. Calls may have both parameters; `tasks/update` may have `inputResponses`.
 */
function strayInput(method: string, { by }: HostRule, params: JsonObject): string | undefined {
  if (by === "call") return undefined;
  const names = method === "tasks/update" ? ["requestState"] : ["inputResponses", "requestState"];
  return names.find((name) => params[name] !== undefined);
}
