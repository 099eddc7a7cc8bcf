import type { Duplex } from "node:stream";
import type { Caller, Presenter } from "../../agent/caller.js";
import type { IssuingAgent } from "../../agent/issuing-agent.js";
import { assertMembers, meant } from "../../checks/members.js";
import { Connection, Outlet } from "./connection.js";
import { fault } from "./errors.js";
import { type MessageRate, type SessionLimits, sessionLimits } from "./limits.js";
import { CAPABILITY_NAMES, grantOf, type SessionPlugin } from "./plugin.js";
import { Registry } from "./registry.js";
import { HostSession } from "./session.js";
import type { SessionContext } from "./session-context.js";
import { SessionSlots } from "./session-slots.js";
import { type Listening, listenAt, type SessionAddress } from "./socket.js";
import { TIMERS, type Timers } from "./timers.js";

export interface SessionHostOptions {
  /**
   * The agent that judges every message. It must have the grants `a2e:NAME` of `pluginGrants`, and the operations of
   * `pluginOperations`.
   */
  readonly agent: IssuingAgent;
  readonly plugins: readonly SessionPlugin[];
  /**
   * The party on whose behalf peers without a token act, within the agent's policy. The ledger marks their calls as
   * ambient. Unless given, the host refuses peers without a token.
   */
  readonly ambient?: Caller;
  /**
   * Identifies the peer at the other end of a stream; `undefined` refuses the handshake. Unless `caller` is given, the
   * host refuses tokens that name invokers. Cannot be combined with `ambient`.
   */
  readonly caller?: (stream: Duplex) => Presenter | undefined | Promise<Presenter | undefined>;
  /**
   * True to omit from `accepted_caps` all capabilities that are not enabled. Otherwise `accepted_caps` gives the reason
   * for each of them.
   */
  readonly omitUnavailable?: boolean;
  readonly limits?: Partial<SessionLimits>;
  /**
   * Maximum rate of messages in one session; unlimited unless given. In any case, the host stops reading from a peer
   * that does not read its answers.
   */
  readonly rate?: MessageRate;
  /** Returns the agent's current time, in milliseconds since 1970; `Date.now` unless given. */
  readonly clock?: () => number;
  readonly timers?: Timers;
  /**
   * Called with errors of plugins and of the host itself. Unless given, the host emits a process warning for each
   * error.
   */
  readonly onFailure?: (error: unknown, what: string) => void;
}

/** Serves A2E sessions. */
export interface SessionHost {
  /**
   * Number of sessions. Includes sessions whose handshake is not complete, and ended sessions whose calls still run.
   */
  readonly sessions: number;
  /**
   * Serves a session over a stream of bytes, and closes the stream when the session ends. The promise is never
   * rejected.
   */
  accept(stream: Duplex): Promise<void>;
  /**
   * Accepts sessions at an address.
   *
   * @returns The address, such as `127.0.0.1:4711`; for a Unix socket, its path.
   * @throws Error if the address is in use.
   */
  listen(address: SessionAddress): Promise<string>;
  /** Accepts no more sessions, waits for running calls, and closes plugins. */
  close(): Promise<void>;
}

const OPTIONS = [
  "agent",
  "plugins",
  "ambient",
  "caller",
  "omitUnavailable",
  "limits",
  "rate",
  "clock",
  "timers",
  "onFailure",
];

/**
 * Creates a host for sessions of A2E 1.0. A capability is enabled if the peer requests it, a plugin serves it,
 * and the peer's tokens allow it. Every message is judged before a plugin sees it.
 *
 * @throws TypeError naming the option that is wrong, such as `plugins[1].type`.
 *
 * @example
 * ```ts
 * import { Duplex } from "node:stream";
 * import { connectSession, createSessionHost, pluginGrants, pluginOperations } from "proviso/a2e";
 * import { createIssuingAgent, createPolicyTable } from "proviso/agent";
 * import { createIssuer, createKeyring, createRevocationList } from "proviso/issuer";
 * import { createStores, openLedger } from "proviso/stores";
 *
 * const clock = {
 *   name: "clock",
 *   type: "tools",
 *   operations: { "tool/call": { run: async () => ({ year: 2026 }) } },
 * };
 * const revocations = createRevocationList();
 * const issuer = createIssuer({
 *   name: "clock-host", keys: createKeyring(), revocations,
 *   grants: pluginGrants([clock]),
 * });
 * const database = await createStores(`${process.env.TMPDIR ?? "/tmp"}/a2e-${process.pid}.db`);
 * const ledger = openLedger(database);
 * const agent = await createIssuingAgent({
 *   issuer, revocations, ledger, skills: [], operations: pluginOperations([clock]),
 *   policy: createPolicyTable({ rules: [{ principal: "alice", grant: "a2e:tools", operations: "*" }] }),
 * });
 * const host = await createSessionHost({ agent, plugins: [clock] });
 * const address = await host.listen({ port: 0 });
 *
 * const { token } = issuer.mint({ grant: "a2e:tools", principal: "alice", expires: "1h" });
 * const session = await connectSession({
 *   to: { port: Number(address.split(":")[1]) },
 *   agentId: "assistant", capabilities: ["tools"], tokens: [token],
 * });
 * await session.call("tool/call", { name: "clock" }); // => { year: 2026 }
 * await session.close();
 * await host.close();
 * await ledger.close();
 * await database.close();
 * ```
 */
export async function createSessionHost(options: SessionHostOptions): Promise<SessionHost> {
  assertMembers(options, OPTIONS, "options");
  const { agent, plugins, ambient, caller, rate, limits: given = {} } = options;
  const { omitUnavailable = false, clock = Date.now, timers = TIMERS } = options;
  const { onFailure = warn } = options;
  if (ambient !== undefined && agent.mode === "require") {
    throw new TypeError('ambient: the agent\'s mode "require" accepts no ambient authority');
  }
  if (ambient !== undefined && caller !== undefined) {
    throw new TypeError("ambient: who calls is either authenticated or the same for all");
  }
  if (rate !== undefined && !(rate.messages >= 1 && rate.seconds > 0)) {
    throw new TypeError("rate: must have at least 1 of messages, and seconds above 0");
  }
  const limits = sessionLimits(given);
  const registry = await Registry.open(plugins);
  assertGrants(registry, agent);
  return new Host(
    {
      agent,
      registry,
      ambient,
      omitUnavailable,
      limits,
      rate,
      clock,
      timers,
      onFailure,
      slots: new SessionSlots(limits),
    },
    async (stream) => (caller === undefined ? {} : await caller(stream)),
  );
}

class Host implements SessionHost {
  readonly #context: SessionContext;
  readonly #caller: (stream: Duplex) => Promise<Presenter | undefined>;
  readonly #sessions = new Set<HostSession>();
  readonly #listening: Listening[] = [];
  #lookOff: (() => void) | undefined;
  #closing: Promise<void> | undefined;

  constructor(context: SessionContext, caller: (stream: Duplex) => Promise<Presenter | undefined>) {
    this.#context = context;
    this.#caller = caller;
  }

  get sessions(): number {
    return this.#sessions.size;
  }

  async accept(stream: Duplex): Promise<void> {
    const { slots } = this.#context;
    if (this.#closing !== undefined) return this.#turnAway(stream, "the host is shutting down");
    const full = slots.makeRoom();
    if (full !== undefined) return this.#turnAway(stream, full);
    const session = new HostSession(stream, this.#context, () => this.#caller(stream));
    this.#sessions.add(session);
    this.#watch();
    await session.serve();
    // An ended session keeps its slot while its calls run. Otherwise a peer could exceed the limit of parallel calls by
    // opening new sessions.
    void session.settled().then(() => {
      this.#sessions.delete(session);
      slots.free(session);
    });
  }

  async listen(address: SessionAddress): Promise<string> {
    if (this.#closing !== undefined) throw new TypeError("the host is closed");
    const { onFailure } = this.#context;
    const listening = await listenAt(address, (socket) => void this.accept(socket), onFailure);
    this.#listening.push(listening);
    return listening.address;
  }

  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  async #close(): Promise<void> {
    await Promise.all(this.#listening.map((one) => one.close()));
    await Promise.all([...this.#sessions].map((session) => session.drain()));
    this.#lookOff?.();
    const { registry, onFailure } = this.#context;
    for (const plugin of registry.plugins) {
      try {
        await plugin.close?.();
      } catch (error) {
        onFailure(error, `${plugin.name}: close`);
      }
    }
  }

  /** Checks the tokens of all sessions every `limits.look` milliseconds, as long as there are sessions. */
  #watch(): void {
    const { timers, limits } = this.#context;
    this.#lookOff ??= timers.after(limits.look, () => {
      this.#lookOff = undefined;
      for (const session of this.#sessions) void session.look();
      if (this.#sessions.size > 0) this.#watch();
    });
  }

  /** Sends a peer the reason why it is not served, and closes the stream. The host keeps nothing about the peer. */
  async #turnAway(stream: Duplex, text: string): Promise<void> {
    const { limits, timers, clock } = this.#context;
    const connection = new Connection(stream, limits, timers);
    stream.resume();
    const of = fault(this.#closing === undefined ? "too_many_sessions" : "session_ended", text);
    new Outlet(connection, clock, "h").error("", of);
    await connection.end();
  }
}

/** @throws TypeError naming the grant or operation that the agent lacks. */
function assertGrants(registry: Registry, agent: IssuingAgent): void {
  for (const name of CAPABILITY_NAMES) {
    if (registry.metadata(name) === undefined) continue;
    const id = grantOf(name);
    const grant = agent.grants.get(id);
    if (grant === undefined) {
      throw new TypeError(`agent: has no grant "${id}"${meant(id, [...agent.grants.keys()])}`);
    }
    const lacking = registry.operationsOf(name).find((one) => !grant.operations.includes(one));
    if (lacking === undefined) continue;
    const near = meant(lacking, grant.operations);
    throw new TypeError(`agent: its grant "${id}" has no operation "${lacking}"${near}`);
  }
}

function warn(error: unknown, what: string): void {
  const name = error instanceof Error ? `${error.name}: ${error.message}` : "not an error";
  process.emitWarning(`a session host failed in ${what}: ${name}`, "ProvisoWarning");
}
