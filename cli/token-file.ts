import type { Command } from "commander";
import { absolutePath, type Context } from "./context.js";
import { escapedJson, printAnswer, printable, say } from "./output.js";
import { putFile } from "./private-file.js";
import { toText } from "./verb.js";

/** The options for the output of a verb that prints tokens. */
export interface TokenOutput {
  readonly json?: boolean;
  readonly output?: string;
}

/**
 * Adds `--output` to a verb that prints tokens. With `>`, the shell would empty the file before the verb has
 * read it.
 */
export function addOutput(command: Command): Command {
  return command.option(
    "-o, --output <file>",
    "write it to a file of mode 0600, whole or not at all, instead of printing it",
    toText,
  );
}

/**
 * Prints tokens, one per line; with `--json`, prints the document. With `--output`, writes the tokens to the
 * named file instead, and replaces its contents.
 *
 * @throws CliError if the file cannot be written. The file is then unchanged.
 */
export async function printTokens(
  context: Context,
  options: TokenOutput,
  document: unknown,
  tokens: readonly string[],
): Promise<void> {
  const { output, json } = options;
  if (output === undefined) return printAnswer(context, options, document, tokens);
  const text = json === true ? escapedJson(document) : tokens.join("\n");
  await putFile(absolutePath(context, output), `${text}\n`, output);
  const what = tokens.length === 1 ? "the token is" : `${tokens.length} tokens are`;
  say(context, `${what} in ${printable(output)}`);
}
