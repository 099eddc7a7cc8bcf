import { PluginError, type SessionScope } from "../../plugin.js";
import { type ConnectionLimits, McpConnection, type ReadyServer } from "./mcp-connection.js";

interface Held {
  readonly opening: Promise<McpConnection>;
  /** The sessions that have used it. */
  readonly users: Set<string>;
  connection?: McpConnection;
}

/**
 * Running servers: one of each kind for each principal, so that what a server keeps in memory is that
 * principal's. It ends with the last session that has used it.
 */
export class McpConnections {
  readonly #limits: ConnectionLimits;
  readonly #most: number;
  /** By principal and server. */
  readonly #held = new Map<string, Held>();
  #closed = false;

  constructor(most: number, limits: ConnectionLimits) {
    this.#most = most;
    this.#limits = limits;
  }

  /**
   * The server of a principal, started if it does not run.
   *
   * @throws PluginError `too_many_servers` or `server_unavailable`
   */
  async get(
    server: ReadyServer,
    principal: string,
    session: SessionScope,
    signal: AbortSignal,
  ): Promise<McpConnection> {
    const key = JSON.stringify([principal, server.name]);
    let held = this.#held.get(key);
    if (held === undefined || held.connection?.isOpen === false) {
      const users = held?.users ?? new Set<string>();
      if (held === undefined) this.#assertRoom();
      held = this.#open(key, server, users);
    }
    held.users.add(session.id);
    const connection = await held.opening;
    // The session may have ended while it started.
    signal.throwIfAborted();
    return connection;
  }

  #open(key: string, server: ReadyServer, users: Set<string>): Held {
    const held: Held = { opening: McpConnection.open(server, this.#limits), users };
    this.#held.set(key, held);
    held.opening.then(
      (connection) => {
        held.connection = connection;
      },
      () => {
        if (this.#held.get(key) === held) this.#held.delete(key);
      },
    );
    return held;
  }

  /** Ends the servers that no other session has used. */
  async endSession(session: SessionScope): Promise<void> {
    const unused: Held[] = [];
    for (const [key, held] of this.#held) {
      if (!held.users.delete(session.id) || held.users.size > 0) continue;
      this.#held.delete(key);
      unused.push(held);
    }
    await endAll(unused);
  }

  async close(): Promise<void> {
    this.#closed = true;
    const all = [...this.#held.values()];
    this.#held.clear();
    await endAll(all);
  }

  #assertRoom(): void {
    if (this.#closed) throw new PluginError("server_unavailable", "the host is closing");
    if (this.#held.size < this.#most) return;
    const message = `${this.#most} servers run, which is as many as may; try again when a session has ended`;
    throw new PluginError("too_many_servers", message, { retryable: true });
  }
}

async function endAll(all: readonly Held[]): Promise<void> {
  await Promise.all(
    all.map(async ({ opening }) => {
      const connection = await opening.catch(() => undefined);
      await connection?.close();
    }),
  );
}
