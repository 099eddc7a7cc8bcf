import { existsSync } from "node:fs";
import { delimiter, join } from "node:path";
import type { HomeFiles } from "../../src/home/home-files.js";
import { isServerName } from "../../src/protocols/mcp/gate/servers.js";
import { isAddress } from "../../src/storage/database.js";
import type { Context } from "../context.js";
import type { HomeChoice } from "../home.js";
import { escapedJson, printable } from "../output.js";
import { shellLine } from "../storage-advice.js";
import { GATE_GRANT, type NewToken } from "./new-token.js";

const BIN_OF_NPM = join("node_modules", ".bin");

/** A gate's token: its file, its grant, and the home that has issued it. */
export interface GateToken {
  readonly home: HomeFiles;
  /** The absolute path of the token file. */
  readonly file: string;
  readonly grant: string;
  /** The name of the server; `undefined` if it is not known. */
  readonly server?: string | undefined;
}

/** The configuration of a host, in the form that Claude Desktop, Cursor and most other hosts use. */
export interface HostConfiguration {
  readonly mcpServers: {
    readonly [name: string]: { readonly command: string; readonly args: readonly string[] };
  };
}

/** Returns the configuration that puts a gate before a server; `undefined` if the server's command is unknown. */
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

/** Formats the configuration for a person. If it is unknown, says what to put before the server's command. */
export function configurationLines(
  context: Context,
  configuration: HostConfiguration | undefined,
  options: HomeChoice,
  token: GateToken,
): readonly string[] {
  if (configuration === undefined) {
    return [
      "Put this before the server's command, in the host's configuration:",
      printable(`  ${shellLine(gateCommand(context, options, token))} --`),
    ];
  }
  return [
    'In the configuration of your host, this is the server behind the gate (in VS Code, "servers" stands for "mcpServers"):',
    ...JSON.stringify(configuration, undefined, 2).split("\n").map(printable),
  ];
}

/**
 * Returns lines that tell a person which properties to set for this token in the configuration of a gate with several
 * servers.
 */
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

/** Returns the words with which a host starts `proviso`: the name alone if it is on PATH. */
export function ownCommand({ env, program }: Context): readonly string[] {
  const folders = (env["PATH"] ?? "").split(delimiter);
  // npm and npx add `node_modules/.bin` folders to the PATH of the programs that they start. The host's PATH may lack
  // them.
  const lasting = folders.filter((one) => one !== "" && !one.endsWith(BIN_OF_NPM));
  const names = ["proviso", "proviso.cmd"];
  const isOnPath = lasting.some((one) => names.some((name) => existsSync(join(one, name))));
  return isOnPath ? ["proviso"] : program;
}

/** Returns the words that start a gate with its own token, up to but excluding the `--` before the server's command. */
export function gateCommand(
  context: Context,
  choice: HomeChoice,
  { home, file, grant, server }: GateToken,
): readonly string[] {
  const options = [
    ...homeOptions(choice, home),
    ...(grant === GATE_GRANT ? [] : ["--grant", grant]),
    // The name of a file can have characters that --name refuses.
    ...(server !== undefined && isServerName(server) ? ["--name", server] : []),
    ...["--token", `@${file}`],
  ];
  return [...ownCommand(context), "mcp", "gate", ...options];
}

/** Returns lines that tell a person how to end the token that was in the file before; no lines if there was none. */
export function replacedLines(
  context: Context,
  choice: HomeChoice,
  { home, replaced }: Pick<NewToken, "home" | "replaced">,
): readonly string[] {
  if (replaced === undefined) return [];
  const options = [...homeOptions(choice, home), "--id", replaced.revocationId];
  return [
    `Copies of the token that it replaces, ${replaced.id}, stay valid until they expire. To revoke them:`,
    printable(`  ${shellLine([...ownCommand(context), "revoke", ...options])}`),
  ];
}

/** Returns the options that name a home and its database. */
function homeOptions({ database }: HomeChoice, home: HomeFiles): readonly string[] {
  return ["--home", home.folder, ...(isFile(database) ? ["--database", home.database] : [])];
}

/**
 * Returns whether the database is a file. The address of a database may contain a password, which must not be in a
 * configuration; `PROVISO_DATABASE` can name the address.
 */
function isFile(database: string | undefined): boolean {
  return database !== undefined && !isAddress(database);
}
