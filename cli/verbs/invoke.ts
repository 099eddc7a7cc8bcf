import type { Command } from "commander";
import { MAX_PRESENTED } from "../../src/agent/presented.js";
import type { Json, JsonObject } from "../../src/bytes/json.js";
import { AgentFault } from "../../src/client/fault.js";
import { objectIn, textIn } from "../../src/client/received.js";
import { denialsIn } from "../../src/client/refusal.js";
import type { SkillAnswer } from "../../src/protocols/a2a/client/capability-client.js";
import { ERROR_DOMAIN } from "../../src/protocols/a2a/extension.js";
import { readArguments } from "../argument-expression.js";
import type { Context } from "../context.js";
import { CliError, usageError } from "../exit.js";
import { printAnswer, printable, say, stderrPaint } from "../output.js";
import { exitForDenial, refusalLines } from "../refusal.js";
import { argumentsFrom } from "../remote/arguments.js";
import type { RemoteCard } from "../remote/card.js";
import { asking, connectAgent } from "../remote/client.js";
import { addRemoteOptions, type RemoteOptions, URL_HELP } from "../remote/options.js";
import { adviceForCall, faultError } from "../remote/refusal.js";
import { resultLines } from "../remote/result.js";
import { assertPresentable, readTokensArgument } from "../token-argument.js";
import { act, addExamples, collect } from "../verb.js";

interface Options extends RemoteOptions {
  readonly arg?: readonly string[];
  readonly resource?: readonly string[];
}

export function define(program: Command, context: Context): void {
  const command = program
    .command("invoke")
    .summary("call a skill of an agent")
    .description(
      "Calls a skill of an agent with a capability, and prints what it answers. Says refused, with " +
        "every reason, if the agent refuses; the exit codes are those of verify.",
    )
    .argument("<url>", URL_HELP)
    .argument("<skill>", "the skill, as proviso card shows them")
    .argument(
      "[token]",
      "the token, @FILE, or - for standard input (as when it is left out); several, one on a " +
        "line: the agent uses the one that allows the call",
    )
    .option(
      "--arg <name=value>",
      "an argument of the call: JSON if it is JSON, else a string; repeat for more",
      collect,
    )
    .option(
      "--resource <handle>",
      "a resource, put into the argument that takes one; repeat for more",
      collect,
    )
    .option(
      "--ambient",
      "call without a token, on your own authority, and declare it, if the agent accepts that",
    );
  addRemoteOptions(command).action(act(context, run));
  addExamples(command, [
    "proviso invoke http://127.0.0.1:8080 list_documents @token --access-token @access",
    'proviso invoke http://127.0.0.1:8080 retrieve_document --access-token @access --resource "$HANDLE" < token',
    'proviso invoke http://127.0.0.1:8080 retrieve_document @token --access-token @access --arg resourceHandle="$HANDLE" --json',
    "proviso invoke http://127.0.0.1:8080 list_documents --ambient --access-token @access",
  ]);
}

async function run(
  context: Context,
  options: Options,
  url: string,
  skill: string,
  argument?: string,
): Promise<void> {
  const tokens = options.ambient === true ? none(argument) : tokensFrom(context, argument, options);
  const given = readArguments(options.arg ?? []);
  const { card, client } = await connectAgent(context, url, options);
  const all = argumentsFrom(card, skill, given, options.resource ?? []);
  const call = (): Promise<SkillAnswer> =>
    client.invoke(skill, all, tokens.length === 0 ? undefined : tokens);
  let answer: SkillAnswer;
  try {
    answer = await asking(card, call);
  } catch (error) {
    if (!(error instanceof AgentFault)) throw error;
    return printRefusal(context, card, error, options);
  }
  const { result, taskId } = answer;
  // The authority can be any JSON.
  const authority: Json = JSON.parse(JSON.stringify(answer.authority ?? null));
  if (options.json !== true) sayAuthority(context, objectIn(authority));
  const document = { result, taskId, ...(authority === null ? {} : { authority }) };
  printAnswer(context, options, document, resultLines(result));
}

function none(argument: string | undefined): readonly string[] {
  if (argument === undefined) return [];
  throw usageError("--ambient is to call without a token, and one is given", "drop one of them");
}

function tokensFrom(
  context: Context,
  argument: string | undefined,
  { accessToken }: Options,
): readonly string[] {
  if ((argument ?? "-") === "-" && accessToken === "-") {
    const hint = "give one of them as @FILE";
    throw usageError("the token and the access token cannot both come from standard input", hint);
  }
  const tokens = readTokensArgument(context, argument);
  if (tokens[0] === "" && argument === undefined) {
    throw usageError("no token is given", "give @FILE, or pipe it in; --ambient calls without one");
  }
  if (tokens.length > MAX_PRESENTED) {
    throw usageError(`a call may present at most ${MAX_PRESENTED} tokens`, "give fewer");
  }
  assertPresentable(argument, tokens);
  return tokens;
}

function printRefusal(
  context: Context,
  card: RemoteCard,
  fault: AgentFault,
  { json }: Options,
): void {
  const denials = denialsIn(fault.details, ERROR_DOMAIN);
  const [first] = denials;
  if (first === undefined) throw faultError(card, fault);
  const exitCode = exitForDenial(first.code);
  if (json === true) {
    const told = denials.map((denial) => ({ ...denial, hint: adviceForCall(denial) }));
    throw new CliError({
      code: first.code,
      message: `${card.name} refuses: ${first.message}`,
      exitCode,
      hint: adviceForCall(first),
      details: { denials: told },
    });
  }
  context.exitCode = exitCode;
  for (const line of refusalLines(denials, adviceForCall, stderrPaint(context))) say(context, line);
}

// Reports the authority of the call on standard error. Standard output is only for data.
function sayAuthority(context: Context, authority: JsonObject): void {
  const kind = textIn(authority["authority"]);
  const notice = textIn(authority["notice"]) ?? "";
  const paint = stderrPaint(context);
  if (kind === "capability") {
    const id = textIn(authority["capability"]) ?? "a capability";
    if (context.stderr.isTerminal) say(context, paint.dim(`allowed by ${printable(id)}`));
    return;
  }
  const known = kind === undefined ? "authority that the agent does not name" : `${kind} authority`;
  const told = notice === "" ? `done on ${printable(known)}` : printable(notice);
  say(context, `${paint.yellow("note")}: ${told}`);
}
