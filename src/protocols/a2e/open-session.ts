import { encodeBase64url } from "../../bytes/base64.js";
import type { JsonObject } from "../../bytes/json.js";
import { randomBytes } from "../../bytes/random.js";
import type { SessionAuthority } from "./authority.js";
import { Calls } from "./calls.js";
import type { Connection, Outlet } from "./connection.js";
import type { Dialect } from "./dialect.js";
import { fault, type SessionFault } from "./errors.js";
import {
  type ControlType,
  controlFault,
  type Handshake,
  idOf,
  isControl,
  type Read,
} from "./messages.js";
import { type AcceptedCapability, enabledIn, negotiate, writtenCapabilities } from "./negotiate.js";
import { type CapabilityName, capabilityOf, type SessionScope } from "./plugin.js";
import { type Request, readRequest } from "./request.js";
import { readSdkRequest } from "./sdk/request.js";
import type { SessionContext } from "./session-context.js";

/** The stream of an open session, and ways to end the session. */
export interface SessionLine {
  readonly connection: Connection;
  readonly outlet: Outlet;
  readonly dialect: Dialect;
  /**
   * Counts one more message.
   *
   * @returns `true` if the session exceeds its rate.
   */
  isOverRate(): boolean;
  /** Ends the session when its running calls have finished. */
  shutdown(): void;
  /** Ends the session. */
  end(of?: SessionFault): void;
}

/** A session after its handshake: its enabled capabilities, and its calls. */
export class OpenSession {
  readonly scope: SessionScope;
  /** The outcome of the handshake for each requested capability. */
  readonly accepted: readonly AcceptedCapability[];
  readonly #context: SessionContext;
  readonly #line: SessionLine;
  readonly #authority: SessionAuthority;
  readonly #asked: readonly string[];
  readonly #calls: Calls;
  #enabled: ReadonlySet<CapabilityName>;
  #expiryOff: () => void = () => {};
  #looking: Promise<void> | undefined;
  /** Unfinished `endSession` calls of plugins. */
  readonly #endings = new Set<Promise<void>>();
  #isOver = false;

  constructor(
    { agentId, capabilities }: Handshake,
    authority: SessionAuthority,
    context: SessionContext,
    line: SessionLine,
  ) {
    this.#context = context;
    this.#line = line;
    this.#authority = authority;
    this.#asked = capabilities;
    this.scope = Object.freeze({ id: `ses_${encodeBase64url(randomBytes(16))}`, agentId });
    this.accepted = negotiate(capabilities, context.registry, authority);
    this.#enabled = enabledIn(this.accepted);
    const { agent, registry, limits, timers, onFailure } = context;
    const { connection, outlet } = line;
    this.#calls = new Calls({
      agent,
      authority,
      registry,
      scope: this.scope,
      limits,
      timers,
      onFailure,
      connection,
      send: (message) => outlet.send(message),
      isOverRate: () => line.isOverRate(),
      suspect: () => void this.look(),
    });
    if (this.#enabled.size > 0) this.#watchExpiry();
  }

  /** True if no capability is left. */
  get isEmpty(): boolean {
    return this.#enabled.size === 0;
  }

  /** True if no call is running. */
  get isIdle(): boolean {
    return this.#calls.size === 0;
  }

  /**
   * Handles a message.
   *
   * @returns The fault of the message, if it has one.
   */
  take(type: string, message: JsonObject): SessionFault | undefined {
    const { session_id: session } = message;
    const { dialect } = this.#line;
    // A stream has only one session, and some messages of the SDK leave out the session's id.
    const omits =
      dialect === "sdk"
        ? session === undefined || session === ""
        : session === undefined && (type === "ping" || type === "shutdown");
    if (session !== this.scope.id && !omits) {
      return fault("session_unknown", '"session_id" is not that of this session');
    }
    if (isControl(type)) return this.#control(type, message);
    const operation = type.endsWith("/req") ? type.slice(0, -"/req".length) : "";
    const capability = capabilityOf(operation);
    if (capability === undefined) {
      return fault("type_unknown", "A2E has no messages of this type");
    }
    if (!this.#enabled.has(capability)) {
      const text = `${capability} is not among the capabilities that this session has`;
      return fault("capability_missing", text, { capability });
    }
    const reading = this.#read(message, operation, capability);
    return reading.ok ? this.#calls.begin(reading.value, capability) : reading.fault;
  }

  #read(message: JsonObject, operation: string, capability: CapabilityName): Read<Request> {
    const { registry, clock } = this.#context;
    const isSdk = this.#line.dialect === "sdk";
    const isServed = registry.operationsOf(capability).includes(operation);
    const handler = isServed || !isSdk ? undefined : registry.sdkHandler(capability, operation);
    if (!isServed && handler === undefined) {
      const text = `no plugin serves ${operation}/req`;
      return { ok: false, fault: fault("type_unknown", text, { capability }) };
    }
    if (!isSdk) return readRequest(message, operation, capability);
    const session = this.scope;
    return readSdkRequest(message, { operation, capability, handler, session, clock });
  }

  #control(type: ControlType, message: JsonObject): SessionFault | undefined {
    const wrong = controlFault(message, type, this.#line.dialect);
    if (wrong !== undefined) return wrong;
    if (type === "ping") this.#line.outlet.send({ type: "pong", req_id: idOf(message) });
    else if (type === "shutdown") this.#line.shutdown();
    else {
      const { req_id: called } = message;
      if (typeof called !== "string") {
        return fault("message_invalid", '"req_id" must be the id of a call');
      }
      this.#calls.cancel(called);
    }
    return undefined;
  }

  /** Checks that the tokens are still valid. Ends capabilities and calls that have no valid token left. */
  look(): Promise<void> {
    if (this.#isOver) return Promise.resolve();
    this.#looking ??= this.#look().finally(() => {
      this.#looking = undefined;
    });
    return this.#looking;
  }

  /** Resolves when no call is running, or after `limits.drain` milliseconds. */
  async drained(): Promise<void> {
    await this.#inTime(this.#calls.settled());
  }

  /** Resolves when no call is running. Waits for answered calls, too, if their plugins still run. */
  settled(): Promise<void> {
    return this.#calls.settled();
  }

  /**
   * Aborts all calls, and lets plugins clean up for the session. Waits at most `limits.drain` milliseconds for the
   * plugins.
   */
  async end(of: SessionFault): Promise<void> {
    this.#isOver = true;
    this.#expiryOff();
    this.#calls.end(of);
    this.#endPlugins([...this.#enabled]);
    const { limits, onFailure } = this.#context;
    if (await this.#inTime(Promise.all([this.#looking, ...this.#endings]))) return;
    const late = new Error(`not done within ${limits.drain / 1000} seconds`);
    onFailure(late, "the end of a session");
  }

  /** Returns whether work finishes within `limits.drain` milliseconds. */
  async #inTime(work: Promise<unknown>): Promise<boolean> {
    const { limits, timers } = this.#context;
    let off = (): void => {};
    const overdue = new Promise<false>((resolve) => {
      off = timers.after(limits.drain, () => resolve(false));
    });
    const inTime = await Promise.race([work.then(() => true), overdue]);
    off();
    return inTime;
  }

  async #look(): Promise<void> {
    const { registry, omitUnavailable, onFailure } = this.#context;
    try {
      await this.#authority.look();
    } catch (error) {
      // The session continues: every call is judged anyway, and the next check may succeed.
      onFailure(error, "look");
    }
    if (this.#isOver) return;
    const accepted = negotiate(this.#asked, registry, this.#authority);
    const before = this.#enabled;
    this.#enabled = enabledIn(accepted);
    const ended = [...before].filter((name) => !this.#enabled.has(name));
    this.#calls.look(ended);
    this.#watchExpiry();
    if (ended.length === 0) return;
    const reason = reasonOf(accepted, ended);
    this.#line.outlet.send({
      type: "session/update",
      session_id: this.scope.id,
      ended,
      reason,
      accepted_caps: writtenCapabilities(accepted, omitUnavailable, this.#line.dialect),
    });
    if (this.isEmpty) {
      const text = "no capability is left to this session";
      this.#line.end(fault("session_ended", text, { detail: { reason } }));
    }
    // Not awaited: a slow plugin must not delay later checks.
    this.#endPlugins(ended);
  }

  #endPlugins(ended: readonly CapabilityName[]): void {
    const { registry, onFailure } = this.#context;
    for (const plugin of ended.flatMap((name) => registry.pluginsOf(name))) {
      const ending = (async () => plugin.endSession?.(this.scope))()
        .catch((error: unknown) => onFailure(error, `${plugin.name}: endSession`))
        .finally(() => this.#endings.delete(ending));
      this.#endings.add(ending);
    }
  }

  #watchExpiry(): void {
    const { clock, timers } = this.#context;
    this.#expiryOff();
    const { nextExpiry } = this.#authority;
    if (nextExpiry === undefined || this.#isOver) return;
    // If the clocks of host and agent differ, a periodic check notices the expiry.
    const wait = nextExpiry - clock();
    if (wait > 0) this.#expiryOff = timers.after(wait, () => void this.look());
  }
}

/** Returns the code that explains why the first of the ended capabilities has ended. */
function reasonOf(
  accepted: readonly AcceptedCapability[],
  ended: readonly CapabilityName[],
): string {
  for (const { capability, metadata } of accepted) {
    if (ended.some((name) => name === capability) && "code" in metadata) return metadata.code;
  }
  return "";
}
