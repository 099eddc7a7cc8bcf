import { isPassing } from "../../agent/refusal.js";
import type { JsonObject } from "../../bytes/json.js";
import { CallSteps, type CallStepsContext, FAILED, type Running } from "./call-steps.js";
import { fault, type SessionFault, unsendable, writtenDenials } from "./errors.js";
import type { SessionLimits } from "./limits.js";
import { errorMessage } from "./messages.js";
import { type CapabilityName, PluginError } from "./plugin.js";
import type { Request } from "./request.js";
import type { Timers } from "./timers.js";

export interface CallsContext extends CallStepsContext {
  readonly limits: Pick<SessionLimits, "parallel" | "call" | "longestCall">;
  readonly timers: Timers;
  /** Called when a token may have been revoked or may have expired. */
  suspect(): void;
}

/** Judges, runs and answers the calls of one session. Each call gets exactly one answer. */
export class Calls {
  readonly #context: CallsContext;
  readonly #steps: CallSteps;
  readonly #running = new Map<string, Running>();
  readonly #idle = new Set<() => void>();

  constructor(context: CallsContext) {
    this.#context = context;
    this.#steps = new CallSteps(context);
  }

  /** Number of running calls. */
  get size(): number {
    return this.#running.size;
  }

  /**
   * Starts a call.
   *
   * @returns The fault if the call cannot start.
   */
  begin(request: Request, capability: CapabilityName): SessionFault | undefined {
    const { limits } = this.#context;
    if (this.#running.has(request.id)) {
      return fault("message_invalid", `"id" is that of a call under way`, { capability });
    }
    const unanswered = [...this.#running.values()].filter(({ answered }) => !answered).length;
    // An aborted call is answered immediately, but its plugin may continue to run. The second limit includes such calls.
    if (unanswered >= limits.parallel || this.#running.size >= limits.parallel * 2) {
      const text = `${limits.parallel} calls are under way, the maximum`;
      return fault("too_many_parallel", text, { capability });
    }
    const aborting = new AbortController();
    const running: Running = {
      request,
      capability,
      aborting,
      steps: 0,
      parts: 0,
      suspects: false,
      answered: false,
    };
    this.#running.set(request.id, running);
    void this.#serve(running);
    return undefined;
  }

  /** Aborts a running call that the peer has cancelled. */
  cancel(id: string): void {
    const running = this.#running.get(id);
    if (running !== undefined) this.#abort(running, fault("cancelled", "the call is cancelled"));
  }

  /** Aborts each call whose capability is in `ended`, or whose clearance is lost for good. */
  look(ended: readonly CapabilityName[]): void {
    for (const running of this.#running.values()) {
      const denials = running.clearance?.lost?.();
      const lost = denials !== undefined && !isPassing(denials);
      if (!lost && !ended.includes(running.capability)) continue;
      const text = "the authority of the call has ended";
      const detail: JsonObject = lost ? { denials: writtenDenials(denials) } : {};
      this.#abort(running, fault("capability_ended", text, { detail }));
    }
  }

  /** Aborts all running calls, and answers each with the fault. */
  end(of: SessionFault): void {
    for (const running of this.#running.values()) this.#abort(running, of);
  }

  /** Resolves once no call is running. */
  settled(): Promise<void> {
    if (this.#running.size === 0) return Promise.resolve();
    return new Promise((resolve) => this.#idle.add(resolve));
  }

  async #serve(running: Running): Promise<void> {
    const { limits, timers } = this.#context;
    const { request } = running;
    const time = Math.min(request.timeout ?? limits.call, limits.longestCall);
    const off = timers.after(time, () => {
      const text = `the call took more than ${time / 1000} seconds`;
      this.#abort(running, fault("timed_out", text));
    });
    try {
      this.#answer(running, await request.answer((step) => this.#steps.ask(running, step)));
    } catch (error) {
      // A failed call is not passed to another plugin.
      this.#fail(running, this.#steps.failureOf(error, running));
    } finally {
      off();
      if (running.suspects) this.#context.suspect();
      this.#running.delete(request.id);
      if (this.#running.size === 0) {
        for (const resolve of this.#idle) resolve();
        this.#idle.clear();
      }
    }
  }

  #answer(running: Running, members: JsonObject): void {
    if (running.answered) return;
    const { id, type, correlationId } = running.request;
    const why = this.#context.send({
      ...members,
      type: `${type}/resp`,
      req_id: id,
      ...(correlationId === undefined ? {} : { correlation_id: correlationId }),
    });
    if (why === undefined) running.answered = true;
    else this.#fail(running, fault("result_too_large", unsendable(why)));
  }

  #fail(running: Running, of: SessionFault): void {
    if (running.answered) return;
    running.answered = true;
    const { request, capability } = running;
    // If the fault cannot be sent, send it without details; if that fails too, send a fixed fault. Denials can repeat
    // long arguments, and a plugin's error can contain anything.
    for (const one of [of, { ...of, detail: {} }, fault("plugin_failed", FAILED)]) {
      const error = errorMessage(request.id, { capability, ...one });
      if (this.#context.send(error) === undefined) return;
    }
  }

  #abort(running: Running, of: SessionFault): void {
    this.#fail(running, of);
    running.ended ??= of;
    running.aborting.abort(new PluginError(of.code, of.message));
  }
}
