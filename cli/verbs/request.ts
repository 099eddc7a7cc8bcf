import type { Command } from "commander";
import type { Json } from "../../src/bytes/json.js";
import type { HopInit } from "../../src/caveats/hop.js";
import { REQUESTED_KEYS, type Requested } from "../../src/caveats/hop-rules.js";
import { normalizeHop } from "../../src/caveats/write-hop.js";
import { AgentFault } from "../../src/client/fault.js";
import type { CapabilityQuery } from "../../src/protocols/a2a/client/capability-client.js";
import { readFilters } from "../argument-expression.js";
import type { Context } from "../context.js";
import { asUsage, CliError, EXIT, usageError } from "../exit.js";
import { printAnswer, printable, say, stderrPaint } from "../output.js";
import type { RemoteCard } from "../remote/card.js";
import { type AgentConnection, asking, connectAgent } from "../remote/client.js";
import { type ReceivedCapabilities, readReceived, receivedLines } from "../remote/granted.js";
import { addRemoteOptions, type RemoteOptions, URL_HELP } from "../remote/options.js";
import { refusedDetails, refusedLine, requestRefusal } from "../remote/refusal.js";
import { addRestrictions, restrictionsFrom } from "../restrictions.js";
import { act, addExamples, collect, toText } from "../verb.js";

interface Options extends RemoteOptions {
  readonly grant: readonly string[];
  readonly collection?: string;
  readonly filter?: readonly string[];
}

export function define(program: Command, context: Context): void {
  const command = program
    .command("request")
    .summary("ask an agent for capabilities")
    .description(
      "Asks an agent for capabilities, and prints their tokens, one on a line. What they are good " +
        "for, and the handles of the resources, goes to standard error. Ask for no more than the " +
        "task needs: what is not restricted here is as wide as the agent's policy.",
    )
    .argument("<url>", URL_HELP)
    .requiredOption(
      "--grant <grant>",
      "a grant, as proviso card shows them; repeat for more",
      collect,
    )
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
  addRemoteOptions(command).action(act(context, run));
  addExamples(command, [
    "proviso request http://127.0.0.1:8080 --access-token @access --grant documents:read --collection reports --filter year=2025 --purpose 'sum up the year' > token",
    "proviso request http://127.0.0.1:8080 --access-token @access --grant documents:read --collection reports --filter 'date>=2025-04-01' --op retrieve --expires 5m --json",
  ]);
}

async function run(context: Context, options: Options, url: string): Promise<void> {
  const query = await queryFrom(options);
  const { card, client } = await connectAgent(context, url, options);
  const answer = await ask({ card, client }, query);
  const received = readReceived(card, answer);
  if (received.capabilities.length === 0) throw nothing(card, received);
  if (options.json !== true) tell(context, card, received);
  const tokens = received.capabilities.map(({ token }) => token);
  printAnswer(context, options, answer, tokens);
}

async function queryFrom(options: Options): Promise<CapabilityQuery> {
  const { grant, collection, filter } = options;
  if (collection === undefined && filter !== undefined) {
    throw usageError("--filter needs --collection", "name the collection that it is about");
  }
  const restrictions: HopInit = await restrictionsFrom(options, { moments: true });
  const hop: Requested =
    Object.keys(restrictions).length === 0 ? {} : asUsage(() => normalizeHop(restrictions));
  if (collection === undefined) return { grants: grant, ...hop };
  const only = filter === undefined ? {} : { filter: readFilters(filter) };
  return { grants: grant, ...hop, resourceQuery: { collection, ...only } };
}

async function ask({ card, client }: AgentConnection, query: CapabilityQuery): Promise<Json> {
  try {
    const answer = await asking(card, () => client.request(query));
    // Whatever came: it is only known to be JSON.
    return JSON.parse(JSON.stringify(answer));
  } catch (error) {
    throw error instanceof AgentFault ? requestRefusal(card, error) : error;
  }
}

function nothing(card: RemoteCard, { refused, reason }: ReceivedCapabilities): CliError {
  // With the grants below, the sentence would stand there twice.
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
  const paint = stderrPaint(context);
  const now = Date.now();
  const count = capabilities.length;
  const what = count === 1 ? "a capability" : `${count} capabilities`;
  const lines = [
    `${printable(card.name)} granted ${what}`,
    ...capabilities.flatMap((one) => receivedLines(one, paint, now)),
    ...refused.map((one) => `${paint.yellow("not granted")}: ${printable(refusedLine(one))}`),
  ];
  for (const line of lines) say(context, line);
  if (count === 1) return;
  const order = "one on a line in this order; proviso invoke takes them together";
  say(context, `note: ${count} tokens, ${order}`);
}
