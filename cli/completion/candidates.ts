// cli/completion/: what may stand next on a command line, and the scripts by which shells ask for it.

import type { Argument, Command, Option } from "commander";

/**
 * What may stand at the end of a command line, as the shells' scripts take it: a line each, a word and
 * behind a tab what it means, if that can be said. A line with a colon before it names what the shell
 * knows itself: `:directories`, `:files`, or `:token` for files behind an @.
 *
 * @param program - With every verb.
 * @param words - What stands behind the program's name, the last one as far as it is written. Bash
 *   hands over `--to=v2` in three words, and `@file` in two.
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

/** An option that takes a value, by one of its spellings. */
function optionIn(program: Command, command: Command, flag: string): Option | undefined {
  const options = optionsOf(program, command);
  const found = options.find(({ long, short }) => flag === long || flag === short);
  return found?.required || found?.optional ? found : undefined;
}

// What stands at the program is understood by every command, but for its version.
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
