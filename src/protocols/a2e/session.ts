import type { Duplex } from "node:stream";
import type { Presenter } from "../../agent/caller.js";
import type { Json, JsonObject } from "../../bytes/json.js";
import { SessionAuthority } from "./authority.js";
import { Connection, type LineProblem, Outlet } from "./connection.js";
import { A2E_VERSION, type Dialect, dialectOf, isOtherVersion } from "./dialect.js";
import {
  countsAgainst,
  fault,
  type HandshakeRefusal,
  type SessionFault,
  writtenDenials,
} from "./errors.js";
import { RateWindow } from "./limits.js";
import { type Handshake, idOf, readHandshake } from "./messages.js";
import { type AcceptedCapability, writtenCapabilities } from "./negotiate.js";
import { OpenSession } from "./open-session.js";
import type { SessionContext } from "./session-context.js";
import type { Guest } from "./session-slots.js";

/** One peer's connection to a host, from the first byte to the last. */
export class HostSession implements Guest {
  readonly #context: SessionContext;
  readonly #connection: Connection;
  readonly #outlet: Outlet;
  readonly #rate: RateWindow | undefined;
  readonly #presenter: () => Promise<Presenter | undefined>;
  #state: "waiting" | "handshaking" | "open" | "draining" | "over" = "waiting";
  #open: OpenSession | undefined;
  /** The dialect of the handshake. */
  #dialect: Dialect = "own";
  /** The id of the handshake while it is unanswered; otherwise an empty string. */
  #greeting = "";
  #faults = 0;
  #deadlineOff: () => void;
  #ending: Promise<void> | undefined;

  /** @param presenter - Identifies the peer. If it returns `undefined`, the host refuses the handshake. */
  constructor(
    stream: Duplex,
    context: SessionContext,
    presenter: () => Promise<Presenter | undefined>,
  ) {
    const { limits, timers, clock, rate } = context;
    this.#context = context;
    this.#presenter = presenter;
    this.#connection = new Connection(stream, limits, timers);
    this.#outlet = new Outlet(this.#connection, clock, "h");
    this.#rate = rate === undefined ? undefined : new RateWindow(rate, clock);
    this.#deadlineOff = timers.after(limits.handshake, () => {
      const text = `no handshake was made within ${limits.handshake / 1000} seconds`;
      void this.end(fault("handshake_timeout", text));
    });
    context.slots.greet(this);
  }

  get isSilent(): boolean {
    return this.#state === "waiting";
  }

  /** Serves the peer. Resolves once the session has ended; never rejects. */
  async serve(): Promise<void> {
    try {
      await this.#connection.read({
        exact: true,
        message: (message) => this.#take(message),
        problem: (code, text) => this.#misread(code, text),
      });
    } catch (error) {
      this.#context.onFailure(error, "session");
      this.#connection.cut();
    }
    // A peer that has only closed its sending end still waits for its answers.
    if (!this.#connection.isOver) await this.#drained();
    await this.end();
  }

  /** Accepts no more calls, waits for running calls, and then ends the session. */
  async drain(): Promise<void> {
    await this.#drained();
    await this.end(fault("session_ended", "the host is shutting down"));
  }

  /** Ends the session: aborts running calls and answers them, sends the reason, and closes the stream. */
  end(of?: SessionFault): Promise<void> {
    this.#ending ??= this.#end(of);
    return this.#ending;
  }

  /** Checks that the tokens are still valid. Ends capabilities and calls that have no valid token left. */
  look(): Promise<void> {
    return this.#open?.look() ?? Promise.resolve();
  }

  /**
   * Resolves when no call of the session is running. A plugin that ignores an abort may run longer than the session.
   */
  settled(): Promise<void> {
    return this.#open?.settled() ?? Promise.resolve();
  }

  async #end(of: SessionFault | undefined): Promise<void> {
    this.#state = "over";
    this.#deadlineOff();
    this.#context.slots.giveUp(this);
    const closing = this.#open?.end(of ?? fault("session_ended", "the session has ended"));
    if (of !== undefined) this.#outlet.error(this.#greeting, of);
    await Promise.all([closing, this.#connection.end()]);
  }

  async #drained(): Promise<void> {
    if (this.#open === undefined || this.#state === "over") return;
    this.#state = "draining";
    await this.#open.drained();
  }

  #take(message: JsonObject): void {
    if (this.#state === "over") return;
    const { type } = message;
    // Never answer an error or a pong with an error: two ends could go on exchanging errors forever.
    if (type === "error" || type === "pong") this.#count();
    else this.#answer(idOf(message), this.#taken(type, message));
  }

  #taken(type: Json | undefined, message: JsonObject): SessionFault | undefined {
    if (typeof type !== "string") return fault("message_invalid", '"type" must be a string');
    if (this.#rate?.isOver() === true) {
      return fault("rate_limited", "the session sends messages more often than it may");
    }
    if (type === "handshake/req") return this.#greet(message);
    if (this.#state === "draining") {
      return fault("session_ended", "the session takes no more calls");
    }
    if (this.#state === "handshaking") {
      return fault("not_handshaken", "the handshake is not answered yet");
    }
    if (this.#state !== "open" || this.#open === undefined) {
      return fault("not_handshaken", "a session begins with handshake/req");
    }
    if (isOtherVersion(message, this.#dialect)) return fault("version_mismatch", SPOKEN);
    this.#watchIdle();
    return this.#open.take(type, message);
  }

  #greet(message: JsonObject): SessionFault | undefined {
    if (this.#state !== "waiting") {
      return fault("handshake_repeated", "this session has had its handshake");
    }
    this.#dialect = dialectOf(message);
    this.#outlet.speak(this.#dialect);
    const isSilent = this.#dialect === "own" && message["a2e"] === undefined;
    if (isSilent || isOtherVersion(message, this.#dialect)) {
      this.#refuseHandshake(idOf(message), "version_mismatch", SPOKEN);
      return undefined;
    }
    const reading = readHandshake(message, this.#dialect);
    if (!reading.ok) return reading.fault;
    this.#state = "handshaking";
    const { value } = reading;
    this.#greeting = value.id;
    this.#welcome(value).catch((error: unknown) => {
      this.#context.onFailure(error, "handshake");
      this.#refuseHandshake(value.id, "server_error", "the host cannot decide now");
    });
    return undefined;
  }

  async #welcome(handshake: Handshake): Promise<void> {
    const { agent, ambient } = this.#context;
    const { id } = handshake;
    const presenter = await this.#presenter();
    if (presenter === undefined) {
      return this.#refuseHandshake(id, "auth_failed", "the transport authenticates no caller");
    }
    const opening = await SessionAuthority.open(agent, handshake, presenter, ambient);
    // Meanwhile the session may have timed out, or the host may be shutting down.
    if (this.#state !== "handshaking") return;
    if (!opening.ok) {
      const [{ code, message }] = opening.denials;
      const denials = writtenDenials(opening.denials);
      return this.#refuseHandshake(id, "auth_failed", `${code}: ${message}`, { denials });
    }
    const full = this.#context.slots.open(this, opening.authority.principals);
    if (full !== undefined) {
      void this.end(fault("too_many_sessions", full));
      return;
    }
    const open = new OpenSession(handshake, opening.authority, this.#context, {
      connection: this.#connection,
      outlet: this.#outlet,
      dialect: this.#dialect,
      isOverRate: () => this.#rate?.isOver() === true,
      shutdown: () => void this.#drained().then(() => this.end()),
      end: (of) => void this.end(of),
    });
    if (open.isEmpty) {
      const text = "no capability that was asked for can be enabled";
      return this.#refuseHandshake(id, "no_caps", text, {}, open.accepted);
    }
    this.#open = open;
    this.#state = "open";
    this.#respond(id, open.scope.id, open.accepted, { ok: true, reason: "" });
    this.#watchIdle();
  }

  #refuseHandshake(
    id: string,
    reason: HandshakeRefusal,
    message: string,
    detail: JsonObject = {},
    accepted: readonly AcceptedCapability[] = [],
  ): void {
    if (this.#state === "over") return;
    this.#respond(id, "", accepted, { ok: false, reason, message, detail });
    void this.end();
  }

  #respond(
    id: string,
    session: string,
    accepted: readonly AcceptedCapability[],
    outcome: JsonObject,
  ): void {
    const { limits, omitUnavailable } = this.#context;
    this.#greeting = "";
    this.#outlet.send({
      type: "handshake/resp",
      req_id: id,
      session_id: session,
      accepted_caps: writtenCapabilities(accepted, omitUnavailable, this.#dialect),
      max_parallel: limits.parallel,
      ...outcome,
    });
  }

  #watchIdle(): void {
    const { limits, timers } = this.#context;
    this.#deadlineOff();
    this.#deadlineOff = timers.after(limits.idle, () => {
      if (this.#state !== "open") return;
      // A session is not idle while a call is running.
      if (this.#open?.isIdle === false) this.#watchIdle();
      else {
        const text = `no message has come for ${limits.idle / 1000} seconds`;
        void this.end(fault("idle_timeout", text));
      }
    });
  }

  #misread(code: LineProblem, text: string): void {
    if (this.#state === "over") return;
    if (code === "line_malformed") this.#answer("", fault(code, text));
    else void this.end(fault(code, text));
  }

  /** Sends the error for a fault, if there is one. */
  #answer(id: string, of: SessionFault | undefined): void {
    if (of === undefined) return;
    this.#outlet.error(id, of);
    if (countsAgainst(of)) this.#count();
  }

  #count(): void {
    this.#faults++;
    const { faults } = this.#context.limits;
    if (this.#faults < faults) return;
    void this.end(fault("too_many_faults", `${faults} messages were at fault`));
  }
}

const SPOKEN = `this host speaks A2E ${A2E_VERSION}`;
