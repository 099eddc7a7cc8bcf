import { delimiter, join, resolve } from "node:path";
import { isProgram } from "../../src/protocols/a2e/plugins/proc/program.js";
import { problemAt, refuseConfig } from "../serve/config.js";

/** A program as a configuration has it; its folder is absolute. */
interface NamedProgram {
  readonly command: string;
  readonly cwd?: string | undefined;
  readonly env?: { readonly [name: string]: string } | undefined;
}

/**
 * Looks for the program of each server of MCP, so that a wrong name is found when the host starts and not
 * when a peer first calls.
 *
 * @param path - The `PATH` of this process, for servers that are given no other.
 * @throws CliError `config_invalid` naming each that is not there, or that this user cannot run.
 */
export function assertPrograms(
  file: string,
  servers: { readonly [name: string]: NamedProgram },
  path: string | undefined,
): void {
  // Windows finds a program by extensions and registry entries too.
  if (process.platform === "win32") return;
  const missing = Object.entries(servers).filter(([, server]) => !isFound(server, path));
  const problems = missing.map(([name, { command, cwd }]) => {
    const where = command.includes("/") ? `from ${cwd ?? "here"}` : "in PATH";
    const what = `there is no program ${JSON.stringify(command)} ${where} that this user can run`;
    return problemAt(`plugins.mcp.servers.${name}.command`, what);
  });
  refuseConfig(file, problems);
}

function isFound({ command, cwd = ".", env }: NamedProgram, path: string | undefined): boolean {
  if (command.includes("/")) return isProgram(resolve(cwd, command));
  // Without a PATH the system has a usual one, which is not known here.
  const folders = env?.["PATH"] ?? path;
  if (folders === undefined) return true;
  return folders.split(delimiter).some((folder) => isProgram(join(resolve(cwd, folder), command)));
}
