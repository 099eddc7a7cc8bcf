import { setTimeout as sleep } from "node:timers/promises";
import type { Client, RequestOptions } from "@modelcontextprotocol/client";
import type { Json, JsonObject } from "../../../../bytes/json.js";
import { withoutSecrets } from "../../../../http/log.js";
import { PluginError } from "../../plugin.js";
import { atExit, linesTo } from "../environment.js";

/** A server of MCP that is started when it is needed. */
export interface ReadyServer {
  readonly name: string;
  readonly command: string;
  readonly args: readonly string[];
  readonly cwd: string | undefined;
  readonly env: { readonly [name: string]: string };
}

/** What calls of a server may take. */
export interface ConnectionLimits {
  /** Milliseconds for a server to start and to shake hands. */
  readonly startTimeout: number;
  /** Milliseconds for a call. */
  readonly timeout: number;
  /** Bytes of a result as JSON. */
  readonly resultBytes: number;
  /** Takes what servers write to standard error, a line each. */
  readonly onStderr: ((server: string, line: string) => void) | undefined;
}

/** How much longer than a result the message around it may be, and the list of tools. */
const ROOM = 4;
const MAX_PAGES = 16;
const MAX_MESSAGE = 500;
/** Milliseconds, at most, that a server has to show that it still answers. */
const CHECK = 5000;
/** The client's codes for a server that does not answer. */
const SILENT: readonly unknown[] = ["REQUEST_TIMEOUT", "CONNECTION_CLOSED", "NOT_CONNECTED"];
/** Milliseconds between looks whether a server that was closed has ended, and how many. */
const LOOK = 20;
const LOOKS = 500;

/** A call that runs. */
export interface Sending {
  readonly signal: AbortSignal;
  readonly onProgress?: (progress: JsonObject) => void;
}

/** One running server, and the client that talks to it. Once it has ended, it is not used again. */
export class McpConnection {
  readonly #client: Client;
  readonly #limits: ConnectionLimits;
  readonly #server: string;
  readonly #pid: number | null;
  readonly #gone: () => void;
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
    const off = atExit(() => {
      if (pid !== null) process.kill(pid, "SIGKILL");
    });
    this.#gone = () => {
      this.#open = false;
      this.#isGone = true;
      off();
    };
    client.onclose = this.#gone;
    // It may have ended before.
    if (pid === null) this.#gone();
  }

  /** @throws PluginError `server_unavailable` if it does not start, or does not speak MCP. */
  static async open(server: ReadyServer, limits: ConnectionLimits): Promise<McpConnection> {
    const { Client, StdioClientTransport } = await loadClient();
    // It declares no capability: what a server asks of its client is refused.
    const client = new Client(
      { name: "proviso", version: "1.0" },
      { versionNegotiation: { mode: "auto" }, listMaxPages: MAX_PAGES },
    );
    client.onerror = () => {};
    const { command, args, cwd, env } = server;
    const transport = new StdioClientTransport({
      ...{ command, args: [...args], env: { ...env } },
      stderr: limits.onStderr === undefined ? "ignore" : "pipe",
      ...(cwd === undefined ? {} : { cwd }),
      maxBufferSize: limits.resultBytes * ROOM,
    });
    transport.stderr?.on(
      "data",
      linesTo(MAX_MESSAGE, (line) => limits.onStderr?.(server.name, line)),
    );
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

  /** The server's tools, as it describes them. @throws PluginError */
  async list(sending: Sending): Promise<Json> {
    const { tools } = await this.#asking(sending, (options) =>
      this.#client.listTools(undefined, options),
    );
    return this.#bounded(
      tools.map(({ name, description, inputSchema }) => ({
        name,
        description,
        input: inputSchema,
      })),
    );
  }

  /** What a tool answers: `{content, structuredContent?, isError?}`. @throws PluginError */
  async call(name: string, given: JsonObject, sending: Sending): Promise<Json> {
    const { content, structuredContent, isError } = await this.#asking(sending, (options) =>
      this.#client.callTool({ name, arguments: { ...given } }, options),
    );
    return this.#bounded({ content, structuredContent, isError });
  }

  /** Fulfilled once it is known whether it still answers, if that was in doubt. */
  checked(): Promise<void> {
    return this.#checking ?? Promise.resolve();
  }

  /** Ends the server: its input ends, then SIGTERM, then SIGKILL. Fulfilled when it has ended. */
  async close(): Promise<void> {
    this.#open = false;
    await this.#client.close();
    // The client may have begun to end it before, and does not wait for the last signal.
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

  /** Looks whether it still answers: one that has stopped reading would never do so again. */
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
      // An error that the server sends is an answer.
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
        ...{ signal, timeout, maxTotalTimeout: timeout },
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
    const detail = typeof code === "number" ? { detail: { code } } : {};
    return new PluginError("server_refused", `${server} refuses: ${wordsOf(error)}`, detail);
  }

  #bounded(result: unknown): JsonObject {
    const text = JSON.stringify({ result });
    const bytes = Buffer.byteLength(text);
    if (bytes > this.#limits.resultBytes) {
      const message = `the server "${this.#server}" answers ${bytes} bytes; ${this.#limits.resultBytes} are passed on at most`;
      throw new PluginError("result_too_large", message);
    }
    return JSON.parse(text).result;
  }
}

async function loadClient() {
  try {
    const [{ Client }, { StdioClientTransport }] = await Promise.all([
      import("@modelcontextprotocol/client"),
      import("@modelcontextprotocol/client/stdio"),
    ]);
    return { Client, StdioClientTransport };
  } catch (cause) {
    const message = "servers of MCP need a package: npm install @modelcontextprotocol/client";
    throw new Error(message, { cause });
  }
}

function codeOf(error: unknown): unknown {
  return error instanceof Error && "code" in error ? error.code : undefined;
}

/** What an error says, which a server may have written. */
function wordsOf(error: unknown): string {
  const message = error instanceof Error ? error.message : String(error);
  return withoutSecrets(message.slice(0, MAX_MESSAGE));
}
