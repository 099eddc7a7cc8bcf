import { shown } from "../../../../caveats/scalar.js";
import { assertMembers, meant } from "../../../../checks/members.js";
import { type PluginCall, PluginError, type SessionPlugin } from "../../plugin.js";
import { type Environment, environmentOf } from "../environment.js";
import {
  assertName,
  limitOf,
  objectSchema,
  PLACE_MEMBERS,
  type PluginPlace,
  placeOf,
} from "../place.js";
import { McpConnections } from "./connections.js";
import type { McpConnection, ReadyServer } from "./mcp-connection.js";

/** A server of MCP over standard streams. It gets HOME, LOGNAME, PATH, SHELL, TERM, USER and what is named. */
export interface McpServerConfig extends Environment {
  /** The program that is started, without a shell. */
  readonly command: string;
  readonly args?: readonly string[] | undefined;
  /** Its working folder; this process's unless given. */
  readonly cwd?: string | undefined;
}

export interface McpPluginOptions extends PluginPlace {
  /** The servers by name; at least one. */
  readonly servers: { readonly [name: string]: McpServerConfig };
  readonly limits?: McpLimits | undefined;
  /** Called with what servers write to standard error, a line each, cut at 500 characters. */
  readonly onStderr?: ((server: string, line: string) => void) | undefined;
}

/** What servers of MCP may take. */
export interface McpLimits {
  /** Servers that run at once, for all principals; 16 unless given. */
  readonly servers?: number | undefined;
  /** Milliseconds for a server to start; 10,000 unless given. */
  readonly startTimeout?: number | undefined;
  /** Milliseconds for a call; 30,000 unless given. */
  readonly timeout?: number | undefined;
  /** Bytes of a result as JSON; 128 KiB unless given. */
  readonly resultBytes?: number | undefined;
}

const SERVER = ["command", "args", "cwd", "env", "inherit"];

/**
 * A plugin for the capability `mcp`: the tools of servers of MCP over stdio. A server is started when it is
 * first used, one for each principal, so that what it keeps in memory is that principal's; it ends with the
 * last session that has used it. One that crashes is started again by the next call.
 *
 * - `mcp/list` answers `{servers: […]}`; with the message's `server`, `{server, tools: [{name, description,
 *   input}]}`.
 * - `mcp/call`, with the message's `server` and `tool_name`, answers what the tool does:
 *   `{content, structuredContent?, isError?}`. A peer that asks for parts gets the tool's progress.
 *
 * Refusals have the codes `server_unknown`, `server_unavailable`, `server_timeout`, `server_ended`,
 * `server_refused`, `too_many_servers` and `result_too_large`.
 *
 * @throws TypeError naming the option that is wrong, such as `servers.notes.command`.
 */
export function createMcpPlugin(options: McpPluginOptions): SessionPlugin {
  assertMembers(options, ["servers", "limits", "onStderr", ...PLACE_MEMBERS], "options");
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
    ...placeOf("mcp", options),
    operations: {
      "mcp/list": {
        input: objectSchema({}),
        async run(call) {
          if (call.server === undefined) return { servers: [...servers.keys()] };
          const connection = await connected(call);
          return { server: call.server, tools: await connection.list(call) };
        },
      },
      "mcp/call": {
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

/** Passes progress on as fast as the peer reads it; what comes in between is dropped. */
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

function readyServers(
  servers: { readonly [name: string]: McpServerConfig } | undefined,
): ReadonlyMap<string, ReadyServer> {
  if (typeof servers !== "object" || servers === null || Object.keys(servers).length === 0) {
    throw new TypeError("servers: there must be at least one");
  }
  return new Map(
    Object.entries(servers).map(([name, server]) => {
      const where = `servers.${name}`;
      assertName(name, "servers");
      assertMembers(server, SERVER, where);
      const { command, args = [], cwd } = server;
      if (typeof command !== "string" || command === "") {
        throw new TypeError(`${where}.command: must name a program`);
      }
      if (!Array.isArray(args) || !args.every((arg) => typeof arg === "string")) {
        throw new TypeError(`${where}.args: must be an array of texts`);
      }
      return [name, { name, command, args, cwd, env: environmentOf(server, where) }];
    }),
  );
}
