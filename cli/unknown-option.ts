import { type Command, CommanderError } from "commander";
import { nearest } from "../src/caveats/nearest.js";
import { usageError } from "./exit.js";

/**
 * What an error really comes from: commander tells of a required option that is missing before it
 * looks at those it does not know, though the one may just be the other misspelt.
 */
export function realCause(error: unknown, program: Command, args: readonly string[]): unknown {
  if (!(error instanceof CommanderError)) return error;
  if (error.code !== "commander.missingMandatoryOptionValue") return error;
  const known = knownFlags(program);
  const flags = args
    .filter((word) => /^--[a-z]/.test(word))
    .map((word) => word.replace(/=.*$/s, ""));
  const unknown = flags.find((flag) => !known.includes(flag));
  if (unknown === undefined) return error;
  const near = nearest(unknown, known);
  return usageError(
    `unknown option '${unknown.slice(0, 40)}'`,
    near === undefined ? undefined : `did you mean ${near}?`,
  );
}

function knownFlags(command: Command): string[] {
  const own = command.options.flatMap(({ long }) => (long ? [long] : []));
  return ["--help", ...own, ...command.commands.flatMap(knownFlags)];
}
