// src/protocols/mcp/gate: passes messages between a host and the servers behind the gate. A tools/call goes from this
// file through host-requests.ts, call.ts, call-target.ts, forward.ts and server-link.ts. Its answer comes back through
// server-link.ts, forward.ts and finishCall in call.ts. methods.ts is the table of known methods.

import { messageOf } from "../../../system/error-code.js";
import type { GateAuthority } from "../authority/gate-authority.js";
import type { Exchange, HostSession } from "../front/exchange.js";
import { INVALID_PARAMS } from "../message/error-codes.js";
import { errorText, type Message } from "../message/message.js";
import { objectAt, stringAt, tokenAt } from "../message/values.js";
import type { Origin, ServerConnection } from "../server/connection.js";
import type { ToolPins } from "../tools/pins.js";
import type { GateParts } from "./gate-parts.js";
import { HostRequests } from "./host-requests.js";
import { InputRounds } from "./input-rounds.js";
import { hostNotificationRule, serverNotificationRule } from "./methods.js";
import { separateTokens } from "./presented-tokens.js";
import { ResourceWatchers } from "./resource-watchers.js";
import { ServerLink } from "./server-link.js";
import { ServerRequests } from "./server-requests.js";
import { assertServerNames, Servers } from "./servers.js";
import { misspellingIn } from "./spellings.js";
import { Subscriptions } from "./subscriptions.js";
import { Tasks } from "./tasks.js";
import { ToolCatalog } from "./tool-catalog.js";

const TEN_MINUTES = 600_000;
const HALF_A_MINUTE = 30_000;
/**
 * Maximum length of all notifications and answers of the host that servers have not taken yet, in characters. The gate
 * drops further ones.
 */
const MOST_TEXT = 64 * 1024 * 1024;

/** Lists whose entries depend on the tokens. */
const LISTS = ["tools", "resources", "prompts"];

export interface GateSessionOptions {
  /** One server without a name, or any number with names. */
  readonly servers: readonly ServerConnection[];
  readonly authority: GateAuthority;
  readonly pins: ToolPins;
  /** Logs a line, given without a newline, for the operator. */
  readonly log: (line: string) => void;
  /** The command that shows the pins, for log lines; `proviso mcp pins` unless given. */
  readonly pinsCommand?: string | undefined;
  /**
   * `true` for the session that all HTTP clients of the new era share. Two clients may use the same request id, and a
   * log message that belongs to no request is dropped.
   */
  readonly stateless?: boolean | undefined;
  /** Milliseconds without answer or progress after which a request fails; 600,000 (ten minutes) unless given. */
  readonly answerWithin?: number | undefined;
  /**
   * Milliseconds that the gate waits for one of several servers whose answers it joins; 30,000 unless given. The joined
   * answer leaves out a server that answers later.
   */
  readonly shareWithin?: number | undefined;
}

/**
 * Opens the gate between a host and servers.
 *
 * @throws TypeError if one of several servers has no name, or if a name is malformed or comes twice.
 */
export function openGateSession(options: GateSessionOptions): HostSession {
  return new Session(options);
}

class Session implements HostSession {
  toHost: (text: string) => Promise<void> = async () => {};
  readonly #parts: GateParts;
  readonly #hostRequests: HostRequests;
  readonly #serverRequests: ServerRequests;
  readonly #subscriptions: Subscriptions;
  readonly #isStateless: boolean;
  readonly #stopListening: () => void;
  /** The length of all notifications and answers that servers have not taken yet, in characters. */
  #text = 0;

  constructor(options: GateSessionOptions) {
    const {
      servers,
      authority,
      pins,
      log,
      pinsCommand = "proviso mcp pins",
      stateless = false,
      answerWithin = TEN_MINUTES,
      shareWithin = HALF_A_MINUTE,
    } = options;
    assertServerNames(servers.map(({ name }) => name));
    const events = {
      requested: (link: ServerLink, request: Message, origin: Origin) =>
        this.#serverRequests.received(link, request, origin),
      notified: (link: ServerLink, notification: Message, origin: Origin) =>
        this.#serverNotified(link, notification, origin),
      log,
    };
    const times = { answerWithin, shareWithin };
    const links = servers.map((connection) => new ServerLink(connection, events, times));
    this.#isStateless = stateless;
    const behind = new Servers(links);
    this.#parts = {
      authority,
      servers: behind,
      catalog: new ToolCatalog(pins, () => this.#listsChanged(["tools"])),
      rounds: new InputRounds(),
      tasks: new Tasks(),
      watchers: new ResourceWatchers(authority, behind),
      toHost: (text) => this.toHost(text),
      log,
      pinsCommand,
    };
    this.#subscriptions = new Subscriptions(authority);
    this.#hostRequests = new HostRequests(this.#parts, this.#subscriptions, stateless);
    this.#serverRequests = new ServerRequests(this.#parts, () => this.#hostRequests.ofSession);
    this.#stopListening = authority.onChange(() => this.#listsChanged(LISTS));
  }

  async receive(given: Message, exchange: Exchange): Promise<void> {
    const misspelling = misspellingIn(given.value);
    if (misspelling !== undefined) return this.#refuse(given, exchange, misspelling);
    const separated = separateTokens(given, exchange, this.#parts.authority);
    if (!separated.ok) return this.#refuse(given, exchange, separated.problem);
    const { message, credentials } = separated;
    if (message.kind === "request") {
      return this.#hostRequests.receive(message, { ...exchange, credentials });
    }
    const { length } = message.text;
    if (this.#text + length > MOST_TEXT) {
      this.#parts.log(`dropped a ${message.kind} of the host: too many wait for a server`);
      return;
    }
    this.#text += length;
    try {
      if (message.kind === "response") await this.#serverRequests.answered(message);
      else await this.#hostNotified(message);
    } finally {
      this.#text -= length;
    }
  }

  async close(): Promise<void> {
    this.#stopListening();
    this.#parts.catalog.close();
    await Promise.all(this.#parts.servers.links.map((link) => link.close()));
  }

  /** Refuses a message that no server may receive: answers a request with an error, and drops any other message. */
  async #refuse({ kind, id }: Message, exchange: Exchange, problem: string): Promise<void> {
    if (id !== undefined && kind === "request") {
      return exchange.send(errorText(id, INVALID_PARAMS, problem));
    }
    this.#parts.log(`dropped a ${kind} of the host: ${problem}`);
  }

  async #hostNotified(notification: Message): Promise<void> {
    const { method = "", value } = notification;
    switch (hostNotificationRule(method)) {
      case "cancelled":
        this.#hostRequests.cancel(tokenAt(value, ["params", "requestId"]), notification);
        return;
      case "progress":
        return this.#serverRequests.progressed(notification);
      case "task":
        return this.#serverRequests.taskChanged(notification);
      case "all": {
        const { links } = this.#parts.servers;
        await Promise.all(links.map((link) => link.tell(notification.text)));
        return;
      }
      case undefined:
        this.#parts.log(`dropped a notification of the host: ${method} is not in the protocol`);
    }
  }

  async #serverNotified(link: ServerLink, notification: Message, origin: Origin): Promise<void> {
    const { method = "", text, value } = notification;
    const { catalog, tasks, watchers, toHost, log } = this.#parts;
    switch (serverNotificationRule(method)) {
      case "cancelled": {
        const subscription = link.waitingFor(tokenAt(value, ["params", "requestId"]));
        if (subscription?.cancelled !== undefined) return subscription.cancelled(notification);
        return this.#serverRequests.cancelled(link, notification);
      }
      case "log": {
        const isLost = this.#isStateless && link.waitingFor(origin.forRequest) === undefined;
        if (!isLost) await this.#serverRequests.wayToHost(link, origin)(text);
        return;
      }
      case "change":
        if (method === "notifications/tools/list_changed") catalog.forget(link);
        if (method === "notifications/resources/updated" && !watchers.has(link)) return;
        if (link.hasSession) await toHost(text);
        return;
      case "task":
        if (link.hasSession && tasks.of(stringAt(value, ["params", "taskId"]))?.link === link) {
          await toHost(text);
        }
        return;
      case "host":
        if (link.hasSession) await toHost(text);
        return;
      case "progress":
        return;
      case undefined:
        log(`dropped a notification of a server: ${method} is not in the protocol`);
    }
  }

  /** Notifies the host that the gate may now show other entries of these lists. */
  #listsChanged(lists: readonly string[]): void {
    this.#notify(lists).catch((error) =>
      this.#parts.log(`the host could not be told: ${messageOf(error)}`),
    );
  }

  async #notify(lists: readonly string[]): Promise<void> {
    const methodOf = (list: string): string => `notifications/${list}/list_changed`;
    await this.#subscriptions.listsChanged(lists.map(methodOf));
    for (const list of lists) {
      const isListed = this.#parts.servers.links.some(
        (link) => link.hasSession && objectAt(link.capabilities, [list]) !== undefined,
      );
      if (isListed) await this.toHost(JSON.stringify({ jsonrpc: "2.0", method: methodOf(list) }));
    }
  }
}
