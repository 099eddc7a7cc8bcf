import { mkdtempSync, rmSync } from "node:fs";
import { connect, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { onTestFinished } from "vitest";
import type { Json, JsonObject } from "../../../src/bytes/json.js";
import type { HopInit } from "../../../src/caveats/hop.js";
import {
  type ConnectOptions,
  connectSession,
  createSessionHost,
  PluginError,
  pluginGrants,
  pluginOperations,
  type Session,
  SessionError,
  type SessionHost,
  type SessionHostOptions,
  type SessionPlugin,
  type Timers,
} from "../../../src/protocols/a2e/index.js";
import { type World, type WorldOptions, world } from "../../agent/support.js";

/** Timers that a test advances. */
class TurnedTimers implements Timers {
  readonly #clock: { now: number };
  readonly #waiting = new Set<{ at: number; run: () => void }>();

  constructor(clock: { now: number }) {
    this.#clock = clock;
  }

  after(milliseconds: number, run: () => void): () => void {
    const one = { at: this.#clock.now + milliseconds, run };
    this.#waiting.add(one);
    return () => void this.#waiting.delete(one);
  }

  /** Advances the time, and runs the functions that are due. */
  turn(milliseconds: number): void {
    this.#clock.now += milliseconds;
    for (const one of [...this.#waiting].sort((a, b) => a.at - b.at)) {
      if (one.at <= this.#clock.now && this.#waiting.delete(one)) one.run();
    }
  }
}

/** A host with a real agent, ledger and plugins, and the parts that tests can change. */
export interface Hosted extends World {
  readonly host: SessionHost;
  readonly timers: TurnedTimers;
  /** The loopback port on which the host listens. */
  readonly port: number;
  /** The failures that the host passed to `onFailure`. */
  readonly failures: string[];
  /** Mints a token of `a2e:NAME` for Alice. */
  token(name: string, hop?: HopInit): string;
}

export interface HostChoices extends Partial<Omit<SessionHostOptions, "agent">> {
  readonly world?: WorldOptions;
}

/** Records what the plugins of {@link plugins} did, and controls them. */
export interface Held {
  /** The names of the tools that have run, in order. */
  readonly ran: string[];
  /** The ended sessions, as `PLUGIN SESSION_ID`. */
  readonly ended: string[];
  /** Lets all calls of the tool `wait` finish. */
  release: () => void;
}

/** Returns plugins with real functions: tools that add, echo, wait, fail and send parts; and a memory. */
export function plugins(held: Held = newHeld()): readonly SessionPlugin[] {
  const gate = new Promise<void>((resolve) => {
    held.release = resolve;
  });
  const kept = new Map<string, Json>();
  const tools: SessionPlugin = {
    name: "sums",
    type: "tools",
    operations: {
      "tool/list": { run: async () => ["add", "echo"] },
      "tool/call": {
        run: async ({ name, arguments: given, signal, send, ...call }) => {
          held.ran.push(name ?? "");
          if (name === "add") return Number(given["a"]) + Number(given["b"]);
          if (name === "who") return { principal: call.principal, invoker: call.invoker ?? null };
          if (name === "fail") throw new Error("the secret of the house");
          if (name === "refuse") throw new PluginError("sum_too_large", "sums end at 9");
          if (name === "large") return "x".repeat(Number(given["size"]));
          if (name === "parts") {
            for (let part = 0; part < Number(given["parts"]); part++) await send({ part });
          }
          if (name === "deaf") await gate;
          if (name === "wait") {
            await Promise.race([
              gate,
              new Promise((_, reject) => {
                signal.addEventListener("abort", () => reject(signal.reason), { once: true });
              }),
            ]);
          }
          return given;
        },
      },
    },
    endSession: async ({ id }) => void held.ended.push(`sums ${id}`),
  };
  const memory: SessionPlugin = {
    name: "kept",
    type: "memory",
    operations: {
      "memory/get": {
        input: { type: "object", properties: { key: { type: "string" } }, required: ["key"] },
        run: async ({ arguments: { key } }) => kept.get(String(key)) ?? null,
      },
      "memory/set": {
        run: async ({ arguments: { key, value = null } }) => {
          kept.set(String(key), value);
          return true;
        },
      },
    },
    endSession: async ({ id }) => void held.ended.push(`kept ${id}`),
  };
  return [tools, memory];
}

export function newHeld(): Held {
  return { ran: [], ended: [], release: () => {} };
}

/** Returns policy rules that allow Alice everything that the plugins serve. */
function rulesFor(served: readonly SessionPlugin[]): NonNullable<WorldOptions["rules"]> {
  const rules = pluginGrants(served).map(({ id }) => ({
    principal: "alice",
    grant: id,
    operations: "*" as const,
  }));
  return { rules };
}

export async function hosted(choices: HostChoices = {}): Promise<Hosted> {
  const { world: worldOptions = {}, plugins: served = plugins(), ...options } = choices;
  const parts = await world({
    skills: [],
    operations: pluginOperations(served),
    grants: pluginGrants(served),
    rules: rulesFor(served),
    ...worldOptions,
  });
  const { agent, issuer, clock } = parts;
  const timers = new TurnedTimers(clock);
  const failures: string[] = [];
  const host = await createSessionHost({
    agent,
    plugins: served,
    timers,
    clock: () => clock.now,
    onFailure: (error, what) => void failures.push(`${what}: ${String(error)}`),
    ...options,
  });
  onTestFinished(() => host.close());
  const address = await host.listen({ port: 0 });
  return {
    ...parts,
    host,
    timers,
    failures,
    port: Number(address.split(":")[1]),
    token: (name, hop = {}) =>
      issuer.mint({ grant: `a2e:${name}`, principal: "alice", expires: "1h", ...hop }).token,
  };
}

/** A peer that sends and receives lines without interpreting them, like `nc`. */
export class Peer {
  readonly socket: Socket;
  readonly over: Promise<void>;
  readonly #lines: JsonObject[] = [];
  readonly #wanting: ((message: JsonObject | undefined) => void)[] = [];
  #isOver = false;

  private constructor(socket: Socket) {
    this.socket = socket;
    let text = "";
    socket.setEncoding("utf8");
    socket.on("error", () => {});
    socket.on("data", (chunk: string) => {
      const lines = `${text}${chunk}`.split("\n");
      text = lines.pop() ?? "";
      for (const line of lines) this.#take(JSON.parse(line));
    });
    this.over = new Promise((resolve) => {
      socket.once("close", () => {
        this.#isOver = true;
        for (const want of this.#wanting.splice(0)) want(undefined);
        resolve();
      });
    });
  }

  static async at(to: number | string): Promise<Peer> {
    const socket = typeof to === "number" ? connect(to, "127.0.0.1") : connect(to);
    const peer = new Peer(socket);
    onTestFinished(() => void socket.destroy());
    await new Promise<void>((resolve, reject) => {
      socket.once("connect", resolve);
      socket.once("error", reject);
    });
    return peer;
  }

  #take(message: JsonObject): void {
    const want = this.#wanting.shift();
    if (want === undefined) this.#lines.push(message);
    else want(message);
  }

  send(message: JsonObject | string): void {
    this.socket.write(typeof message === "string" ? message : `${JSON.stringify(message)}\n`);
  }

  /** Returns the next message; `undefined` after the end of the stream. */
  async next(): Promise<JsonObject | undefined> {
    const line = this.#lines.shift();
    if (line !== undefined || this.#isOver) return line;
    return new Promise((resolve) => this.#wanting.push(resolve));
  }

  /** Returns the named properties of the next message. */
  async part(...names: readonly string[]): Promise<JsonObject> {
    const message = (await this.next()) ?? {};
    return Object.fromEntries(names.map((name) => [name, message[name] ?? null]));
  }

  /** Returns the code of the next message if it is an error; otherwise its type. */
  async code(): Promise<Json> {
    const message = await this.next();
    return message?.["code"] ?? message?.["type"] ?? "closed";
  }

  /** Sends the handshake request. @returns The answer. */
  async greet(
    caps: readonly string[],
    tokens: readonly string[],
    more: JsonObject = {},
  ): Promise<JsonObject> {
    this.send({
      a2e: "1.0",
      type: "handshake/req",
      id: "hs",
      agent_id: "nc",
      agent_caps: caps,
      auth_token: tokens.join(","),
      ...more,
    });
    const answer = await this.next();
    if (answer === undefined) throw new Error("the host has closed the stream");
    return answer;
  }

  /** Sends the handshake request. @returns The id of the session. */
  async open(caps: readonly string[], tokens: readonly string[]): Promise<string> {
    const { ok, session_id: id } = await this.greet(caps, tokens);
    if (ok !== true || typeof id !== "string") throw new Error("the handshake is refused");
    return id;
  }
}

/** Returns a `tool/call` message. */
export function toolCall(
  session: string,
  name: string,
  given: JsonObject = {},
  id: string = name,
): JsonObject {
  return { type: "tool/call/req", id, session_id: session, tool_name: name, arguments: given };
}

export async function joined(
  host: Hosted,
  capabilities: readonly string[],
  tokens: readonly string[],
  more: Partial<ConnectOptions> = {},
): Promise<Session> {
  const session = await connectSession({
    to: { port: host.port },
    agentId: "it",
    capabilities,
    tokens,
    ...more,
  });
  onTestFinished(() => session.close());
  return session;
}

/** Returns the code of the SessionError with which a promise is rejected. */
export async function codeOf(work: Promise<unknown>): Promise<string> {
  try {
    await work;
  } catch (error) {
    if (error instanceof SessionError) return error.code;
    throw error;
  }
  return "done";
}

/**
 * Returns a path for a Unix socket. The path is short enough for a socket, and its folder is removed after the test.
 */
export function socketPath(): string {
  const folder = mkdtempSync(join(tmpdir(), "a2e-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return join(folder, "host.sock");
}
