import type { JsonObject } from "../../../../bytes/json.js";
import { shown } from "../../../../caveats/scalar.js";
import { assertMembers, meant } from "../../../../checks/members.js";
import { type PluginCall, PluginError, type SessionPlugin } from "../../plugin.js";
import {
  limitOf,
  ORDER_MEMBERS,
  objectSchema,
  orderOf,
  type PluginOrder,
} from "../plugin-options.js";
import { McpConnections } from "./connections.js";
import type { McpConnection } from "./mcp-connection.js";
import { type McpServerConfig, type ReadyServer, readyServers } from "./ready-server.js";

export interface McpPluginOptions extends PluginOrder {
  /** The servers by name; at least one. */
  readonly servers: { readonly [name: string]: McpServerConfig };
  readonly limits?: McpLimits | undefined;
  /** Called with each line that a server writes to standard error, shortened to 500 characters. */
  readonly onStderr?: ((server: string, line: string) => void) | undefined;
}

/** Limits on MCP servers. */
export interface McpLimits {
  /** Maximum number of servers that run at once, for all principals together; 16 unless given. */
  readonly servers?: number | undefined;
  /** Time limit for the start of a server, in milliseconds; 10,000 unless given. */
  readonly startTimeout?: number | undefined;
  /** Time limit for a call, in milliseconds; 30,000 unless given. */
  readonly timeout?: number | undefined;
  /**
   * Maximum size of a result's `content` as JSON, in bytes; the same for its `structuredContent`. 128 KiB unless given.
   */
  readonly resultBytes?: number | undefined;
}

const CALL = "mcp/call";

/**
 * Creates a plugin for the capability `mcp`: the tools of MCP servers over stdio. Each principal has its own server
 * processes, started on first use, so that principals share no memory. A server is stopped when the last session that
 * has used it ends. After a crash, the next call starts it again.
 *
 * - `mcp/list` answers `{servers: […]}`. If the message has a `server`, it answers `{server, tools: [{name,
 *   description, input}]}`. It lists only servers and tools that the session's tokens allow. If exactly one token
 *   allows a tool, `input` is narrowed by the token's limits.
 * - `mcp/call`, with the message's `server` and `tool_name`, answers with the tool's result: `{content,
 *   structuredContent?, isError?}`. A peer that requests parts of the answer gets the tool's progress. A tool that the
 *   server does not list is refused.
 *
 * Codes of refusals: `name_unknown`, `server_unknown`, `server_unavailable`, `server_timeout`, `server_ended`,
 * `server_refused`, `too_many_servers` and `result_too_large`.
 *
 * @throws TypeError naming the option that is wrong, such as `servers.notes.command`.
 */
export function createMcpPlugin(options: McpPluginOptions): SessionPlugin {
  assertMembers(options, ["servers", "limits", "onStderr", ...ORDER_MEMBERS], "options");
  const { limits = {}, onStderr } = options;
  assertMembers(limits, ["servers", "startTimeout", "timeout", "resultBytes"], "limits");
  const servers = readyServers(options.servers);
  const connections = new McpConnections(limitOf(limits.servers, 16, "limits.servers"), {
    startTimeout: limitOf(limits.startTimeout, 10_000, "limits.startTimeout"),
    timeout: limitOf(limits.timeout, 30_000, "limits.timeout"),
    resultBytes: limitOf(limits.resultBytes, 128 * 1024, "limits.resultBytes"),
    onStderr,
  });
  const connected = (call: PluginCall): Promise<McpConnection> => {
    const { principal, session, signal } = call;
    return connections.get(serverOf(servers, call), principal, session, signal);
  };
  return {
    ...orderOf("mcp", options),
    operations: {
      "mcp/list": {
        input: objectSchema({}),
        listing: true,
        async run(call): Promise<JsonObject> {
          const { server, mayCall, narrowed } = call;
          if (server === undefined) {
            return { servers: [...servers.keys()].filter((one) => mayCall(CALL, { server: one })) };
          }
          const isShown = (name: string): boolean => mayCall(CALL, { server, name });
          const connection = await connected(call);
          const tools = (await connection.list(isShown, call)).map((tool) => ({
            ...tool,
            input: narrowed(CALL, { server, name: tool.name }, tool.input),
          }));
          return { server, tools };
        },
      },
      [CALL]: {
        async run(call) {
          const { name, arguments: given, signal } = call;
          if (name === undefined) throw new PluginError("name_unknown", "tool_name is missing");
          const connection = await connected(call);
          return connection.call(name, given, { signal, onProgress: progressTo(call) });
        },
      },
    },
    endSession: (session) => connections.endSession(session),
    close: () => connections.close(),
  };
}

/**
 * Sends progress to the peer as fast as the peer reads it. Drops progress that arrives while an earlier part is being
 * sent.
 */
function progressTo(call: PluginCall): (progress: { readonly [name: string]: unknown }) => void {
  let sending = false;
  return (progress) => {
    if (sending) return;
    sending = true;
    call
      .send(JSON.parse(JSON.stringify({ progress })))
      .catch(() => {})
      .finally(() => {
        sending = false;
      });
  };
}

function serverOf(servers: ReadonlyMap<string, ReadyServer>, { server }: PluginCall): ReadyServer {
  const found = server === undefined ? undefined : servers.get(server);
  if (found !== undefined) return found;
  const what =
    server === undefined
      ? "server is missing"
      : `there is no server ${shown(server)}${meant(server, [...servers.keys()])}`;
  throw new PluginError("server_unknown", what);
}
