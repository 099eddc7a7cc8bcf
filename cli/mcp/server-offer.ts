import type { Json, JsonObject } from "../../src/bytes/json.js";
import { networkError } from "../../src/client/client-error.js";
import { startFailure } from "../../src/protocols/mcp/server/stdio-server.js";
import { errorCode, isErrno, messageOf } from "../../src/system/error-code.js";
import { withoutOwnVariables } from "../../src/system/own-variables.js";
import type { Context } from "../context.js";
import { environmentError } from "../exit.js";
import { printable } from "../output.js";

/** A tool as its server lists it. */
interface OfferedTool {
  readonly name: string;
  readonly inputSchema: JsonObject;
}

/** The tools that a server lists, and the other features that it declares. */
export interface ServerOffer {
  /** The server's own name and version, as the server reports them. */
  readonly title: string;
  readonly tools: readonly OfferedTool[];
  readonly hasResources: boolean;
  readonly hasPrompts: boolean;
  readonly hasCompletions: boolean;
}

/** Milliseconds to wait for each answer of the server. */
const TIMEOUT = 30_000;

/**
 * Starts or connects to a server, reads its features and its list of tools, and ends it or the connection.
 *
 * @param server - The words of the server's command, or the server's address.
 * @throws CliError if the server does not start or does not answer.
 */
export async function offerOf(
  context: Context,
  server: readonly [string, ...string[]] | URL,
): Promise<ServerOffer> {
  const { Client, StreamableHTTPClientTransport } = await import("@modelcontextprotocol/client");
  const { StdioClientTransport } = await import("@modelcontextprotocol/client/stdio");
  const client = new Client(
    { name: "proviso", version: "1.0" },
    { versionNegotiation: { mode: "auto" } },
  );
  // Ignores lines that are not messages, which some servers write.
  client.onerror = () => {};
  const transport =
    server instanceof URL
      ? new StreamableHTTPClientTransport(server)
      : new StdioClientTransport({
          command: server[0],
          args: server.slice(1),
          env: withoutOwnVariables(context.env),
          stderr: "ignore",
        });
  try {
    await client.connect(transport, { timeout: TIMEOUT });
    const { tools = false, resources, prompts, completions } = client.getServerCapabilities() ?? {};
    const listed =
      tools === false ? [] : (await client.listTools(undefined, { timeout: TIMEOUT })).tools;
    const { name, version } = client.getServerVersion() ?? { name: "the server", version: "" };
    return {
      title: `${name} ${version}`.trim(),
      tools: listed.map((tool) => ({ name: tool.name, inputSchema: plain(tool.inputSchema) })),
      hasResources: resources !== undefined,
      hasPrompts: prompts !== undefined,
      hasCompletions: completions !== undefined,
    };
  } catch (error) {
    const hint = "check its command or its address";
    throw environmentError("server_unavailable", printable(reasonOf(error, server)), hint);
  } finally {
    await client.close().catch(() => {});
  }
}

function reasonOf(error: unknown, server: readonly [string, ...string[]] | URL): string {
  if (server instanceof URL) {
    const failure = fetchFailure(error);
    if (failure !== undefined) return networkError(failure, server).message;
  } else if (isErrno(error) && error.syscall?.startsWith("spawn")) {
    return startFailure({ name: undefined, command: server[0], cwd: undefined }, errorCode(error));
  }
  const named = server instanceof URL ? server.href : server[0];
  return `${named} does not answer as a server of MCP: ${messageOf(error)}`;
}

/** Returns the error of `fetch` among an error and its causes; `undefined` if no request has failed. */
function fetchFailure(error: unknown): Error | undefined {
  for (let next = error; next instanceof Error; next = next.cause) {
    if (next instanceof TypeError && next.message === "fetch failed") return next;
  }
  return undefined;
}

function plain(schema: object): JsonObject {
  const copy: { readonly [name: string]: Json } = JSON.parse(JSON.stringify(schema));
  return copy;
}
