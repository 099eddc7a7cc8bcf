import { edit } from "../message/edit.js";
import type { Message } from "../message/message.js";
import type { Origin } from "../server/connection.js";
import { errorAnswer, INTERNAL_ERROR, INVALID_PARAMS, REFUSED, unknownMethod } from "./answers.js";
import { withToken } from "./forward.js";
import type { GateParts } from "./gate-parts.js";
import { inputCall, judgeInput } from "./input-requests.js";
import { serverRequestRule } from "./methods.js";
import { OldestOut } from "./oldest-out.js";
import { type ServerLink, whyOf } from "./server-link.js";
import { objectAt, stringAt, tokenAt } from "./values.js";

const MOST_TASKS = 10_000;
/** Requests of one server that may wait for the host at once. */
const MOST_OPEN = 100;
const PROGRESS_TOKEN = ["params", "_meta", "progressToken"];

/** A request of a server that the host has not answered yet. */
interface Asked {
  readonly link: ServerLink;
  /** The server's own id. */
  readonly id: string | number;
  readonly progressToken: string | number | undefined;
  readonly toHost: (text: string) => Promise<void>;
}

/**
 * Requests of servers to the host, which the old era has: for the host's model, its person, its roots. Each is judged by
 * the tokens of the request that the server is working on, and sent under an id of the gate's own.
 */
export class ClientRequests {
  readonly #parts: GateParts;
  /** Returns the tokens that came with the opening of the session. */
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
      return link.tell(errorAnswer(id, REFUSED, "too many requests wait for the host"));
    }
    const refusal = await this.#refusal(link, request, method, origin).catch((error) => {
      this.#parts.log(`a request of a server could not be judged: ${whyOf(error)}`);
      return errorAnswer(id, INTERNAL_ERROR, "the gate has failed");
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

  /** Takes an answer of the host back to the server that has asked. An answer without a request is dropped. */
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

  /** Takes a host's progress on a server's request back to that server. */
  async progressed(notification: Message): Promise<void> {
    const token = tokenAt(notification.value, ["params", "progressToken"]);
    const asked = typeof token === "number" ? this.#asked.get(token) : undefined;
    if (asked?.progressToken === undefined) return;
    await asked.link.tell(withToken(notification, asked.progressToken));
  }

  /** Takes the state of a task that the host runs to the server that the task is for. */
  async taskChanged(notification: Message): Promise<void> {
    const taskId = stringAt(notification.value, ["params", "taskId"]);
    await (taskId === undefined ? undefined : this.#tasks.get(taskId))?.tell(notification.text);
  }

  /** Takes a server's cancellation of its own request to the host. */
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

  /** Returns the way to the host for what a server sends beside answers: with the request that it works on, if any. */
  wayToHost(link: ServerLink, { forRequest }: Origin): (text: string) => Promise<void> {
    const about = link.waitingFor(forRequest) ?? link.allWaiting().findLast(({ toHost }) => toHost);
    return about?.toHost ?? this.#parts.toHost;
  }

  /** Returns the answer to a request that the host does not get. The answer does not say what the tokens allow. */
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
      return errorAnswer(id, REFUSED, `${method} is not allowed here`);
    }
    // The host's list would show the tasks of the other servers too.
    if (rule.by === "task-list" && this.#parts.servers.only !== link)
      return unknownMethod(id, method);
    if (rule.by !== "task") return undefined;
    const taskId = stringAt(request.value, ["params", "taskId"]);
    const isOwn = taskId !== undefined && this.#tasks.get(taskId) === link;
    return isOwn ? undefined : errorAnswer(id, INVALID_PARAMS, "there is no such task");
  }

  /** Returns the tokens of the request that a server is working on; if unknown, the tokens of all open requests. */
  #credentialsFor(link: ServerLink, { forRequest }: Origin): readonly string[] {
    const known = link.waitingFor(forRequest);
    const about = known === undefined ? link.allWaiting() : [known];
    const given = about.flatMap(({ credentials = [] }) => credentials);
    return [...new Set(given.length > 0 ? given : this.#ofSession())];
  }
}
