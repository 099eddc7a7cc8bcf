import { setTimeout as sleep } from "node:timers/promises";
import type { Client, RequestOptions, Tool } from "@modelcontextprotocol/client";
import type { Json, JsonObject } from "../../../../bytes/json.js";
import { shown } from "../../../../caveats/scalar.js";
import { withoutSecrets } from "../../../../http/log.js";
import { PluginError } from "../../plugin.js";
import { linesTo } from "../environment.js";
import type { ReadyServer } from "./ready-server.js";
import { ServerTransport, TOO_LARGE } from "./stdio-transport.js";

/** Limits on one MCP server, and the receiver of its error output. */
export interface ConnectionLimits {
  /** Time limit for a server to start and to complete the handshake, in milliseconds. */
  readonly startTimeout: number;
  /** Time limit for a call, in milliseconds. */
  readonly timeout: number;
  /** Maximum size of a result's `content` as JSON, in bytes; the same for its `structuredContent`. */
  readonly resultBytes: number;
  /** Called with each line that the server writes to standard error. */
  readonly onStderr: ((server: string, line: string) => void) | undefined;
}

/**
 * A message from a server may be up to this many times as long as `resultBytes`, since it can have both `content` and
 * `structuredContent`, or tools that the plugin does not pass on.
 */
const ROOM = 4;
const MAX_PAGES = 16;
const MAX_MESSAGE = 500;
/** Milliseconds within which a server must answer a check. */
const CHECK = 5000;
/** The client's error codes for a server that does not answer. */
const SILENT: readonly unknown[] = ["REQUEST_TIMEOUT", "CONNECTION_CLOSED", "NOT_CONNECTED"];
/**
 * After a server is closed, the plugin checks at most `LOOKS` times whether it has exited, every `LOOK` milliseconds.
 */
const LOOK = 20;
const LOOKS = 500;

/** The caller's side of a running call: its abort signal, and a function that receives progress. */
export interface Sending {
  readonly signal: AbortSignal;
  readonly onProgress?: (progress: JsonObject) => void;
}

/** A tool as a server describes it: its name, the JSON Schema of its arguments, and its description if it has one. */
export type ListedTool = JsonObject & { readonly name: string; readonly input: JsonObject };

/** An MCP client, and the running server to which it is connected. Not used any more after the server has exited. */
export class McpConnection {
  readonly #client: Client;
  readonly #limits: ConnectionLimits;
  readonly #server: string;
  readonly #pid: number | null;
  readonly #gone: () => void;
  /** The names of the tools in the server's last list. */
  #listed: ReadonlySet<string> = new Set();
  #open = true;
  #isGone = false;
  #checking: Promise<void> | undefined;

  private constructor(
    client: Client,
    server: string,
    pid: number | null,
    limits: ConnectionLimits,
  ) {
    this.#client = client;
    this.#server = server;
    this.#pid = pid;
    this.#limits = limits;
    this.#gone = () => {
      this.#open = false;
      this.#isGone = true;
    };
    client.onclose = this.#gone;
    client.setNotificationHandler("notifications/tools/list_changed", () => {
      this.#listed = new Set();
    });
    // The server may have exited already.
    if (pid === null) this.#gone();
  }

  /** @throws PluginError `server_unavailable` if the server does not start, or does not speak MCP. */
  static async open(server: ReadyServer, limits: ConnectionLimits): Promise<McpConnection> {
    const { Client, getDefaultEnvironment, ...codec } = await loadClient();
    // The client declares no capabilities, so it refuses requests from the server.
    const client = new Client(
      { name: "proviso", version: "1.0" },
      { versionNegotiation: { mode: "auto" }, listMaxPages: MAX_PAGES },
    );
    client.onerror = () => {};
    const { onStderr } = limits;
    const env = { ...getDefaultEnvironment(), ...server.env };
    const transport = new ServerTransport({ ...server, env }, limits.resultBytes * ROOM, codec, {
      ...(onStderr === undefined
        ? {}
        : { onStderr: linesTo(MAX_MESSAGE, (line) => onStderr(server.name, line)) }),
    });
    try {
      const until = AbortSignal.timeout(limits.startTimeout);
      await client.connect(transport, { timeout: limits.startTimeout, signal: until });
    } catch (error) {
      await client.close().catch(() => {});
      await transport.close().catch(() => {});
      const message = `the server "${server.name}" does not start: ${wordsOf(error)}`;
      throw new PluginError("server_unavailable", message, { retryable: true });
    }
    return new McpConnection(client, server.name, transport.pid, limits);
  }

  get isOpen(): boolean {
    return this.#open;
  }

  /**
   * Returns the server's descriptions of the tools for which `isShown` returns `true`.
   *
   * @throws PluginError if the server does not answer, or if the descriptions are too large.
   */
  async list(isShown: (name: string) => boolean, sending: Sending): Promise<readonly ListedTool[]> {
    const tools = (await this.#tools(sending)).filter(({ name }) => isShown(name));
    const described = tools.map(({ name, description, inputSchema }) => ({
      name,
      description,
      input: inputSchema,
    }));
    this.#assertBounded(described);
    return JSON.parse(JSON.stringify(described));
  }

  /**
   * Calls a tool that the server lists.
   *
   * @returns `{content, structuredContent?, isError?}`
   * @throws PluginError if the server does not list the tool, or if the call fails.
   */
  async call(name: string, given: JsonObject, sending: Sending): Promise<Json> {
    if (!this.#listed.has(name)) await this.#tools(sending);
    if (!this.#listed.has(name)) {
      const message = `the server "${this.#server}" lists no tool ${shown(name)}; mcp/list shows its tools`;
      throw new PluginError("name_unknown", message);
    }
    const { content, structuredContent, isError } = await this.#asking(sending, (options) =>
      this.#client.callTool({ name, arguments: { ...given } }, options),
    );
    for (const part of [content, structuredContent]) this.#assertBounded(part);
    return plain({ content, structuredContent, isError });
  }

  async #tools(sending: Sending): Promise<readonly Tool[]> {
    const { tools } = await this.#asking(sending, (options) =>
      this.#client.listTools(undefined, options),
    );
    this.#listed = new Set(tools.map(({ name }) => name));
    return tools;
  }

  /** Resolves when no check of the server is running. */
  checked(): Promise<void> {
    return this.#checking ?? Promise.resolve();
  }

  /**
   * Stops the server: closes its input, then sends SIGTERM, then SIGKILL. Resolves when the server has exited, or after
   * `LOOKS` checks.
   */
  async close(): Promise<void> {
    this.#open = false;
    await this.#client.close();
    // The client may be stopping the server already, and does not wait for the exit after SIGKILL.
    for (let look = 0; look < LOOKS && this.#isAlive(); look++) await sleep(LOOK);
    this.#gone();
  }

  #isAlive(): boolean {
    if (this.#isGone || this.#pid === null) return false;
    try {
      return process.kill(this.#pid, 0);
    } catch {
      return false;
    }
  }

  /** Starts a check whether the server still answers. A server that has stopped reading never answers again. */
  #check(): void {
    if (!this.#open) return;
    this.#checking ??= this.#probe().finally(() => {
      this.#checking = undefined;
    });
  }

  async #probe(): Promise<void> {
    const options = { timeout: Math.min(CHECK, this.#limits.timeout) };
    try {
      // Later versions of MCP have no ping.
      if (this.#client.getProtocolEra() === "modern") await this.#client.discover(options);
      else await this.#client.ping(options);
    } catch (error) {
      // A server that answers with an error still answers.
      if (SILENT.includes(codeOf(error))) this.#open = false;
    }
  }

  async #asking<T>(
    { signal, onProgress }: Sending,
    ask: (options: RequestOptions) => Promise<T>,
  ): Promise<T> {
    const { timeout } = this.#limits;
    try {
      return await ask({
        signal,
        timeout,
        maxTotalTimeout: timeout,
        ...(onProgress === undefined
          ? {}
          : { onprogress: (one) => onProgress(JSON.parse(JSON.stringify(one))) }),
      });
    } catch (error) {
      if (signal.aborted || codeOf(error) === "REQUEST_TIMEOUT") this.#check();
      signal.throwIfAborted();
      throw this.#failure(error);
    }
  }

  #failure(error: unknown): PluginError {
    const server = `the server "${this.#server}"`;
    const code = codeOf(error);
    if (code === "REQUEST_TIMEOUT") {
      const message = `${server} has not answered within ${this.#limits.timeout} ms`;
      return new PluginError("server_timeout", message, { retryable: true });
    }
    if (!this.#open || code === "CONNECTION_CLOSED" || code === "NOT_CONNECTED") {
      this.#open = false;
      const message = `${server} has ended in the middle of the call; the next one starts it again`;
      return new PluginError("server_ended", message, { retryable: true });
    }
    if (code === TOO_LARGE) return this.#tooLarge(`more than ${this.#limits.resultBytes * ROOM}`);
    const detail = typeof code === "number" ? { detail: { code } } : {};
    return new PluginError("server_refused", `${server} refuses: ${wordsOf(error)}`, detail);
  }

  #assertBounded(part: unknown): void {
    const bytes = Buffer.byteLength(JSON.stringify(part) ?? "");
    if (bytes > this.#limits.resultBytes) throw this.#tooLarge(`${bytes}`);
  }

  #tooLarge(bytes: string): PluginError {
    const most = `${this.#limits.resultBytes} are passed on at most`;
    const message = `the server "${this.#server}" answers ${bytes} bytes; ${most}`;
    return new PluginError("result_too_large", message);
  }
}

/** Returns a copy of a value as JSON. */
function plain(value: unknown): Json {
  return JSON.parse(JSON.stringify(value));
}

async function loadClient() {
  try {
    const [{ Client, deserializeMessage, serializeMessage }, { getDefaultEnvironment }] =
      await Promise.all([
        import("@modelcontextprotocol/client"),
        import("@modelcontextprotocol/client/stdio"),
      ]);
    return { Client, deserializeMessage, serializeMessage, getDefaultEnvironment };
  } catch (cause) {
    const message = "servers of MCP need a package: npm install @modelcontextprotocol/client";
    throw new Error(message, { cause });
  }
}

function codeOf(error: unknown): unknown {
  return error instanceof Error && "code" in error ? error.code : undefined;
}

/** Returns an error's message, shortened and without secrets, since the message may come from the server. */
function wordsOf(error: unknown): string {
  const message = error instanceof Error ? error.message : String(error);
  return withoutSecrets(message.slice(0, MAX_MESSAGE));
}
