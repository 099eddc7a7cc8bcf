import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { Client } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import { onTestFinished } from "vitest";
import { MAIN } from "../../support/built.js";
import type { Bench } from "../run.js";

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

/** A host of one gate: the official client over standard streams. */
export class Host {
  readonly client: Client = new Client({ name: "test-host", version: "1" });
  /** The output of the gate and the server to standard error. */
  stderr = "";

  /** Starts `proviso mcp gate` with these arguments, and connects to it. */
  static async start(
    bench: Bench,
    words: readonly string[],
    env: { readonly [name: string]: string } = {},
    cwd: string = bench.folder,
  ): Promise<Host> {
    const host = new Host();
    const transport = new StdioClientTransport({
      command: process.execPath,
      args: [MAIN, "mcp", "gate", ...words],
      env: { PROVISO_HOME: bench.home, NO_COLOR: "1", ...env },
      cwd,
      stderr: "pipe",
    });
    transport.stderr?.on("data", (bytes: Buffer) => {
      host.stderr += bytes.toString();
    });
    onTestFinished(() => host.client.close());
    await host.client.connect(transport);
    return host;
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
