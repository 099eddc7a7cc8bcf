import { type Command, InvalidArgumentError, Option } from "commander";
import type { Context } from "./context.js";
import { usageError } from "./exit.js";
import { say } from "./output.js";
import { didYouMean } from "./unknown-name.js";

/** Options of every verb. On the command line, they may come before or after the verb. */
export interface GlobalOptions {
  readonly home?: string | undefined;
  readonly json?: boolean;
  /** False if `--no-color` is given. */
  readonly color?: boolean;
}

/**
 * Returns the function that commander calls for a verb.
 *
 * @param run - Called with the options of the verb and of the program, then with the verb's arguments.
 */
export function act<Options extends object, Words extends readonly (string | undefined)[]>(
  context: Context,
  run: (context: Context, options: Options, ...words: Words) => void | Promise<void>,
): (this: Command, ...words: Words) => void | Promise<void> {
  return function (...words) {
    return run(context, this.optsWithGlobals<Options>(), ...words);
  };
}

/** Lets a verb with subcommands, such as `keys`, list its objects if it is called without a subcommand. */
export function listsAlone<Options extends GlobalOptions>(
  verb: Command,
  context: Context,
  list: (context: Context, options: Options) => void | Promise<void>,
): void {
  verb.allowExcessArguments().action(function (this: Command) {
    const [word] = this.args;
    if (word === undefined) return list(context, this.optsWithGlobals<Options>());
    const names = this.commands.map((command) => command.name());
    const hint = didYouMean(word, names, `proviso ${verb.name()} --help shows the commands`);
    throw usageError(`unknown command '${word.slice(0, 40)}'`, hint);
  });
}

/**
 * Returns the options of a verb that reads a configuration. The configuration's home takes precedence over the
 * variable `PROVISO_HOME`, but not over the flag `--home`.
 */
export function flagsBefore<Options extends GlobalOptions>(command: Command): Options {
  const options = command.optsWithGlobals<Options>();
  const named = command.getOptionValueSourceWithGlobals("home") === "cli";
  return named ? options : { ...options, home: undefined };
}

/** Adds examples to the end of a command's help. The examples work if they are run in the given order. */
export function addExamples(command: Command, lines: readonly string[], title = "Examples"): void {
  const text = lines.map((line) => `  $ ${line}`).join("\n");
  command.addHelpText("after", `\n${title}:\n${text}`);
}

export function collect(value: string, known?: readonly string[]): readonly string[] {
  return [...(known ?? []), toText(value)];
}

/** Refuses an empty value, which nearly always comes from an unset shell variable. */
export function toText(value: string): string {
  if (value === "") throw new InvalidArgumentError("It is empty.");
  return value;
}

/**
 * Makes every option with a single value refuse a second value. Commander would silently use the last value:
 * `verify --op delete --op retrieve` would check only `retrieve`.
 */
export function refuseRepeats(command: Command): void {
  for (const option of command.options) {
    if (!(option.required || option.optional) || option.parseArg === collect) continue;
    const flag = option.long ?? option.flags;
    let given = 0;
    command.on(`option:${option.name()}`, () => {
      given++;
      if (given === 2) throw usageError(`${flag} is given twice`, "give it once; it has one value");
    });
  }
  for (const child of command.commands) refuseRepeats(child);
}

/** Default number of entries in a list. */
export const DEFAULT_LIMIT = 100;
const MAX_LIMIT = 1_000_000;

export function limitOption(): Option {
  const help = `how many of the latest to list; ${DEFAULT_LIMIT} unless given`;
  return new Option("--limit <count>", help).argParser((text) => {
    const limit = /^\d{1,7}$/.test(text) ? Number(text) : 0;
    if (limit >= 1 && limit <= MAX_LIMIT) return limit;
    throw new InvalidArgumentError(`Give a whole number from 1 to ${MAX_LIMIT}.`);
  });
}

export function sayMore(context: Context, limit: number): void {
  say(context, `note: only the latest ${limit} are listed; --limit asks for more`);
}
