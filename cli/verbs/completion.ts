import { Argument, type Command } from "commander";
import { SCRIPTS, type Shell } from "../completion/scripts.js";
import type { Context } from "../context.js";
import { addExamples } from "../examples.js";
import type { GlobalOptions } from "../global-options.js";
import { printData, printJson } from "../output.js";

export function define(program: Command, context: Context): void {
  const command = program
    .command("completion")
    .summary("print a shell completion script")
    .description("Prints a script that completes commands, options and fixed values in a shell.")
    .addArgument(new Argument("<shell>", "the shell").choices(Object.keys(SCRIPTS)))
    .action((shell: Shell, _options: object, self: Command) =>
      run(context, shell, self.optsWithGlobals<GlobalOptions>()),
    );
  addExamples(command, "Examples", [
    "proviso completion bash > proviso.bash",
    "proviso completion zsh > _proviso",
    "proviso completion fish > proviso.fish",
  ]);
}

function run(context: Context, shell: Shell, options: GlobalOptions): void {
  const script = SCRIPTS[shell];
  if (options.json === true) printJson(context, { shell, script });
  else printData(context, script);
}
