import { type Command, InvalidArgumentError } from "commander";
import type { Context } from "./context.js";
import { usageError } from "./exit.js";

/** Options that every verb understands, before its name or after. */
export interface GlobalOptions {
  readonly home?: string;
  readonly json?: boolean;
}

/**
 * The action of a verb.
 *
 * @param run - Takes the options of the verb and of the program, then the verb's arguments.
 */
export function act<Options extends object, Words extends readonly (string | undefined)[]>(
  context: Context,
  run: (context: Context, options: Options, ...words: Words) => void | Promise<void>,
): (this: Command, ...words: Words) => void | Promise<void> {
  return function (...words) {
    return run(context, this.optsWithGlobals<Options>(), ...words);
  };
}

/** Adds commands that work in this order to the end of a command's help. */
export function addExamples(command: Command, title: string, lines: readonly string[]): void {
  const text = lines.map((line) => `  $ ${line}`).join("\n");
  command.addHelpText("after", `\n${title}:\n${text}`);
}

/** Collects the values of a repeated option. */
export function collect(value: string, known?: readonly string[]): readonly string[] {
  return [...(known ?? []), toText(value)];
}

/** Refuses an empty value, which is nearly always an unset variable of the shell. */
export function toText(value: string): string {
  if (value === "") throw new InvalidArgumentError("It is empty.");
  return value;
}

/**
 * Makes every option that has one value refuse a second one. Commander would take the last in
 * silence, and `verify --op delete --op retrieve` would judge one of the two.
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
