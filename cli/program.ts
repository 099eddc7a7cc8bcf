// Runs a command line. main.ts in this folder is the process, and verbs/ has one file for each verb. Several
// verbs share the other files: homes, tokens as arguments, words for people, errors and exit codes.

import { Command, CommanderError, Help, Option } from "commander";
import type { Context, Surroundings } from "./context.js";
import { EXIT, type ExitCode, usageError } from "./exit.js";
import { printData } from "./output.js";
import { refuseRepeats } from "./verb.js";
import { VERBS } from "./verbs.js";

/**
 * Runs one command line. It uses the process only through `surroundings`.
 *
 * @param words - The words after the program's name.
 * @returns The exit code.
 */
export async function run(words: readonly string[], surroundings: Surroundings): Promise<ExitCode> {
  const { env } = surroundings;
  const context: Context = {
    ...surroundings,
    env: own(words).includes("--no-color") ? { ...env, NO_COLOR: "1" } : env,
    exitCode: EXIT.done,
  };
  let args = words;
  let verb: string | undefined;
  let program: Command | undefined;
  try {
    args = await usualWords(words);
    verb = verbIn(args);
    if (verb === "verify") assertHelpAlone(args);
    program = await buildProgram(context, verb, args);
    // The shells' completion scripts make this call. The words may be anything, so commander must not parse
    // them.
    if (args[0] === "__complete") {
      const { candidates } = await import("./completion/candidates.js");
      for (const line of candidates(program, args.slice(1))) printData(context, `${line}\n`);
      return EXIT.done;
    }
    try {
      await program.parseAsync(args, { from: "user" });
    } catch (error) {
      const { realCause } = await import("./unknown-name.js");
      throw realCause(error, program, args);
    }
  } catch (error) {
    if (error instanceof CommanderError && error.exitCode === EXIT.done) return EXIT.done;
    const { reportFailure } = await import("./failure.js");
    return reportFailure(context, error, nameIn(args, verb, program), own(args).includes("--json"));
  }
  return context.exitCode;
}

/** Returns the words before `--`. The words after `--` may belong to another program. */
function own(words: readonly string[]): readonly string[] {
  const end = words.indexOf("--");
  return end === -1 ? words : words.slice(0, end);
}

/** Replaces words that newcomers often try, such as `version` or `help mint`, by this program's own words. */
async function usualWords(words: readonly string[]): Promise<readonly string[]> {
  const [first, ...others] = words;
  if (first === "-V" || first === "version") return ["--version", ...others];
  if (first !== "help" || others[0] === undefined || others[0].startsWith("-")) return words;
  await assertVerb(others[0]);
  return [...others, "--help"];
}

// Refuses `verify` with --help and further words. Exit code 0 of `verify` means allowed, so a word such as
// --help in the place of a token must not result in 0.
function assertHelpAlone(args: readonly string[]): void {
  if (!args.some((word) => word === "-h" || word === "--help") || args.length === 2) return;
  throw usageError(
    "verify takes --help only without other words",
    "a token from another party belongs on standard input; proviso verify --help shows how",
  );
}

// Refuses an unknown verb, with a message that commander would not give.
async function assertVerb(word: string): Promise<void> {
  if (Object.hasOwn(VERBS, word)) return;
  const { didYouMean } = await import("./unknown-name.js");
  const hint = didYouMean(word, Object.keys(VERBS), "proviso --help shows the commands");
  throw usageError(`unknown command '${word.slice(0, 40)}'`, hint);
}

async function buildProgram(
  context: Context,
  verb: string | undefined,
  args: readonly string[],
): Promise<Command> {
  const program = new Command("proviso");
  const globalOptions = [
    new Option("--home <dir>", "the issuer's home folder (env: PROVISO_HOME)"),
    new Option("--json", "print one JSON document; errors too"),
    new Option("--no-color", "print without colours"),
  ];
  for (const option of globalOptions) program.addOption(option);
  const { PROVISO_HOME: home } = context.env;
  if (home !== undefined) program.setOptionValueWithSource("home", home, "env");
  program
    .exitOverride()
    .configureOutput({
      writeOut: (text) => printData(context, text),
      // reportFailure reports errors, with their hints.
      writeErr: () => {},
      getOutHelpWidth: () => helpWidth(context),
      getOutHasColors: () => false,
    })
    .configureHelp({
      showGlobalOptions: true,
      minWidthToWrap: 16,
      padWidth,
      formatItem,
      subcommandTerm: termOf,
      visibleGlobalOptions: (command) => (command === program ? [] : globalOptions),
    })
    .helpOption("-h, --help", "show this help");
  if (verb === undefined) {
    const { describe } = await import("./overview.js");
    describe(program, helpWidth(context), args.includes("--json"));
  }
  const isVersion = args.includes("--version") || args.includes("-v");
  const names = verb !== undefined ? [verb] : isVersion ? [] : Object.keys(VERBS);
  for (const module of await Promise.all(names.map((name) => VERBS[name]?.()))) {
    module?.define(program, context);
  }
  refuseRepeats(program);
  return program;
}

/**
 * Returns the width of the help in characters: the variable COLUMNS, or the width of the terminal, within
 * readable limits.
 */
function helpWidth({ env, stdout }: Context): number {
  const { COLUMNS: columns = "" } = env;
  const wanted = /^\d{1,4}$/.test(columns) ? Number(columns) : (stdout.columns ?? 80);
  return Math.min(Math.max(wanted, 40), 100);
}

/** Formats a verb for the list of verbs: its name with its arguments, or with its subcommands. */
function termOf(command: Command): string {
  const below = command.commands.map((child) => child.name());
  const names = command.registeredArguments.map((argument) =>
    argument.required ? `<${argument.name()}>` : `[${argument.name()}]`,
  );
  if (below.length === 0) return [command.name(), ...names].join(" ");
  // A verb with options of its own also works without a subcommand.
  const choice = [...below, ...names].join("|");
  const isWhole = names.length === 0 && command.options.length > 0;
  return `${command.name()} ${isWhole ? `[${choice}]` : choice}`;
}

/** Returns the verb of a command line; `undefined` if every verb must be loaded. */
function verbIn(args: readonly string[]): string | undefined {
  for (let i = 0; i < args.length; i++) {
    const word = args[i] ?? "";
    if (word === "--home") i++;
    else if (word !== "--json" && word !== "--no-color" && !word.startsWith("--home=")) {
      // Completion needs every verb.
      return Object.hasOwn(VERBS, word) && word !== "completion" ? word : undefined;
    }
  }
  return undefined;
}

/** Returns the name of the command for a hint, such as `proviso mcp token`. */
function nameIn(
  args: readonly string[],
  verb: string | undefined,
  program: Command | undefined,
): string {
  if (verb === undefined) return "proviso";
  const word = args[args.indexOf(verb) + 1];
  const below = program?.commands.find((command) => command.name() === verb)?.commands ?? [];
  const isSubcommand = below.some((command) => command.name() === word);
  return isSubcommand ? `proviso ${verb} ${word}` : `proviso ${verb}`;
}

/**
 * Longest term, in characters, that has its description beside it. The description of a longer term is below
 * the term.
 */
const LONGEST_TERM = 28;
/** Smallest width of the descriptions, in characters. In a narrower terminal, lines would break. */
const NARROWEST_TEXT = 20;
const INDENTS = 4;

const usual = new Help();

/** Returns the width of the column of terms. The descriptions keep at least {@link NARROWEST_TEXT}. */
function padWidth(command: Command, help: Help): number {
  const room = (help.helpWidth ?? 80) - INDENTS - NARROWEST_TEXT;
  return Math.min(usual.padWidth(command, help), LONGEST_TERM, room);
}

/** Formats a term with its description beside it, or below it if the term is too long. */
function formatItem(term: string, width: number, text: string, help: Help): string {
  const format = (left: string): string =>
    Help.prototype.formatItem.call(help, left, width, text, help);
  if (text === "" || help.displayWidth(term) <= width) return format(term);
  return `  ${term}\n${format("")}`;
}
