import type { Command } from "commander";
import type { MintRequest } from "../../src/capability/mint.js";
import type { Context } from "../context.js";
import { addDatabase, type HomeChoice, withHome } from "../home.js";
import { deadOperationNotes, mintCapability } from "../minting.js";
import { say } from "../output.js";
import { addRestrictions, restrictionsFrom } from "../restrictions.js";
import { addOutput, printTokens, type TokenOutput } from "../token-file.js";
import { summaryLine } from "../token-words.js";
import { act, addExamples, toText } from "../verb.js";

interface Options extends HomeChoice, TokenOutput {
  readonly grant: string;
  readonly principal?: string;
  readonly anyOp?: boolean;
  readonly service?: string;
}

export function define(program: Command, context: Context): void {
  const command = program
    .command("mint")
    .summary("make a capability and print its token")
    .description(
      "Makes a capability and prints its token, alone. It lives for 15 minutes unless --expires " +
        "says otherwise. Name its operations with --op: without it, the token has those that the " +
        "home lists for the grant. What is not restricted otherwise is allowed.",
    )
    .requiredOption("--grant <grant>", "what is granted, such as documents:read", toText)
    .option("--principal <user>", "the user on whose behalf", toText)
    .option(
      "--service <service>",
      "the one service it is for: made under that service's key, which keys service gives",
      toText,
    )
    .option("--any-op", "allow every operation, now and in future, instead of naming them");
  addRestrictions(command, {
    help: {
      expires:
        "when it expires: a time such as 2030-01-31T23:59:59Z, or a duration from now such as 15m",
    },
  }).action(act(context, run));
  addOutput(command);
  addDatabase(command);
  addExamples(command, [
    "proviso mint --grant documents:read --op retrieve --op search > token",
    "proviso mint --grant documents:read --principal user_7 --op retrieve --resource rh_1 --expires 2h",
    "proviso mint --grant payments:send --op pay --arg 'amount<=1000' --arg 'currency in USD,EUR'",
    "proviso mint --grant agent:tools --op read_file,send_money --arg 'read_file:path under /data' --arg 'send_money:amount<=50' --arg 'send_money:bcc absent'",
    "proviso mint --grant documents:read --op retrieve --max-further-hops 0 --json",
    "proviso mint --grant documents:read --op retrieve --service documents > documents.token",
  ]);
}

async function run(context: Context, options: Options): Promise<void> {
  const { grant, principal, anyOp, service } = options;
  const restrictions = await restrictionsFrom(options);
  const request: MintRequest = { grant, principal, anyOperation: anyOp, service, ...restrictions };
  const minted = await withHome(context, options, (home) => mintCapability(request, home));
  const { token, id, issued, expires, revocationId, hop } = minted;
  const document = { token, id, grant, principal, service, issued, expires, revocationId, hop };
  for (const note of deadOperationNotes(hop)) say(context, note);
  await printTokens(context, options, document, [token]);
  if (options.json !== true && context.stderr.isTerminal) say(context, summaryLine(token));
}
