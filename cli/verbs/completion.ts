import { Argument, type Command } from "commander";
import { bashCompletion } from "../completion/bash.js";
import { fishCompletion } from "../completion/fish.js";
import { type CompletionNode, completionTree } from "../completion/tree.js";
import { zshCompletion } from "../completion/zsh.js";
import type { Context } from "../context.js";
import { addExamples } from "../examples.js";
import type { GlobalOptions } from "../global-options.js";
import { printData, printJson } from "../output.js";

type Shell = "bash" | "zsh" | "fish";

const WRITERS: Readonly<Record<Shell, (root: CompletionNode) => string>> = {
  bash: bashCompletion,
  zsh: zshCompletion,
  fish: fishCompletion,
};

export function define(program: Command, context: Context): void {
  const command = program
    .command("completion")
    .summary("print a shell completion script")
    .description("Prints a script that completes commands, options and fixed values in a shell.")
    .addArgument(new Argument("<shell>", "the shell").choices(Object.keys(WRITERS)))
    .action((shell: Shell, _options: object, self: Command) =>
      run(context, shell, program, self.optsWithGlobals<GlobalOptions>()),
    );
  addExamples(command, "Examples", [
    "proviso completion bash > proviso.bash",
    "proviso completion zsh > _proviso",
    "proviso completion fish > proviso.fish",
  ]);
}

function run(context: Context, shell: Shell, program: Command, options: GlobalOptions): void {
  const script = WRITERS[shell](completionTree(program));
  if (options.json === true) printJson(context, { shell, script });
  else printData(context, script);
}
