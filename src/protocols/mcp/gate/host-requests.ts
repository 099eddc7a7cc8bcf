import { isTexts } from "../../../bytes/json.js";
import type { Exchange } from "../front/exchange.js";
import type { Message } from "../message/message.js";
import {
  errorAnswer,
  INTERNAL_ERROR,
  INVALID_PARAMS,
  INVALID_REQUEST,
  unknownMethod,
} from "./answers.js";
import { runCall } from "./call.js";
import { CAPABILITY_KEY } from "./forward.js";
import { runFree } from "./free-requests.js";
import type { GateParts } from "./gate-parts.js";
import type { HostRequest } from "./host-request.js";
import { runListen, type Subscriptions } from "./listening.js";
import { runList } from "./lists.js";
import { type HostRule, hostRequestRule } from "./methods.js";
import { runOpening } from "./opening.js";
import { misspeltParameter } from "./spellings.js";
import { runTaskRequest } from "./task-requests.js";
import { objectAt, valueAt } from "./values.js";

/** Requests that the gate works on at once before it takes no further one. */
const MOST_AT_ONCE = 256;

/** The host's requests: each is checked as a message, gets its tokens, and is answered once. */
export class HostRequests {
  readonly #parts: GateParts;
  readonly #subscriptions: Subscriptions;
  readonly #isStateless: boolean;
  /** Requests that wait for an answer, by id; none of a stateless session, whose callers may use the same ids. */
  readonly #open = new Map<string | number, AbortController>();
  readonly #working = new Set<Promise<void>>();
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

  /** Takes a request, and works on it beside others. */
  async receive(message: Message, exchange: Exchange): Promise<void> {
    const work = this.#run(message, exchange).finally(() => this.#working.delete(work));
    this.#working.add(work);
    if (this.#working.size >= MOST_AT_ONCE) await Promise.race(this.#working);
  }

  /** Gives up a request, and tells the server that works on it. */
  cancel(id: string | number | undefined, notification: Message): void {
    if (id !== undefined) this.#open.get(id)?.abort(notification);
  }

  async #run(message: Message, exchange: Exchange): Promise<void> {
    const { id, method } = message;
    if (id === undefined || method === undefined) return;
    const { era } = exchange;
    const rule = hostRequestRule(method, era);
    if (rule === undefined) return exchange.send(unknownMethod(id, method));
    const { value } = message;
    const params = value["params"] === undefined ? {} : objectAt(value, ["params"]);
    if (params === undefined) {
      return exchange.send(errorAnswer(id, INVALID_PARAMS, "params must be an object"));
    }
    const misspelt = misspeltParameter(params);
    if (misspelt !== undefined) {
      const problem = `${JSON.stringify(misspelt)} differs in case alone from a property of the protocol`;
      return exchange.send(errorAnswer(id, INVALID_PARAMS, problem));
    }
    const given = valueAt(params, ["_meta", CAPABILITY_KEY]) ?? [];
    const tokens = typeof given === "string" ? [given] : given;
    if (!isTexts(tokens)) {
      const problem = `params._meta["${CAPABILITY_KEY}"] must be a token, or an array of tokens`;
      return exchange.send(errorAnswer(id, INVALID_PARAMS, problem));
    }
    if (this.#open.has(id)) {
      const problem = `there is a request with the id ${JSON.stringify(id)} that is not answered yet`;
      return exchange.send(errorAnswer(null, INVALID_REQUEST, problem));
    }
    const credentials = [...exchange.credentials, ...tokens];
    if (method === "initialize") this.#ofSession = credentials;
    const controller = new AbortController();
    if (!this.#isStateless) this.#open.set(id, controller);
    const { signal: over } = controller;
    over.addEventListener("abort", () => this.#closed(id, controller), { once: true });
    if (era === "new") {
      exchange.signal.addEventListener("abort", () => controller.abort(), { once: true });
      if (exchange.signal.aborted) controller.abort();
    }
    const answer = async (text: string): Promise<void> => {
      if (over.aborted) return;
      controller.abort();
      await exchange.send(text);
    };
    const presented = this.#parts.authority.present(credentials);
    const request: HostRequest = {
      message,
      id,
      method,
      params,
      era,
      exchange,
      credentials,
      presented,
      over,
      answer,
      fail: (error) => {
        const why = error instanceof Error ? error.message : String(error);
        this.#parts.log(`the gate has failed to answer ${method}: ${why}`);
        return answer(errorAnswer(id, INTERNAL_ERROR, "the gate has failed; its log says why"));
      },
    };
    await this.#dispatch(request, rule).catch(request.fail);
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
    if (this.#open.get(id) === controller) this.#open.delete(id);
  }
}
