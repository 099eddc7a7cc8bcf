import type { Command } from "commander";

/** Adds commands that work in this order to the end of a command's help. */
export function addExamples(command: Command, title: string, lines: readonly string[]): void {
  const text = lines.map((line) => `  $ ${line}`).join("\n");
  command.addHelpText("after", `\n${title}:\n${text}`);
}
