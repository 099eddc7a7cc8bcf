import { once } from "node:events";
import { existsSync } from "node:fs";
import { isAbsolute } from "node:path";
import { linesOf, type OversizedLine } from "../../../bytes/line-splitter.js";
import { decodeUtf8 } from "../../../bytes/utf8.js";
import { errorCode, reasonFor } from "../../../system/error-code.js";
import { withoutOwnVariables } from "../../../system/own-variables.js";
import { PipedChild } from "../../../system/piped-child.js";
import { onOneLine, SERVER_LIMITS } from "../message/message.js";
import { aboutTooLarge } from "../message/too-large.js";
import { type ServerConnection, type ServerEnd, ServerError, serverTitle } from "./connection.js";

/** A server over standard streams. */
export interface StdioServerOptions {
  /** The name of the server in the configuration file; `undefined` for a gate's only server. */
  readonly name?: string | undefined;
  /** The program, started without a shell. */
  readonly command: string;
  readonly args: readonly string[];
  /** The working directory of the server; that of this process unless given. */
  readonly cwd?: string | undefined;
  /** The environment of the gate. The server gets all variables except `PROVISO_*`. */
  readonly env: { readonly [name: string]: string | undefined };
  /** Longest message of the server, in bytes; 4 MiB unless given. */
  readonly bytes?: number | undefined;
  /**
   * Milliseconds that the server has to read its input; 120,000 unless given. The gate ends a server that takes longer.
   */
  readonly stall?: number | undefined;
  /** Called with a sentence about a dropped line. */
  readonly log?: ((line: string) => void) | undefined;
  /**
   * Called with the bytes that the server writes to standard error. Unless given, the server writes to the standard
   * error of this process.
   */
  readonly onStderr?: ((bytes: Uint8Array) => void) | undefined;
}

const STALL = 120_000;
/** Number of consecutive lines that are no messages, such as log lines, after which a server is unreadable. */
const GARBAGE = 1000;
/** A line that begins like a message or a batch. The gate itself refuses a batch. */
const MESSAGE = /^\s*[{[]/;

/**
 * Starts a server.
 *
 * @throws ServerError `server_unavailable` if the server does not start.
 */
export async function startStdioServer(options: StdioServerOptions): Promise<ServerConnection> {
  const { command, args, cwd, env, onStderr } = options;
  let child: PipedChild;
  try {
    child = await PipedChild.start({
      command,
      args,
      cwd,
      env: withoutOwnVariables(env),
      stderr: onStderr === undefined ? "inherit" : "pipe",
    });
  } catch (error) {
    throw new ServerError("server_unavailable", startFailure(options, errorCode(error)));
  }
  if (onStderr !== undefined) child.stderr?.on("data", onStderr);
  return new StdioServer(child, options);
}

/**
 * Describes why a program did not start.
 *
 * @param code - The code of the operating system's error, such as `ENOENT`.
 */
export function startFailure(
  { name, command, cwd }: Pick<StdioServerOptions, "name" | "command" | "cwd">,
  code: string,
): string {
  const advice = isAbsolute(command) ? "" : "; write its absolute path if PATH does not have it";
  const missing =
    cwd === undefined || existsSync(cwd)
      ? `there is no program ${command}${advice}`
      : `there is no folder ${cwd}`;
  const why = code === "ENOENT" ? missing : `${command}: ${reasonFor(code, "read")}`;
  return `${serverTitle(name)} does not start: ${why}`;
}

class StdioServer implements ServerConnection {
  readonly name: string | undefined;
  onMessage: ServerConnection["onMessage"] = async () => {};
  onEnd: ServerConnection["onEnd"] = () => {};
  readonly #child: PipedChild;
  readonly #title: string;
  readonly #stall: number;
  readonly #limit: number;
  readonly #log: (line: string) => void;
  #end: ServerEnd | undefined;
  #reading = false;
  #draining: Promise<void> | undefined;
  #garbage = 0;

  constructor(child: PipedChild, options: StdioServerOptions) {
    this.name = options.name;
    this.#child = child;
    this.#title = serverTitle(options.name);
    this.#stall = options.stall ?? STALL;
    this.#limit = options.bytes ?? SERVER_LIMITS.bytes;
    this.#log = options.log ?? (() => {});
    void child.ended.then(({ exitCode, signal }) => {
      const how = signal === null ? `exit code ${exitCode}` : signal;
      this.#over({ code: "server_ended", message: `${this.#title} has ended (${how})` });
    });
  }

  async send(text: string): Promise<void> {
    this.#assertOpen();
    if (!this.#reading) {
      this.#reading = true;
      void this.#read();
    }
    const { stdin } = this.#child;
    if (!stdin.writable) {
      throw new ServerError("server_ended", `${this.#title} has ended or closed its input`);
    }
    if (!stdin.write(`${onOneLine(text)}\n`)) {
      this.#draining ??= this.#drained().finally(() => {
        this.#draining = undefined;
      });
    }
    await this.#draining;
    this.#assertOpen();
  }

  #assertOpen(): void {
    if (this.#end !== undefined) throw new ServerError(this.#end.code, this.#end.message);
  }

  /** Waits until the server has read its input. Ends a server that does not read in time. */
  async #drained(): Promise<void> {
    const { stdin } = this.#child;
    const stop = new AbortController();
    const late = setTimeout(() => stop.abort(), this.#stall);
    try {
      // A server that is ending closes its input without reading the rest.
      await Promise.race(["drain", "close"].map((event) => once(stdin, event, stop)));
    } catch {
      // A broken pipe is not reported here, because the end of the server's process is reported.
      if (!stop.signal.aborted) return;
      const message = `${this.#title} has not read its input for ${this.#stall} ms`;
      this.#over({ code: "server_timeout", message });
    } finally {
      clearTimeout(late);
      stop.abort();
    }
  }

  async #read(): Promise<void> {
    try {
      for await (const line of linesOf(this.#child.stdout, this.#limit)) {
        if (line.kind === "line") await this.#take(line.bytes);
        else await this.#tooLarge(line);
        if (this.#end !== undefined) return;
      }
    } catch {
      this.#unreadable("reading its output has failed");
    }
    // A server that has closed its output cannot answer, so it is ended.
    await this.#child.end();
  }

  async #take(bytes: Uint8Array): Promise<void> {
    const text = decodeUtf8(bytes);
    if (text?.trim() === "") return;
    if (text !== undefined && MESSAGE.test(text)) {
      this.#garbage = 0;
      await this.onMessage(text, {});
      return;
    }
    this.#log(`${this.#title} wrote a line that is not an MCP message; it is dropped`);
    this.#garbage++;
    if (this.#garbage >= GARBAGE) {
      this.#unreadable(`it wrote ${GARBAGE} lines that are not MCP messages`);
    }
  }

  async #tooLarge(line: OversizedLine): Promise<void> {
    const about = aboutTooLarge(line, this.#limit);
    this.#log(`${this.#title} has written a line of more than ${this.#limit} bytes`);
    if (about.kind === "replace") await this.onMessage(about.text, {});
    // Not awaited: a server that waits until its output is read does not read its input.
    else if (about.kind === "answer") this.send(about.text).catch(() => {});
    else if (about.kind === "unreadable") {
      this.#unreadable(`a line has more than ${this.#limit} bytes and is no answer`);
    }
  }

  #unreadable(why: string): void {
    this.#over({ code: "server_unreadable", message: `${this.#title} cannot be read: ${why}` });
  }

  #over(end: ServerEnd): void {
    if (this.#end !== undefined) return;
    this.#end = end;
    this.onEnd(end);
    void this.close();
  }

  close(): Promise<void> {
    this.#end ??= { code: "server_ended", message: `${this.#title} has been closed` };
    return this.#child.end();
  }
}
