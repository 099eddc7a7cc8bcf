import { randomUUID } from "node:crypto";
import type { Command } from "commander";
import { isJsonObject, type Json, type JsonObject } from "../../src/bytes/json.js";
import type { HopInit } from "../../src/caveats/hop.js";
import { REQUESTED_KEYS, type Requested } from "../../src/caveats/hop-rules.js";
import { formatTime, parseTime } from "../../src/caveats/time.js";
import { normalizeHop } from "../../src/caveats/write-hop.js";
import { AgentFault } from "../../src/client/fault.js";
import type { CapabilityQuery } from "../../src/protocols/a2a/client/capability-client.js";
import { readFilters } from "../argument-expression.js";
import type { Context } from "../context.js";
import { asUsage, CliError, EXIT, usageError } from "../exit.js";
import { momentFrom, seenFromNow } from "../moment.js";
import { printAnswer, printable, say, stderrPaint } from "../output.js";
import type { RemoteCard } from "../remote/card.js";
import { type AgentConnection, asking, connectAgent } from "../remote/client.js";
import { type ReceivedCapabilities, readReceived, receivedLines } from "../remote/granted.js";
import { addRemoteOptions, type RemoteOptions, URL_HELP } from "../remote/options.js";
import { pendingLines, readPending, sayHowToCollect } from "../remote/pending.js";
import { refusedDetails, refusedLine, requestRefusal } from "../remote/refusal.js";
import { addRestrictions, restrictionsFrom } from "../restrictions.js";
import { addOutput, printTokens, type TokenOutput } from "../token-file.js";
import { act, addExamples, collect, toText } from "../verb.js";

interface Options extends RemoteOptions, TokenOutput {
  readonly grant?: readonly string[];
  readonly collect?: string;
  readonly wait?: boolean;
  readonly collection?: string;
  readonly filter?: readonly string[];
  readonly expires?: string;
}

/** A note is shown if the granted expiry is earlier than the requested one by more than this many milliseconds. */
const WAY = 60_000;

export function define(program: Command, context: Context): void {
  const command = program
    .command("request")
    .summary("ask an agent for capabilities")
    .description(
      "Asks an agent for capabilities, and prints their tokens, one on a line. What they are good " +
        "for, and the handles of the resources, goes to standard error. Ask for no more than the " +
        "task needs: what is not restricted here is as wide as the agent's policy. If people must approve " +
        "it first, standard error says who, where and until when; the command then waits for their " +
        "decision (on a terminal, or with --wait), or you collect the result later, with --collect.",
    )
    .argument("<url>", URL_HELP)
    .option("--grant <grant>", "a grant, as proviso card shows them; repeat for more", collect)
    .option(
      "--collect <approval>",
      "collect the result of an earlier request, by the id of its approval",
      toText,
    )
    .option("--wait", "wait until people have decided; so does a terminal")
    .option("--no-wait", "do not wait: end with exit code 9 while people have not decided")
    .option("--collection <name>", "the collection of resources that the task is about", toText)
    .option(
      "--filter <expr>",
      "which resources in it, such as department=finance, 'year>=2024', 'date<=2025-12-31' or " +
        "'department in finance,legal'; repeat for more",
      collect,
    );
  addRestrictions(command, {
    keys: REQUESTED_KEYS,
    help: { expires: "until when: a time, or a duration from now such as 15m" },
  });
  addOutput(addRemoteOptions(command)).action(act(context, run));
  addExamples(command, [
    "proviso request http://127.0.0.1:8080 --access-token @access --grant documents:read --collection reports --filter year=2025 --purpose 'sum up the year' --output token",
    "proviso request http://127.0.0.1:8080 --access-token @access --grant documents:read --collection reports --filter 'date>=2025-04-01' --op retrieve --expires 5m --json",
    "proviso request http://127.0.0.1:8080 --access-token @access --grant payments:transfer --wait > payment",
    "proviso request http://127.0.0.1:8080 --access-token @access --collect approval_5bWq0Yx3mNfQk2Zt8cVh1A > payment",
  ]);
}

async function run(context: Context, options: Options, url: string): Promise<void> {
  const query = await queryFrom(options);
  const connection = await connectAgent(context, url, options);
  const first = await ask(connection, ({ client }) =>
    typeof query === "string" ? client.collect(query) : client.request(query),
  );
  const answer = await decided(context, connection, first, options);
  const { card } = connection;
  const received = readReceived(card, answer);
  const pending = readPending(card, answer);
  if (received.capabilities.length === 0 && pending === undefined) throw nothing(card, received);
  if (options.json !== true) tell(context, card, received);
  if (pending !== undefined) {
    context.exitCode = EXIT.pending;
    if (options.json !== true) sayHowToCollect(context, pending, url);
  }
  const tokens = received.capabilities.map(({ token }) => token);
  if (tokens.length > 0) await printTokens(context, options, answer, tokens);
  else if (options.json === true) printAnswer(context, options, answer, tokens);
  sayShorter(context, options, received);
}

/**
 * Waits until people have decided, and returns the result. If the user does not want to wait, returns the
 * answer unchanged.
 */
async function decided(
  context: Context,
  { card, client }: AgentConnection,
  answer: Json,
  { wait = context.stderr.isTerminal, json }: Options,
): Promise<Json> {
  const pending = readPending(card, answer);
  if (pending === undefined) return answer;
  if (json !== true || wait)
    for (const line of pendingLines(context, card, pending)) say(context, line);
  if (!wait) return answer;
  const signal = context.untilStopped();
  try {
    const collected = await ask({ card, client }, () => client.waitFor(pending, { signal }));
    return together(answer, collected);
  } catch (error) {
    if (signal.aborted) return answer;
    throw error;
  }
}

/** Combines the capabilities that were granted immediately with those that people approved. */
function together(first: Json, then: Json): Json {
  if (!isJsonObject(first) || !isJsonObject(then)) return then;
  const { pending: _, ...granted } = first;
  return { ...granted, ...then, capabilities: listsOf("capabilities", first, then) };
}

function listsOf(name: string, ...answers: readonly JsonObject[]): Json {
  return answers.flatMap(({ [name]: list = [] }) => (Array.isArray(list) ? list : []));
}

async function queryFrom(options: Options): Promise<CapabilityQuery | string> {
  const { grant, collection, filter, collect: approval } = options;
  const restrictions: HopInit = await restrictionsFrom(options, { moments: true });
  if (approval !== undefined) {
    const given = Object.keys(restrictions).length > 0 || collection !== undefined;
    if (!given && grant === undefined && filter === undefined) return approval;
    throw usageError(
      "--collect takes no other option of the request",
      "the earlier request says what is collected",
    );
  }
  if (grant === undefined) {
    const hint = "proviso card shows the agent's grants; --collect takes the id of an approval";
    throw usageError("required option '--grant <grant>' not specified", hint);
  }
  if (collection === undefined && filter !== undefined) {
    throw usageError("--filter needs --collection", "name the collection that it is about");
  }
  const hop: Requested =
    Object.keys(restrictions).length === 0 ? {} : asUsage(() => normalizeHop(restrictions));
  // If the request is repeated after a network fault, the request id prevents a second approval.
  const query = { grants: grant, requestId: randomUUID(), ...hop };
  if (collection === undefined) return query;
  const only = filter === undefined ? {} : { filter: readFilters(filter) };
  return { ...query, resourceQuery: { collection, ...only } };
}

/** Reports that the agent has shortened the lifetime. Otherwise only the token would show that. */
function sayShorter(context: Context, { expires }: Options, received: ReceivedCapabilities): void {
  if (expires === undefined) return;
  const now = Date.now();
  const asked = momentFrom("--expires", expires, now).getTime();
  const ends = received.capabilities.map(({ inspection }) => inspection.authority.expires ?? "");
  const [soonest] = ends.sort();
  const granted = parseTime(soonest ?? "");
  // The request itself takes a few seconds.
  if (soonest === undefined || granted === undefined || asked - granted <= WAY) return;
  const words = `asked for until ${formatTime(asked)}, granted until ${soonest}`;
  say(context, `note: ${words} (${seenFromNow(soonest, now)}): the agent allows no longer`);
}

async function ask(
  connection: AgentConnection,
  call: (connection: AgentConnection) => Promise<unknown>,
): Promise<Json> {
  const { card } = connection;
  try {
    const answer = await asking(card, () => call(connection));
    // The answer can be any JSON.
    return JSON.parse(JSON.stringify(answer));
  } catch (error) {
    throw error instanceof AgentFault ? requestRefusal(card, error) : error;
  }
}

function nothing(card: RemoteCard, { refused, reason }: ReceivedCapabilities): CliError {
  // The error lists the refused grants in its details, so the agent's own sentence would repeat them.
  const why = refused.length === 0 ? (reason ?? "it does not say why") : "nothing was found";
  return new CliError({
    code: "nothing_found",
    message: `${card.name} grants nothing: ${why}`,
    exitCode: EXIT.refused,
    hint: "widen --filter, or check what this principal may use",
    details: refusedDetails(refused),
  });
}

function tell(
  context: Context,
  card: RemoteCard,
  { capabilities, refused }: ReceivedCapabilities,
): void {
  const count = capabilities.length;
  if (count === 0 && refused.length === 0) return;
  const paint = stderrPaint(context);
  const now = Date.now();
  const what = count === 1 ? "a capability" : `${count} capabilities`;
  const lines = [
    ...(count === 0 ? [] : [`${printable(card.name)} granted ${what}`]),
    ...capabilities.flatMap((one) => receivedLines(one, paint, now)),
    ...refused.map((one) => `${paint.yellow("not granted")}: ${printable(refusedLine(one))}`),
  ];
  for (const line of lines) say(context, line);
  if (count <= 1) return;
  const order = "one on a line in this order; proviso invoke takes them together";
  say(context, `note: ${count} tokens, ${order}`);
}
