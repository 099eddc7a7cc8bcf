import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { Duplex, PassThrough } from "node:stream";
import { fileURLToPath } from "node:url";
import { Client } from "@modelcontextprotocol/client";
import { onTestFinished } from "vitest";
import { StreamTransport } from "../../protocols/mcp/support.js";
import { MAIN } from "../../support/built.js";
import { connectClient } from "../../support/mcp-servers.js";
import type { Bench } from "../run.js";
import { RunningHere } from "../running.js";

const { resolve } = createRequire(import.meta.url);

/** Returns the command line of the published file server for a folder. */
export function fileServer(folder: string): readonly string[] {
  const name = "@modelcontextprotocol/server-filesystem";
  return [
    process.execPath,
    join(dirname(resolve(`${name}/package.json`)), "dist/index.js"),
    folder,
  ];
}

/**
 * Returns the command line of a server that reads the definitions of its tools from a JSON file at each list. Calls
 * answer with the environment of the server.
 */
export function fickleServer(tools: string): readonly string[] {
  return [process.execPath, fileURLToPath(new URL("fickle-server.mjs", import.meta.url)), tools];
}

/**
 * Runs the command with these arguments in this process, and connects the official client to its standard streams. @returns
 * The client, and the command: after the client has closed, the command ends.
 */
export async function connectHere(
  bench: Bench,
  words: readonly string[],
  env: { readonly [name: string]: string } = {},
  cwd: string = bench.folder,
): Promise<{ readonly client: Client; readonly running: RunningHere }> {
  const [input, output] = [new PassThrough(), new PassThrough()];
  const running = new RunningHere(words, {
    cwd,
    env: { PROVISO_HOME: bench.home, NO_COLOR: "1", ...env },
    stdio: () => Duplex.from({ readable: input, writable: output }),
  });
  const client = new Client({ name: "test-host", version: "1" });
  onTestFinished(() => client.close());
  await client.connect(new StreamTransport(output, input));
  return { client, running };
}

/** A host of one gate: the official client over standard streams. */
export class Host {
  readonly client: Client;
  readonly #said: () => string;
  readonly #ended: Promise<unknown>;

  private constructor(client: Client, said: () => string, ended: Promise<unknown>) {
    this.client = client;
    this.#said = said;
    this.#ended = ended;
  }

  /** The output of the gate to standard error. */
  get stderr(): string {
    return this.#said();
  }

  /** Runs `proviso mcp gate` with these arguments in this process, and connects to it. */
  static async start(
    bench: Bench,
    words: readonly string[],
    env: { readonly [name: string]: string } = {},
    cwd: string = bench.folder,
  ): Promise<Host> {
    const { client, running } = await connectHere(bench, ["mcp", "gate", ...words], env, cwd);
    return new Host(client, () => running.stderr, running.ended);
  }

  /** Starts the built `proviso mcp gate` with these arguments, and connects to it. */
  static async startProgram(bench: Bench, words: readonly string[]): Promise<Host> {
    const { client, stderr } = await connectClient(
      [process.execPath, MAIN, "mcp", "gate", ...words],
      {
        env: { PROVISO_HOME: bench.home },
        cwd: bench.folder,
      },
    );
    // Closing the client waits for the program.
    return new Host(client, stderr, Promise.resolve());
  }

  /** Closes the client, and waits for the end of the gate. */
  async close(): Promise<void> {
    await this.client.close();
    await this.#ended;
  }

  async tools(): Promise<readonly string[]> {
    const { tools } = await this.client.listTools();
    return tools.map(({ name }) => name);
  }

  /** Calls a tool, and returns the text of the answer. The text of a refusal begins with `refused: `. */
  async call(name: string, given: Record<string, unknown> = {}): Promise<string> {
    const { content, isError } = await this.client.callTool({ name, arguments: given });
    const text = content.map((part) => (part.type === "text" ? part.text : part.type)).join("");
    return isError === true ? `refused: ${text}` : text;
  }
}
