// Finds the possible next words of a command line.

import type { Argument, Command, Option } from "commander";

/**
 * Returns the possible last words of a command line, in the form that the shells' scripts read: one word per
 * line. If a word has a description, a tab and the description follow. A line that begins with a colon names
 * something that the shell completes by itself: `:directories`, `:files`, or `:token` for files after an @.
 *
 * @param program - The program with all its verbs.
 * @param words - The words after the program's name; the last one may be incomplete. Bash passes `--to=v2` as
 *   three words, and `@file` as two.
 */
export function candidates(program: Command, words: readonly string[]): readonly string[] {
  const glued = words.at(-1) === "=" ? [...words, ""] : words;
  const typed = glued
    .filter((word, at) => word !== "=" || !glued[at - 1]?.startsWith("--"))
    .filter((word, at, all) => word !== "@" || at === all.length - 1);
  const word = typed.at(-1) ?? "";
  let command = program;
  let position = 0;
  let open: Option | undefined;
  for (const before of typed.slice(0, -1)) {
    if (open !== undefined) open = undefined;
    else if (before.startsWith("-")) open = optionIn(program, command, before);
    else {
      const below = command.commands.find((child) => child.name() === before);
      if (below === undefined) position++;
      else [command, position] = [below, 0];
    }
  }
  const [, name, value] = /^(--[^=]+)=(.*)$/s.exec(word) ?? [];
  const assigned = name === undefined ? undefined : optionIn(program, command, name);
  if (open !== undefined) return startingWith(word, valuesOf(open));
  if (assigned !== undefined) {
    const values = startingWith(value ?? "", valuesOf(assigned));
    return values.map((line) => (line.startsWith(":") ? line : `${name}=${line}`));
  }
  if (word.startsWith("-")) return startingWith(word, optionsOf(program, command).flatMap(flagsOf));
  const argument = command.registeredArguments[position];
  return startingWith(word, [
    ...commandsOf(command),
    ...(argument === undefined ? [] : argumentsOf(argument)),
  ]);
}

function startingWith(word: string, lines: readonly string[]): readonly string[] {
  return lines.filter((line) => line.startsWith(":") || line.startsWith(word));
}

/** Finds the option that has this flag. Returns `undefined` if the option takes no value. */
function optionIn(program: Command, command: Command, flag: string): Option | undefined {
  const options = optionsOf(program, command);
  const found = options.find(({ long, short }) => flag === long || flag === short);
  return found?.required || found?.optional ? found : undefined;
}

// Every command accepts the program's own options, except `--version`.
function optionsOf(program: Command, command: Command): readonly Option[] {
  const own = command.createHelp().visibleOptions(command);
  if (command === program) return own;
  return [...own, ...program.options.filter(({ long }) => long !== "--version")];
}

function flagsOf({ long, short, description }: Option): string[] {
  return [long ?? [], short ?? []].flat().map((flag) => described(flag, description));
}

function commandsOf(command: Command): string[] {
  const visible = command.createHelp().visibleCommands(command);
  return visible
    .filter((child) => child.name() !== "help")
    .map((child) => described(child.name(), child.summary() || child.description()));
}

function valuesOf({ argChoices = [], flags }: Option): readonly string[] {
  return flags.endsWith("<dir>") ? [":directories"] : argChoices;
}

function argumentsOf(argument: Argument): readonly string[] {
  if (argument.argChoices !== undefined) return argument.argChoices;
  if (["token", "parent", "child"].includes(argument.name())) return [":token"];
  return argument.name() === "config" ? [":files"] : [];
}

function described(word: string, description: string): string {
  return `${word}\t${description.split("\n", 1)[0] ?? ""}`;
}
