import { messageOf } from "../../../system/error-code.js";
import { edit } from "../message/edit.js";
import { INTERNAL_ERROR, INVALID_PARAMS, REFUSED } from "../message/error-codes.js";
import { errorText, type Message } from "../message/message.js";
import { objectAt, stringAt, tokenAt } from "../message/values.js";
import type { Origin } from "../server/connection.js";
import { withToken } from "./forward.js";
import type { GateParts } from "./gate-parts.js";
import { inputCall, judgeInput } from "./input-requests.js";
import { serverRequestRule, unknownMethod } from "./methods.js";
import { OldestOut } from "./oldest-out.js";
import type { ServerLink } from "./server-link.js";

const MOST_TASKS = 10_000;
/** Maximum number of requests of one server that wait for the host at the same time. */
const MOST_OPEN = 100;
const PROGRESS_TOKEN = ["params", "_meta", "progressToken"];

/** A request of a server that the host has not answered yet. */
interface Asked {
  readonly link: ServerLink;
  /** The id that the server has chosen. */
  readonly id: string | number;
  readonly progressToken: string | number | undefined;
  readonly toHost: (text: string) => Promise<void>;
}

/**
 * Requests of servers to the host in the old era: for the host's model, its user or its roots. The gate judges such a
 * request by the tokens of the host's request that the server is working on, and sends it to the host with an id of the
 * gate.
 */
export class ServerRequests {
  readonly #parts: GateParts;
  /** Returns the tokens that came with `initialize`. */
  readonly #ofSession: () => readonly string[];
  readonly #asked = new Map<number, Asked>();
  /** Servers by the ids of the tasks that the host runs for them. */
  readonly #tasks = new OldestOut<string, ServerLink>(MOST_TASKS);
  #lastId = 0;

  constructor(parts: GateParts, ofSession: () => readonly string[]) {
    this.#parts = parts;
    this.#ofSession = ofSession;
  }

  /** Judges a server's request, and sends it to the host if it is allowed. */
  async received(link: ServerLink, request: Message, origin: Origin): Promise<void> {
    const { id, method = "" } = request;
    if (id === undefined) return;
    const open = [...this.#asked.values()].filter((asked) => asked.link === link);
    if (open.some((asked) => asked.id === id)) {
      this.#parts.log(`dropped a second request of a server with the id ${JSON.stringify(id)}`);
      return;
    }
    if (open.length >= MOST_OPEN) {
      return link.tell(errorText(id, REFUSED, "too many requests wait for the host"));
    }
    const refusal = await this.#refusal(link, request, method, origin).catch((error) => {
      this.#parts.log(`a request of a server could not be judged: ${messageOf(error)}`);
      return errorText(id, INTERNAL_ERROR, "the gate has failed");
    });
    if (refusal !== undefined) return link.tell(refusal);
    const gateId = ++this.#lastId;
    const progressToken = tokenAt(request.value, PROGRESS_TOKEN);
    const toHost = this.wayToHost(link, origin);
    this.#asked.set(gateId, { link, id, progressToken, toHost });
    const text = edit(request.text, [
      { path: ["id"], value: gateId },
      ...(progressToken === undefined ? [] : [{ path: PROGRESS_TOKEN, value: gateId }]),
    ]);
    await toHost(text);
  }

  /**
   * Passes an answer of the host to the server that sent the request. Drops an answer to a request that is not open.
   */
  async answered(response: Message): Promise<void> {
    const asked = typeof response.id === "number" ? this.#asked.get(response.id) : undefined;
    if (asked === undefined || typeof response.id !== "number") {
      this.#parts.log("dropped an answer of the host that no request waits for");
      return;
    }
    this.#asked.delete(response.id);
    const { link, id } = asked;
    const taskId = stringAt(response.value, ["result", "task", "taskId"]);
    if (taskId !== undefined) this.#tasks.set(taskId, link);
    await link.tell(edit(response.text, [{ path: ["id"], value: id }]));
  }

  /** Passes a progress notification of the host to the server whose request the notification is about. */
  async progressed(notification: Message): Promise<void> {
    const token = tokenAt(notification.value, ["params", "progressToken"]);
    const asked = typeof token === "number" ? this.#asked.get(token) : undefined;
    if (asked?.progressToken === undefined) return;
    await asked.link.tell(withToken(notification, asked.progressToken));
  }

  /** Passes the state of a task in the host to the server for which the host runs the task. */
  async taskChanged(notification: Message): Promise<void> {
    const taskId = stringAt(notification.value, ["params", "taskId"]);
    await (taskId === undefined ? undefined : this.#tasks.get(taskId))?.tell(notification.text);
  }

  /** Passes on to the host that a server has cancelled one of the server's own requests. */
  async cancelled(link: ServerLink, notification: Message): Promise<void> {
    const requestId = tokenAt(notification.value, ["params", "requestId"]);
    for (const [gateId, asked] of this.#asked) {
      if (asked.link !== link || asked.id !== requestId) continue;
      this.#asked.delete(gateId);
      await asked.toHost(
        edit(notification.text, [{ path: ["params", "requestId"], value: gateId }]),
      );
    }
  }

  /**
   * Returns the function that sends a server's request or log message to the host. The message goes to the host's
   * request that the server is working on; if that request is unknown, to the server's latest open request. Without an
   * open request, the message belongs to none of the host's requests.
   */
  wayToHost(link: ServerLink, { forRequest }: Origin): (text: string) => Promise<void> {
    const about = link.waitingFor(forRequest) ?? link.allWaiting().findLast(({ toHost }) => toHost);
    return about?.toHost ?? this.#parts.toHost;
  }

  /**
   * Judges a request of a server. Returns the error that refuses the request, or `undefined` if the host may receive
   * it. The error does not say what the tokens allow.
   */
  async #refusal(
    link: ServerLink,
    request: Message,
    method: string,
    origin: Origin,
  ): Promise<string | undefined> {
    const id = request.id ?? null;
    const rule = link.hasSession ? serverRequestRule(method) : undefined;
    if (rule === undefined) return unknownMethod(id, method);
    if (rule.by === "client") {
      const call = inputCall(this.#parts, link, method, objectAt(request.value, ["params"]) ?? {});
      const presented = this.#parts.authority.present(this.#credentialsFor(link, origin));
      const decision = await judgeInput(this.#parts, presented, call);
      if (decision.allowed) return undefined;
      this.#parts.log(`refused ${method} of a server: ${decision.denials[0].message}`);
      return errorText(id, REFUSED, `${method} is not allowed here`);
    }
    // The host's task list would also show the tasks of other servers.
    if (rule.by === "task-list" && this.#parts.servers.only !== link)
      return unknownMethod(id, method);
    if (rule.by !== "task") return undefined;
    const taskId = stringAt(request.value, ["params", "taskId"]);
    const isOwn = taskId !== undefined && this.#tasks.get(taskId) === link;
    return isOwn ? undefined : errorText(id, INVALID_PARAMS, "there is no such task");
  }

  /**
   * Returns the tokens of the request that a server is working on; if that request is unknown, the tokens of all open
   * requests of the server. If these requests have no tokens, returns the tokens of the session.
   */
  #credentialsFor(link: ServerLink, { forRequest }: Origin): readonly string[] {
    const known = link.waitingFor(forRequest);
    const about = known === undefined ? link.allWaiting() : [known];
    const given = about.flatMap(({ credentials = [] }) => credentials);
    return [...new Set(given.length > 0 ? given : this.#ofSession())];
  }
}
