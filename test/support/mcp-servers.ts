import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { Client, type ClientOptions } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import { onTestFinished } from "vitest";

const MODULES: string = fileURLToPath(new URL("../../node_modules", import.meta.url));

/** Returns the command of an MCP server that another project publishes. */
export function publishedServer(name: string, ...args: readonly string[]): readonly string[] {
  return [process.execPath, join(MODULES, name, "dist", "index.js"), ...args];
}

/** Settings for connecting a client to a server over standard streams. */
export interface Connection {
  readonly env?: { readonly [name: string]: string };
  readonly cwd?: string;
  readonly options?: ClientOptions;
  /** Called before the client is connected, such as to answer the server's requests. */
  readonly prepare?: (client: Client) => void;
}

/** A client of a server, with all that the server has written to standard error. */
export interface Connected {
  readonly client: Client;
  readonly stderr: () => string;
}

/** Connects the official client to a program. The end of the test ends the client and the program. */
export async function connectClient(
  [command = "", ...args]: readonly string[],
  { env = {}, cwd, options = {}, prepare }: Connection = {},
): Promise<Connected> {
  const { PATH = "", TMPDIR = "" } = process.env;
  const transport = new StdioClientTransport({
    command,
    args,
    cwd,
    env: { PATH, TMPDIR, HOME: "/nonexistent", NO_COLOR: "1", ...env },
    stderr: "pipe",
  });
  let stderr = "";
  transport.stderr?.on("data", (chunk: Buffer) => {
    stderr += chunk.toString("utf8");
  });
  const client = new Client({ name: "test", version: "1.0" }, options);
  // Some servers also write lines that are not messages.
  client.onerror = () => {};
  prepare?.(client);
  onTestFinished(() => client.close());
  await client.connect(transport);
  return { client, stderr: () => stderr };
}
