import type { HomeFiles } from "../../src/home/home-files.js";
import { isAddress } from "../../src/storage/database.js";
import type { HomeChoice } from "../home.js";
import { printable } from "../output.js";
import { GATE_GRANT } from "./new-token.js";

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
  words: readonly string[],
  options: HomeChoice,
  name: string,
  token: GateToken,
): HostConfiguration | undefined {
  if (words.length === 0) return undefined;
  const args = [...gateWords(options, token), "--", ...words];
  return { mcpServers: { [name]: { command: "proviso", args } } };
}

/** Formats the configuration for a person, or says what to put before the server's command. */
export function configurationLines(
  configuration: HostConfiguration | undefined,
  options: HomeChoice,
  token: GateToken,
): readonly string[] {
  if (configuration === undefined) {
    return [
      "Put this before the server's command, in the host's configuration:",
      printable(`  proviso ${gateWords(options, token).join(" ")} --`),
    ];
  }
  return [
    'In the configuration of your host, this is the server behind the gate (in VS Code, "servers" stands for "mcpServers"):',
    ...JSON.stringify(configuration, undefined, 2).split("\n").map(printable),
  ];
}

/** Returns the words of a gate with a token of its own, up to the `--` before the server's command. */
export function gateWords(
  { database }: HomeChoice,
  { home, file, grant }: GateToken,
): readonly string[] {
  // An address may have a password, which does not belong into a configuration: PROVISO_DATABASE names it.
  const isFile = database !== undefined && !isAddress(database);
  const place = isFile ? ["--database", home.database] : [];
  const named = grant === GATE_GRANT ? [] : ["--grant", grant];
  return ["mcp", "gate", "--home", home.folder, ...place, ...named, "--token", `@${file}`];
}
