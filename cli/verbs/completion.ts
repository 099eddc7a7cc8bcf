import { Argument, type Command } from "commander";
import { SCRIPTS, type Shell } from "../completion/scripts.js";
import type { Context } from "../context.js";
import { printData, printJson } from "../output.js";
import { act, addExamples, type GlobalOptions } from "../verb.js";

export function define(program: Command, context: Context): void {
  const command = program
    .command("completion")
    .summary("print a shell completion script")
    .description("Prints a script that completes commands, options and fixed values in a shell.")
    .addArgument(new Argument("<shell>", "the shell").choices(Object.keys(SCRIPTS)))
    .action(act(context, run));
  addExamples(command, [
    "proviso completion bash > proviso.bash",
    "proviso completion zsh > _proviso",
    "proviso completion fish > proviso.fish",
  ]);
}

function run(context: Context, options: GlobalOptions, shell: Shell): void {
  const script = SCRIPTS[shell];
  if (options.json === true) printJson(context, { shell, script });
  else printData(context, script);
}
