import { PluginError, type SessionScope } from "../../plugin.js";
import { type ConnectionLimits, McpConnection } from "./mcp-connection.js";
import { type ReadyServer, serverFor } from "./ready-server.js";

/** A server from its start until it has exited. */
interface Held {
  readonly opening: Promise<McpConnection>;
  /** Set while the server is being stopped; resolves when it has exited. */
  ending?: Promise<void>;
}

/**
 * The running servers, one for each server name and principal. A server is stopped when the last session that has used
 * it ends.
 */
export class McpConnections {
  readonly #limits: ConnectionLimits;
  readonly #most: number;
  /** Servers by principal and name, including those that are being stopped. */
  readonly #held = new Map<string, Held>();
  /** The ids of the sessions that have used a server. The keys are those of `#held`. */
  readonly #users = new Map<string, Set<string>>();
  #closed = false;

  constructor(most: number, limits: ConnectionLimits) {
    this.#most = most;
    this.#limits = limits;
  }

  /**
   * Returns the connection to a principal's server; starts the server if it does not run.
   *
   * @throws PluginError `too_many_servers` or `server_unavailable`.
   */
  async get(
    server: ReadyServer,
    principal: string,
    session: SessionScope,
    signal: AbortSignal,
  ): Promise<McpConnection> {
    // Do not record an ended session as a user: the session would keep the server running.
    signal.throwIfAborted();
    const key = JSON.stringify([principal, server.name]);
    const users = this.#users.get(key) ?? new Set();
    this.#users.set(key, users.add(session.id));
    for (;;) {
      // The session may have ended while this call waited for a server to answer or to stop.
      signal.throwIfAborted();
      const before = this.#held.get(key);
      const held = before ?? this.#open(key, serverFor(server, principal));
      const connection = await held.opening;
      await connection.checked();
      const isUsable = connection.isOpen && held.ending === undefined;
      if (isUsable || before === undefined) {
        signal.throwIfAborted();
        return connection;
      }
      await this.#end(key, held);
    }
  }

  #open(key: string, server: ReadyServer): Held {
    this.#assertRoom();
    const held: Held = { opening: McpConnection.open(server, this.#limits) };
    this.#held.set(key, held);
    held.opening.catch(() => this.#forget(key, held));
    return held;
  }

  #end(key: string, held: Held): Promise<void> {
    held.ending ??= (async () => {
      const connection = await held.opening.catch(() => undefined);
      await connection?.close().catch(() => {});
      this.#forget(key, held);
    })();
    return held.ending;
  }

  #forget(key: string, held: Held): void {
    if (this.#held.get(key) === held) this.#held.delete(key);
  }

  /** Stops the servers that this session has used and no other open session has used. */
  async endSession(session: SessionScope): Promise<void> {
    const unused = [...this.#users].filter(([, users]) => {
      return users.delete(session.id) && users.size === 0;
    });
    for (const [key] of unused) this.#users.delete(key);
    await this.#endAll(unused.map(([key]) => key));
  }

  async close(): Promise<void> {
    this.#closed = true;
    this.#users.clear();
    await this.#endAll([...this.#held.keys()]);
  }

  async #endAll(keys: readonly string[]): Promise<void> {
    await Promise.all(
      keys.map(async (key) => {
        const held = this.#held.get(key);
        if (held !== undefined) await this.#end(key, held);
      }),
    );
  }

  #assertRoom(): void {
    if (this.#closed) throw new PluginError("server_unavailable", "the host is closing");
    if (this.#held.size < this.#most) return;
    const message = `${this.#most} servers run, the maximum; try again when one has ended`;
    throw new PluginError("too_many_servers", message, { retryable: true });
  }
}
