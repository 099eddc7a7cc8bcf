import type { JsonObject } from "../../bytes/json.js";
import type { Connection, Unsendable } from "./connection.js";
import type { SessionFault } from "./errors.js";
import { A2E_VERSION, errorMessage } from "./messages.js";

/** Sends messages, each with what all have: version, id and time. */
export class Outlet {
  readonly #connection: Pick<Connection, "send">;
  readonly #clock: () => number;
  readonly #prefix: string;
  #sent = 0;

  /** @param prefix - Of the ids: of host and client another. */
  constructor(connection: Pick<Connection, "send">, clock: () => number, prefix: string) {
    this.#connection = connection;
    this.#clock = clock;
    this.#prefix = prefix;
  }

  /** An id for a message that is to be answered. */
  nextId(): string {
    return `${this.#prefix}${++this.#sent}`;
  }

  /** @returns Why it was not sent. */
  send({ type, id = this.nextId(), ...message }: JsonObject): Unsendable | undefined {
    const ts = this.#clock() / 1000;
    return this.#connection.send({ a2e: A2E_VERSION, type, id, ts, ...message });
  }

  /** Sends an error. @param reqId - Of the message that it answers; empty if it answers none. */
  error(reqId: string, of: SessionFault): void {
    this.send(errorMessage(reqId, of));
  }
}
