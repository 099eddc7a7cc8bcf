import { assertMembers } from "../../../../checks/members.js";
import { type Environment, environmentOf } from "../environment.js";
import { assertName } from "../plugin-options.js";

/**
 * An MCP server over standard streams. Its environment has HOME, LOGNAME, PATH, SHELL, TERM, USER, and the variables of
 * `env` and `inherit`. In `args`, `cwd` and the values of `env`, `{principal}` is replaced by the principal in a form
 * that suits file names: lower-case letters, digits, `_` and `-` stay, except a `-` at the beginning. Every other byte
 * of UTF-8 becomes `%` and two hexadecimal digits.
 */
export interface McpServerConfig extends Environment {
  /** The program to start, without a shell. */
  readonly command: string;
  readonly args?: readonly string[] | undefined;
  /** The working directory of the server; by default, that of this process. */
  readonly cwd?: string | undefined;
}

/** A validated configuration of an MCP server. */
export interface ReadyServer {
  readonly name: string;
  readonly command: string;
  readonly args: readonly string[];
  readonly cwd: string | undefined;
  readonly env: { readonly [name: string]: string };
}

const SERVER = ["command", "args", "cwd", "env", "inherit"];

/** @throws TypeError naming the field that is wrong, such as `servers.notes.command`. */
export function readyServers(
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
        throw new TypeError(`${where}.args: must be an array of strings`);
      }
      return [name, { name, command, args, cwd, env: environmentOf(server, where) }];
    }),
  );
}

/** Returns a server's configuration for one principal, with `{principal}` replaced. */
export function serverFor(
  { args, cwd, env, ...server }: ReadyServer,
  principal: string,
): ReadyServer {
  const own = (text: string): string => text.replaceAll("{principal}", fileNameOf(principal));
  const variables = Object.entries(env).map(([name, value]) => [name, own(value)] as const);
  return {
    ...server,
    args: args.map(own),
    env: Object.fromEntries(variables),
    cwd: cwd === undefined ? undefined : own(cwd),
  };
}

/**
 * Encodes a principal as part of a file name. Different principals get different names, even on a file system
 * that ignores case.
 */
function fileNameOf(principal: string): string {
  return principal.replace(/^-|[^a-z0-9_-]/gu, (character) =>
    Buffer.from(character).toString("hex").replace(/../g, "%$&"),
  );
}
