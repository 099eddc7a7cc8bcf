import type { Clearance } from "../../agent/clearance.js";
import { ClearanceLostError } from "../../agent/clearance.js";
import type { IssuingAgent } from "../../agent/issuing-agent.js";
import type { Operation } from "../../agent/skill.js";
import type { Json, JsonObject } from "../../bytes/json.js";
import type { SessionAuthority } from "./authority.js";
import type { Connection } from "./connection.js";
import {
  denied,
  fault,
  isRetryable,
  pluginFault,
  type SessionFault,
  unsendable,
  writtenDenials,
} from "./errors.js";
import { type CapabilityName, PluginError, type SessionScope } from "./plugin.js";
import type { Handler, Registry } from "./registry.js";
import type { Request, Step } from "./request.js";

export interface CallStepsContext {
  readonly agent: IssuingAgent;
  readonly authority: SessionAuthority;
  readonly registry: Registry;
  readonly scope: SessionScope;
  readonly connection: Pick<Connection, "ready">;
  /**
   * Sends a message.
   *
   * @returns The reason if the message cannot be sent.
   */
  send(message: JsonObject): ReturnType<Connection["send"]>;
  /**
   * Counts one more message.
   *
   * @returns `true` if the session exceeds its rate.
   */
  isOverRate(): boolean;
  onFailure(error: unknown, what: string): void;
}

/** A call whose plugin has not finished. The call may already be answered, for example because it was cancelled. */
export interface Running {
  readonly request: Request;
  readonly capability: CapabilityName;
  readonly aborting: AbortController;
  /** The clearance of the running step. */
  clearance?: Clearance<Operation> | undefined;
  /** Number of steps so far. */
  steps: number;
  /** Number of parts of the answer that were sent before the answer itself. */
  parts: number;
  /** True if the tokens did not allow a step: a token may have been revoked or may have expired. */
  suspects: boolean;
  answered: boolean;
  /** The fault that ended the call early, such as `cancelled`. */
  ended?: SessionFault;
}

/** Judges each step of a session's calls, and runs the steps that are allowed. */
export class CallSteps {
  readonly #context: CallStepsContext;

  constructor(context: CallStepsContext) {
    this.#context = context;
  }

  /**
   * Judges and runs a step.
   *
   * @throws PluginError if the step is refused or fails.
   */
  async ask(running: Running, step: Step): Promise<Json> {
    if (running.ended !== undefined) throw refusedBy(running.ended);
    // The first step is counted together with the message, when the message arrives.
    if (running.steps++ > 0 && this.#context.isOverRate()) {
      throw refusedBy(fault("rate_limited", "the session makes calls more often than it may"));
    }
    running.clearance = undefined;
    try {
      return await this.#taken(running, step);
    } catch (error) {
      throw refusedBy(this.failureOf(error, running));
    }
  }

  async #taken(running: Running, step: Step): Promise<Json> {
    const { agent, authority, registry } = this.#context;
    const { capability } = running;
    const { operation, judged } = step;
    const { presenter, declared } = authority;
    const capabilities = authority.presentedFor(capability);
    // The agent treats an empty list as ambient authority.
    if (!authority.isAmbient && capabilities.length === 0) {
      throw refusedBy(fault("capability_missing", "no token allows it any longer"));
    }
    const clearance = await agent.clearOperation(presenter, {
      operation,
      arguments: judged,
      capabilities,
      declared,
      listing: registry.isListing(capability, operation),
    });
    if (!clearance.allowed) {
      running.suspects = true;
      throw refusedBy(denied(clearance.denials, capability));
    }
    const ready = this.#readied(running, step);
    if (!("handler" in ready)) {
      // Give up the clearance, so that the ledger shows a call that was cleared and did not run.
      agent.forgo(clearance, presenter, ready.code);
      throw refusedBy(ready);
    }
    try {
      await agent.begin(clearance, presenter);
    } catch (error) {
      if (!(error instanceof ClearanceLostError)) throw error;
      running.suspects = true;
      throw refusedBy(denied(error.denials, capability));
    }
    // `begin` reads the revocation list; the call may have been cancelled in the meantime.
    if (running.ended !== undefined) throw refusedBy(running.ended);
    running.clearance = clearance;
    const result: Json | undefined = await this.#run(running, step, ready.handler, clearance);
    return result ?? null;
  }

  /**
   * Returns the handler of an allowed step. Returns a fault if the call has ended, if no plugin serves the name, or if
   * the arguments are invalid.
   */
  #readied(
    { capability, ended }: Running,
    step: Step,
  ): { readonly handler: Handler } | SessionFault {
    if (ended !== undefined) return ended;
    const { registry, onFailure } = this.#context;
    const { operation, name } = step;
    let handler: Handler | undefined;
    try {
      handler = registry.find(capability, operation, name);
    } catch (error) {
      onFailure(error, operation);
      return fault("plugin_failed", FAILED);
    }
    if (handler === undefined) return fault("name_unknown", "no plugin serves this name");
    const invalid = handler.check(step.arguments);
    if (invalid.length === 0) return { handler };
    const detail = { denials: writtenDenials(invalid) };
    return fault("arguments_invalid", invalid.map((one) => one.message).join("; "), { detail });
  }

  #run(
    running: Running,
    step: Step,
    handler: Handler,
    clearance: Clearance<Operation>,
  ): Promise<Json> {
    const { authority, scope, connection } = this.#context;
    const { request, capability, aborting } = running;
    const { name, server } = step;
    const { invoker } = authority.presenter;
    const sent = async (chunk: Json): Promise<void> => {
      if (!request.streaming) return;
      aborting.signal.throwIfAborted();
      if (running.answered) return;
      const part = { ...request.part(chunk), req_id: request.id, seq: running.parts++ };
      const why = this.#context.send(part);
      if (why !== undefined) throw new PluginError("result_too_large", unsendable(why));
      await connection.ready();
    };
    const send = (chunk: Json): Promise<void> => {
      const sending = sent(chunk);
      // A plugin might not await this promise, and an unhandled rejection would end the process.
      sending.catch(() => {});
      return sending;
    };
    return handler.operation.run({
      arguments: step.arguments,
      principal: clearance.principal,
      session: scope,
      signal: aborting.signal,
      send,
      mayCall: (operation, named = {}) => authority.mayCall(capability, operation, named),
      narrowed: (operation, named, input) =>
        authority.narrowed(capability, operation, named, input),
      name,
      server,
      invoker,
    });
  }

  /** Returns the fault for the answer to a failed call. Passes errors that the peer must not see to `onFailure`. */
  failureOf(error: unknown, { request, clearance, aborting }: Running): SessionFault {
    const own = pluginFault(error);
    if (own !== undefined) return own;
    if (clearance === undefined) {
      this.#context.onFailure(error, request.type);
      return fault("server_error", "the host cannot decide on the call now");
    }
    if (!aborting.signal.aborted) this.#context.onFailure(error, request.type);
    return fault("plugin_failed", FAILED);
  }
}

/** Converts a fault to an error, so that a message with several steps can continue after a failed step. */
function refusedBy(of: SessionFault): PluginError {
  const { code, message, detail = {} } = of;
  return new PluginError(code, message, { detail, retryable: isRetryable(of) });
}

/** The message that a peer gets when a plugin fails. */
export const FAILED = "the plugin failed; only the host's log says why";
