import { delimiter, join, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import type { SessionPlugin } from "../../src/protocols/a2e/plugin.js";
import { createMcpPlugin } from "../../src/protocols/a2e/plugins/mcp/mcp-plugin.js";
import { createMemoryPlugin } from "../../src/protocols/a2e/plugins/memory-plugin.js";
import { createProcPlugin } from "../../src/protocols/a2e/plugins/proc/proc-plugin.js";
import { isProgram } from "../../src/protocols/a2e/plugins/proc/program.js";
import {
  createToolsPlugin,
  type SessionTool,
} from "../../src/protocols/a2e/plugins/tools-plugin.js";
import type { StoreDatabase } from "../../src/stores/database.js";
import { openMemory } from "../../src/stores/memory/memory-store.js";
import { CliError, environmentError } from "../exit.js";
import { fromConfig, problemAt, type ReadConfig, refuseConfig } from "../serve/config.js";
import { howToInstall, placeAndReason } from "../serve/module-fault.js";
import type { SessionConfig } from "./session-config.js";

/**
 * Creates the plugins that a configuration names, except the memory plugin.
 *
 * @param onStderr - Called with each line that an MCP server writes to standard error.
 * @param path - The variable `PATH` in which the plugins' programs are looked up.
 * @throws CliError `config_invalid` if a setting is wrong or a program is missing; `tools_failed` if the module
 *   of tools is invalid.
 */
export async function openPlugins(
  read: ReadConfig<SessionConfig>,
  onStderr: (server: string, line: string) => void,
  path: string | undefined,
): Promise<SessionPlugin[]> {
  const { config, file, folder } = read;
  const { tools, proc, mcp } = config.plugins;
  const plugins: SessionPlugin[] = [];
  if (tools !== undefined) plugins.push(await toolsPlugin(resolve(folder, tools), folder));
  if (proc !== undefined) {
    const programs = inFolder(proc.programs, folder);
    const { limits } = proc;
    const make = () => createProcPlugin({ programs, limits });
    plugins.push(await fromConfig(file, make, (words) => `plugins.proc.${words}`));
  }
  if (mcp !== undefined) {
    const servers = inFolder(mcp.servers, folder);
    const { limits } = mcp;
    const make = () => createMcpPlugin({ servers, limits, onStderr });
    plugins.push(await fromConfig(file, make, (words) => `plugins.mcp.${words}`));
    assertPrograms(file, servers, path);
  }
  return plugins;
}

/** Creates the memory plugin on the home's database. Returns an empty array if the plugin is not configured. */
export async function memoryPlugin(
  { config, file }: ReadConfig<SessionConfig>,
  database: StoreDatabase,
): Promise<SessionPlugin[]> {
  const { memory: limits } = config.plugins;
  if (limits === undefined) return [];
  const make = () => createMemoryPlugin({ memory: openMemory(database, { limits }) });
  return [await fromConfig(file, make, (words) => words.replace(/^limits\./, "plugins.memory."))];
}

/** Makes the working folder of each program absolute. The default is the configuration's folder. */
function inFolder<Program extends { readonly cwd?: string | undefined }>(
  programs: { readonly [name: string]: Program },
  folder: string,
): { readonly [name: string]: Program } {
  return Object.fromEntries(
    Object.entries(programs).map(([name, program]) => [
      name,
      { ...program, cwd: resolve(folder, program.cwd ?? ".") },
    ]),
  );
}

async function toolsPlugin(path: string, configFolder: string): Promise<SessionPlugin> {
  try {
    const module: { readonly default?: unknown } = await import(pathToFileURL(path).href);
    if (typeof module.default !== "function") {
      throw failed(path, "its default export is not a function");
    }
    const tools: readonly SessionTool[] = await module.default({ configFolder });
    // createToolsPlugin checks every property of each tool.
    return await createToolsPlugin({ tools });
  } catch (error) {
    if (error instanceof CliError) throw error;
    if (error instanceof TypeError && error.message.startsWith("tools")) {
      throw failed(path, error.message);
    }
    throw failed(...placeAndReason(path, error), howToInstall(path, error));
  }
}

const HINT =
  '"plugins.tools" names an ES module whose default export gives an array of tools: ' +
  "{name, description, input, run}";

function failed(place: string, why: string, hint = HINT): CliError {
  return environmentError("tools_failed", `the tools in ${place}: ${why}`, hint);
}

/** A configured program, whose working folder is absolute. */
interface NamedProgram {
  readonly command: string;
  readonly cwd?: string | undefined;
  readonly env?: { readonly [name: string]: string } | undefined;
}

/**
 * Looks for the program of each MCP server. A wrong name is thus reported when the host starts, not at the
 * first call.
 *
 * @param path - The variable `PATH` of this process, for servers whose environment does not set it.
 * @throws CliError `config_invalid`, which names each program that is missing or that this user cannot execute.
 */
function assertPrograms(
  file: string,
  servers: { readonly [name: string]: NamedProgram },
  path: string | undefined,
): void {
  // Windows finds programs also by file extension and registry entry, which this check does not imitate.
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
  // Without PATH, the system searches default folders, which this process does not know.
  const folders = env?.["PATH"] ?? path;
  if (folders === undefined) return true;
  return folders.split(delimiter).some((folder) => isProgram(join(resolve(cwd, folder), command)));
}
