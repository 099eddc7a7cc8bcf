import { renameSync, statSync } from "node:fs";
import type { Command } from "commander";
import { isErrno } from "../src/system/error-code.js";
import { absolutePath, type Context } from "./context.js";
import { environmentError, usageError } from "./exit.js";
import { escapedJson, printAnswer, printable, say } from "./output.js";
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
  const path = absolutePath(context, output);
  const { putPrivateFile } = await import("../src/storage/new-file.js");
  if (statSync(path, { throwIfNoEntry: false })?.isDirectory() === true) {
    throw usageError(`${printable(output)} is a folder`, "name a file in it");
  }
  try {
    putPrivateFile(path, `${text}\n`, renameSync);
  } catch (error) {
    if (!isErrno(error)) throw error;
    const message = `could not write ${printable(output)}: ${error.code ?? error.message}`;
    const hint = "check the folder, its permissions and the space on the disk";
    throw environmentError("output_failed", message, hint);
  }
  const what = tokens.length === 1 ? "the token is" : `${tokens.length} tokens are`;
  say(context, `${what} in ${printable(output)}`);
}
