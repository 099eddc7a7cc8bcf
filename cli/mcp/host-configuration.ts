import { existsSync } from "node:fs";
import { delimiter, join } from "node:path";
import type { HomeFiles } from "../../src/home/home-files.js";
import { isAddress } from "../../src/storage/database.js";
import type { Context } from "../context.js";
import type { HomeChoice } from "../home.js";
import { escapedJson, printable } from "../output.js";
import { GATE_GRANT } from "./new-token.js";

const BIN_OF_NPM = join("node_modules", ".bin");

/** The token of a gate. */
export interface GateToken {
  readonly home: HomeFiles;
  /** The absolute path. */
  readonly file: string;
  readonly grant: string;
}

/** The configuration of a host, in the form of Claude Desktop, Cursor and most others. */
export interface HostConfiguration {
  readonly mcpServers: {
    readonly [name: string]: { readonly command: string; readonly args: readonly string[] };
  };
}

/** Returns the configuration that puts a gate before a server; `undefined` if the server's command is not known. */
export function hostConfiguration(
  context: Context,
  words: readonly string[],
  options: HomeChoice,
  name: string,
  token: GateToken,
): HostConfiguration | undefined {
  if (words.length === 0) return undefined;
  const [command = "", ...args] = [...gateCommand(context, options, token), "--", ...words];
  return { mcpServers: { [name]: { command, args } } };
}

/** Formats the configuration for a person, or says what to put before the server's command. */
export function configurationLines(
  context: Context,
  configuration: HostConfiguration | undefined,
  options: HomeChoice,
  token: GateToken,
): readonly string[] {
  if (configuration === undefined) {
    return [
      "Put this before the server's command, in the host's configuration:",
      printable(`  ${gateCommand(context, options, token).join(" ")} --`),
    ];
  }
  return [
    'In the configuration of your host, this is the server behind the gate (in VS Code, "servers" stands for "mcpServers"):',
    ...JSON.stringify(configuration, undefined, 2).split("\n").map(printable),
  ];
}

/** Returns the members that a token has in the configuration of a gate with several servers, for a person. */
export function gateConfigLines(
  { database }: HomeChoice,
  { home, file, grant }: GateToken,
): readonly string[] {
  const members = {
    home: home.folder,
    database: isFile(database) ? home.database : undefined,
    grant: grant === GATE_GRANT ? undefined : grant,
    token: file,
  };
  return [
    "In the configuration of the gate that has these servers (proviso mcp gate --config FILE):",
    ...Object.entries(members)
      .filter(([, value]) => value !== undefined)
      .map(([name, value]) => `  "${name}": ${escapedJson(value)},`),
  ];
}

/** Returns the words that start `proviso` from a host: its name, if it is on PATH. */
export function ownCommand({ env, program }: Context): readonly string[] {
  const folders = (env["PATH"] ?? "").split(delimiter);
  // npm and npx add such folders to the PATH of what they start. The host may not have them.
  const lasting = folders.filter((one) => one !== "" && !one.endsWith(BIN_OF_NPM));
  const names = ["proviso", "proviso.cmd"];
  const isOnPath = lasting.some((one) => names.some((name) => existsSync(join(one, name))));
  return isOnPath ? ["proviso"] : program;
}

/** Returns the words that start a gate with a token of its own, up to the `--` before the server's command. */
export function gateCommand(
  context: Context,
  { database }: HomeChoice,
  { home, file, grant }: GateToken,
): readonly string[] {
  const place = isFile(database) ? ["--database", home.database] : [];
  const named = grant === GATE_GRANT ? [] : ["--grant", grant];
  const words = ["mcp", "gate", "--home", home.folder, ...place, ...named, "--token", `@${file}`];
  return [...ownCommand(context), ...words];
}

/** An address may have a password, which does not belong into a configuration: `PROVISO_DATABASE` names it. */
function isFile(database: string | undefined): boolean {
  return database !== undefined && !isAddress(database);
}
