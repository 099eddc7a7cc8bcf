import { type Command, CommanderError } from "commander";
import { nearest } from "../src/checks/nearest.js";
import type { Keyring } from "../src/issuer/keyring.js";
import { type CliError, usageError } from "./exit.js";

/** Returns a hint that names the most similar known name; `otherwise` if none is similar. */
export function didYouMean(
  name: string,
  known: readonly string[],
  otherwise?: string,
): string | undefined {
  const near = nearest(name, known);
  return near === undefined ? otherwise : `did you mean ${near}?`;
}

export function unknownKey(kid: string, keyring: Keyring): CliError {
  if (kid === "") return usageError("the key's id is empty", "proviso keys list shows the ids");
  const kids = keyring.list().map((key) => key.kid);
  const hint = didYouMean(kid, kids, "proviso keys list shows them");
  return usageError(`there is no key ${kid}`, hint);
}

const RUNS_A_SERVER = ["gate", "learn"];

/**
 * Returns a hint for an unknown option: an option of an MCP server must come after `--`. Returns `undefined`
 * for a verb that runs no server.
 */
function serverOptionHint(words: readonly string[]): string | undefined {
  const at = words.indexOf("mcp");
  const subverb = words[at + 1] ?? "";
  if (at === -1 || !RUNS_A_SERVER.includes(subverb)) return undefined;
  return `if it is an option of the server, write -- before the server's command: proviso mcp ${subverb} -- COMMAND ARGS...`;
}

/**
 * Returns the real cause of an error. Commander reports that a required option is missing before it reports an
 * unknown option. The unknown option may be the required one, misspelt.
 */
export function realCause(error: unknown, program: Command, args: readonly string[]): unknown {
  if (!(error instanceof CommanderError)) return error;
  if (error.code === "commander.unknownOption") {
    const [message = "", suggestion] = error.message.replace(/^error: /, "").split("\n", 2);
    const unknown = /'(--[^']+)'/.exec(message)?.[1];
    const isOwn = suggestion !== undefined || args.includes("--");
    const hint =
      (isOwn ? undefined : serverOptionHint(args)) ??
      (unknown && shorterOrLonger(unknown, knownFlags(program)));
    return hint === undefined ? error : usageError(message, hint);
  }
  if (error.code !== "commander.missingMandatoryOptionValue") return error;
  const known = knownFlags(program);
  const flags = args
    .filter((word) => /^--[a-z]/.test(word))
    .map((word) => word.replace(/=.*$/s, ""));
  const unknown = flags.find((flag) => !known.includes(flag));
  if (unknown === undefined) return error;
  const hint = didYouMean(unknown, known, shorterOrLonger(unknown, known));
  return usageError(`unknown option '${unknown.slice(0, 40)}'`, hint);
}

/** Returns a hint that names the only known option that is longer or shorter, such as `--op` for `--operation`. */
function shorterOrLonger(unknown: string, known: readonly string[]): string | undefined {
  const found = known.filter((flag) => unknown.startsWith(flag) || flag.startsWith(unknown));
  const [flag, ...others] = new Set(found);
  return flag === undefined || others.length > 0 ? undefined : `did you mean ${flag}?`;
}

function knownFlags(command: Command): string[] {
  const own = command.options.flatMap(({ long }) => (long ? [long] : []));
  return ["--help", ...own, ...command.commands.flatMap(knownFlags)];
}
