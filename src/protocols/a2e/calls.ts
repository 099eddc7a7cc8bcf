import type { Clearance } from "../../agent/clearance.js";
import type { IssuingAgent } from "../../agent/issuing-agent.js";
import { LeaveLostError } from "../../agent/outcomes.js";
import { isPassing } from "../../agent/refusal.js";
import type { Operation } from "../../agent/skill.js";
import type { Json, JsonObject } from "../../bytes/json.js";
import type { SessionAuthority } from "./authority.js";
import type { Connection } from "./connection.js";
import {
  denied,
  fault,
  pluginFault,
  type SessionFault,
  unsendable,
  writtenDenials,
} from "./errors.js";
import type { SessionLimits } from "./limits.js";
import { type CallMessage, errorMessage } from "./messages.js";
import { type CapabilityName, PluginError, type SessionScope } from "./plugin.js";
import type { Handler, Registry } from "./registry.js";
import type { Timers } from "./timers.js";

export interface CallsContext {
  readonly agent: IssuingAgent;
  readonly authority: SessionAuthority;
  readonly registry: Registry;
  readonly scope: SessionScope;
  readonly limits: Pick<SessionLimits, "parallel" | "call" | "longestCall">;
  readonly timers: Timers;
  readonly connection: Pick<Connection, "ready">;
  /** Sends a message; says why it cannot be sent. */
  send(message: JsonObject): ReturnType<Connection["send"]>;
  /** Called when a token may have died. */
  suspect(): void;
  onFailure(error: unknown, what: string): void;
}

/** A call under way: until its plugin is done with it, answered or not. */
interface Running {
  readonly message: CallMessage;
  readonly capability: CapabilityName;
  readonly aborting: AbortController;
  /** Once it has leave. */
  clearance?: Clearance<Operation>;
  answered: boolean;
  /** What ended it before it was done. */
  ended?: SessionFault;
}

/** The calls of one session: each is judged, then run, and answered once. */
export class Calls {
  readonly #context: CallsContext;
  readonly #running = new Map<string, Running>();
  readonly #idle = new Set<() => void>();

  constructor(context: CallsContext) {
    this.#context = context;
  }

  /** How many are under way. */
  get size(): number {
    return this.#running.size;
  }

  /** Begins a call. @returns Why it does not begin. */
  begin(message: CallMessage, capability: CapabilityName): SessionFault | undefined {
    const { limits } = this.#context;
    if (this.#running.has(message.id)) {
      return fault("message_invalid", `"id" is that of a call under way`, { capability });
    }
    const unanswered = [...this.#running.values()].filter(({ answered }) => !answered).length;
    // Plugins that are deaf to an abort hold as many places again, and no more.
    if (unanswered >= limits.parallel || this.#running.size >= limits.parallel * 2) {
      const text = `${limits.parallel} calls are under way, as many as may be at once`;
      return fault("too_many_parallel", text, { capability });
    }
    const aborting = new AbortController();
    const running: Running = { message, capability, aborting, answered: false };
    this.#running.set(message.id, running);
    void this.#serve(running);
    return undefined;
  }

  /** Ends a call that its caller no longer waits for; one that is not under way is let be. */
  cancel(id: string): void {
    const running = this.#running.get(id);
    if (running !== undefined) this.#abort(running, fault("cancelled", "the call is cancelled"));
  }

  /** Ends calls whose capability has ended, or the token that they have leave by. */
  look(ended: readonly CapabilityName[]): void {
    for (const running of this.#running.values()) {
      const denials = running.clearance?.lost?.();
      const lost = denials !== undefined && !isPassing(denials);
      if (!lost && !ended.includes(running.capability)) continue;
      const text = "the authority of the call has ended";
      const detail = lost ? { denials: writtenDenials(denials) } : {};
      this.#abort(running, fault("capability_ended", text, { detail }));
    }
  }

  /** Ends all calls. */
  end(of: SessionFault): void {
    for (const running of this.#running.values()) this.#abort(running, of);
  }

  /** Fulfilled once none is under way. */
  settled(): Promise<void> {
    if (this.#running.size === 0) return Promise.resolve();
    return new Promise((resolve) => this.#idle.add(resolve));
  }

  async #serve(running: Running): Promise<void> {
    const { limits, timers } = this.#context;
    const { message } = running;
    const time = Math.min(message.timeout ?? limits.call, limits.longestCall);
    const off = timers.after(time, () => {
      const text = `the call took more than ${time / 1000} seconds`;
      this.#abort(running, fault("timed_out", text));
    });
    try {
      await this.#judge(running);
    } catch (error) {
      // A plugin's failure is its caller's answer: it is not tried elsewhere.
      this.#fail(running, this.#failureOf(error, running));
    } finally {
      off();
      this.#running.delete(message.id);
      if (this.#running.size === 0) {
        for (const resolve of this.#idle) resolve();
        this.#idle.clear();
      }
    }
  }

  async #judge(running: Running): Promise<void> {
    const { agent, authority } = this.#context;
    const { message, capability } = running;
    const { operation, judged } = message;
    const { presenter, declared } = authority;
    const capabilities = authority.presentedFor(capability);
    // Without a token, ambient authority would be asked for.
    if (!authority.isAmbient && capabilities.length === 0) {
      return this.#fail(running, fault("capability_missing", "no token stands for it any more"));
    }
    const clearance = await agent.clearOperation(presenter, {
      ...{ operation, arguments: judged, capabilities, declared },
    });
    if (!clearance.allowed) {
      this.#fail(running, denied(clearance.denials, capability));
      this.#context.suspect();
      return;
    }
    const ready = this.#readied(running);
    if (!("handler" in ready)) {
      // What is cleared and does not run must not happen unseen.
      agent.forgo(clearance, presenter, ready.code);
      return this.#fail(running, ready);
    }
    try {
      agent.begin(clearance, presenter);
    } catch (error) {
      if (!(error instanceof LeaveLostError)) throw error;
      this.#fail(running, denied(error.denials, capability));
      this.#context.suspect();
      return;
    }
    running.clearance = clearance;
    this.#answer(running, await this.#run(running, ready.handler, clearance));
  }

  /** What serves a call that has leave, or why nothing does. */
  #readied({ message, capability, ended }: Running): { readonly handler: Handler } | SessionFault {
    if (ended !== undefined) return ended;
    const { registry, onFailure } = this.#context;
    const { operation, name } = message;
    let handler: Handler | undefined;
    try {
      handler = registry.find(capability, operation, name);
    } catch (error) {
      onFailure(error, operation);
      return fault("plugin_failed", FAILED);
    }
    if (handler === undefined) return fault("name_unknown", "no plugin serves this name");
    const invalid = handler.check(message.arguments);
    if (invalid.length === 0) return { handler };
    const detail = { denials: writtenDenials(invalid) };
    return fault("arguments_invalid", invalid.map((one) => one.message).join("; "), { detail });
  }

  #run(running: Running, handler: Handler, clearance: Clearance<Operation>): Promise<Json> {
    const { authority, scope, connection } = this.#context;
    const { message, aborting } = running;
    const { name, server } = message;
    const { invoker } = authority.presenter;
    let seq = 0;
    const sent = async (chunk: Json): Promise<void> => {
      if (!message.streaming) return;
      aborting.signal.throwIfAborted();
      if (running.answered) return;
      const type = `${message.operation}/event`;
      const why = this.#context.send({ type, req_id: message.id, seq: seq++, data: chunk });
      if (why !== undefined) throw new PluginError("result_too_large", unsendable(why));
      await connection.ready();
    };
    const send = (chunk: Json): Promise<void> => {
      const sending = sent(chunk);
      // Of a plugin that does not await it: unheard, a rejection would end the process.
      sending.catch(() => {});
      return sending;
    };
    return handler.operation.run({
      ...{ arguments: message.arguments, principal: clearance.principal, session: scope },
      ...{ signal: aborting.signal, send },
      ...(name === undefined ? {} : { name }),
      ...(server === undefined ? {} : { server }),
      ...(invoker === undefined ? {} : { invoker }),
    });
  }

  #answer(running: Running, result: Json | undefined): void {
    if (running.answered) return;
    const { id, operation, correlationId } = running.message;
    const why = this.#context.send({
      ...{ type: `${operation}/resp`, req_id: id, ok: true, data: result ?? null },
      ...(correlationId === undefined ? {} : { correlation_id: correlationId }),
    });
    if (why === undefined) running.answered = true;
    else this.#fail(running, fault("result_too_large", unsendable(why)));
  }

  #fail(running: Running, of: SessionFault): void {
    if (running.answered) return;
    running.answered = true;
    const { message, capability } = running;
    // Denials can repeat arguments, and a plugin puts what it likes into its errors.
    for (const one of [of, { ...of, detail: {} }, fault("plugin_failed", FAILED)]) {
      const error = errorMessage(message.id, { capability, ...one });
      if (this.#context.send(error) === undefined) return;
    }
  }

  #abort(running: Running, of: SessionFault): void {
    this.#fail(running, of);
    running.ended ??= of;
    running.aborting.abort(new PluginError(of.code, of.message));
  }

  #failureOf(error: unknown, { message, clearance, aborting }: Running): SessionFault {
    if (clearance === undefined) {
      this.#context.onFailure(error, message.operation);
      return fault("server_error", "the host cannot decide on the call now");
    }
    const own = pluginFault(error);
    if (own !== undefined) return own;
    if (!aborting.signal.aborted) this.#context.onFailure(error, message.operation);
    return fault("plugin_failed", FAILED);
  }
}

const FAILED = "the plugin failed; only the host's log says why";
