import { type Command, Option } from "commander";
import { type MacaroonFormat, readMacaroons } from "../../src/macaroon/read.js";
import { writeMacaroons } from "../../src/macaroon/write.js";
import type { Context } from "../context.js";
import { asUsage } from "../exit.js";
import { escapedJson } from "../output.js";
import { namingSource, readMacaroonArgument, TOKEN_HELP } from "../token-argument.js";
import { addOutput, printTokens, type TokenOutput } from "../token-file.js";
import { act, addExamples, type GlobalOptions } from "../verb.js";

const FORMATS: readonly MacaroonFormat[] = ["v1", "v2", "v1json", "v2json"];

interface Options extends GlobalOptions, TokenOutput {
  readonly to: MacaroonFormat;
}

export function define(program: Command, context: Context): void {
  const command = program
    .command("convert")
    .summary("write a token in another form")
    .description(
      "Writes any macaroon, with its discharges, in the form another implementation reads; a file may " +
        "hold it in binary. " +
        "v1 and v2 are base64url of the binary form. Verifies nothing.",
    )
    .argument("[token]", TOKEN_HELP)
    .addOption(
      new Option("--to <format>", "the form to write").choices(FORMATS).makeOptionMandatory(),
    )
    .action(act(context, run));
  addOutput(command);
  addExamples(command, [
    "proviso convert @token --to v2json > token.json",
    "proviso convert --to v2 < token.json",
  ]);
}

async function run(context: Context, options: Options, argument?: string): Promise<void> {
  const text = readMacaroonArgument(context, argument);
  const { macaroons } = namingSource(argument, () => readMacaroons(text));
  const token = asUsage(() => writeMacaroons(macaroons, options.to), "try another form");
  const line = /json$/.test(options.to) ? escapedJson(JSON.parse(token)) : token;
  await printTokens(context, options, { format: options.to, token }, [line]);
}
