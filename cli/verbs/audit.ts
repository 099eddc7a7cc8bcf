import { type Command, Option } from "commander";
import type { LedgerQuery } from "../../src/agent/ledger.js";
import { formatTime, readDuration } from "../../src/caveats/time.js";
import { LedgerStore } from "../../src/stores/ledger/ledger-store.js";
import { KINDS } from "../../src/stores/ledger/row.js";
import type { Context } from "../context.js";
import { type CliError, usageError } from "../exit.js";
import { addDatabase, type HomeChoice, homeFor, withStores } from "../home.js";
import { countWords, eventLine, historyLines, historyOf } from "../ledger-words.js";
import { momentFrom } from "../moment.js";
import { printAnswer, printable, say, stdoutPaint } from "../output.js";
import { didYouMean } from "../unknown-name.js";
import { act, addExamples, DEFAULT_LIMIT, limitOption, sayMore, toText } from "../verb.js";

interface Options extends HomeChoice, Omit<LedgerQuery, "decision"> {
  readonly refused?: boolean;
}

export function define(program: Command, context: Context): void {
  const audit = program
    .command("audit")
    .summary("what an agent decided, from its ledger")
    .helpCommand(false)
    .description(
      "Lists what an agent granted, ran, refused and revoked, and what became of hosts, agents and " +
        "approvals, oldest first: when, for whom and by which agent, what, with which capability, and " +
        "why not. Reads the ledger while the agent " +
        "runs; the last moments may not be there yet.",
    )
    .option("--principal <user>", "only on behalf of this user", toText)
    .option("--capability <id>", "only with this capability", toText)
    .option(
      "--since <when>",
      "only since then: a time, or a duration back from now such as 2h",
      toText,
    )
    .option("--refused", "only what was refused")
    .addOption(new Option("--kind <kind>", "only events of this kind").choices([...KINDS]))
    .addOption(limitOption())
    .action(act(context, list));
  // `keys list` and `grants list` exist, so users will try `audit list`.
  audit.command("list", { hidden: true }).action(act(context, list));
  const tree = audit
    .command("tree")
    .description(
      "Draws how a capability was handed on, as invocations have shown it: what every hop takes " +
        "away, who used it, what was allowed and refused, and what was revoked.",
    )
    .argument("<capability>", "the capability's id, from proviso audit or proviso inspect")
    .action(act(context, draw));
  for (const verb of [audit, tree]) addDatabase(verb);
  const drawing = ["proviso audit tree cap_GWr1hed4gOYvJokW"];
  addExamples(tree, [...drawing, `${drawing[0]} --database /srv/agent/proviso.db --json`]);
  addExamples(audit, [
    "proviso audit --since 1h",
    "proviso audit --principal alice --refused",
    "proviso audit --kind issuance --limit 1000 --json",
    ...drawing,
  ]);
}

async function list(context: Context, options: Options): Promise<void> {
  const { limit = DEFAULT_LIMIT } = options;
  const query = queryFrom(options);
  // Read one more than requested, to know whether there are more.
  const { found, gaps } = await withStores(homeFor(context, options), async (database) => {
    const ledger = new LedgerStore(database);
    return { found: await ledger.list({ ...query, limit: limit + 1 }), gaps: await ledger.gaps() };
  });
  const more = found.length > limit;
  const events = more ? found.slice(1) : found;
  const notes = gaps.map(({ from, until, lost }) => {
    const what = `${countWords(lost, "event")} could not be written`;
    return `${what} between ${printable(from)} and ${printable(until)}, and are missing here`;
  });
  if (options.json !== true) {
    for (const note of notes) say(context, `note: ${note}`);
    if (more) sayMore(context, limit);
  }
  const isAsked = Object.values(query).some((value) => value !== undefined);
  const none = isAsked ? "Nothing matches." : "The ledger is empty.";
  if (options.json !== true && !isAsked && events.length === 0) {
    const who = "agents, services and gates record what they decide";
    say(context, `note: ${who}; proviso mint, verify and revoke record nothing`);
  }
  const paint = stdoutPaint(context);
  const lines = events.length === 0 ? [none] : events.map((one) => eventLine(one, paint));
  printAnswer(context, options, { events, more, gaps }, lines);
}

function queryFrom({ principal, capability, since, refused, kind }: Options): LedgerQuery {
  if (capability !== undefined) assertId(capability);
  return {
    principal,
    capability,
    ...(since === undefined ? {} : { since: sinceFrom(since, Date.now()) }),
    ...(refused === true ? { decision: "refused" } : {}),
    kind,
  };
}

// Parses a time. For every other verb a duration counts from now into the future; for this one, into the past.
function sinceFrom(text: string, now: number): string {
  const seconds = readDuration(text);
  if (seconds === undefined) return formatTime(momentFrom("--since", text, now).getTime());
  return formatTime(Math.max(0, now - seconds * 1000));
}

async function draw(context: Context, options: Options, capability: string): Promise<void> {
  assertId(capability);
  // Commander accepts the options of the list for the tree too, but a filtered tree would be misleading.
  const { home, json, color, database, ...filters } = options;
  const [stray] = Object.entries(filters).find(([, value]) => value !== undefined) ?? [];
  if (stray !== undefined) throw usageError(`--${stray} is for the list, not for the tree`);
  const history = await withStores(homeFor(context, options), async (stores) => {
    const ledger = new LedgerStore(stores);
    const events = await ledger.list({ capability });
    if (events.length === 0) throw await unknownCapability(capability, ledger);
    return historyOf(capability, events);
  });
  const lines = historyLines(history, stdoutPaint(context), Date.now());
  printAnswer(context, options, history, lines);
}

const ID = /^cap_[A-Za-z0-9_-]+$/;
const MAX_ID_LENGTH = 128;

function assertId(text: string): void {
  if (ID.test(text) && text.length <= MAX_ID_LENGTH) return;
  const hint = "it starts with cap_; proviso inspect shows that of a token";
  throw usageError(`${text.slice(0, 200)} is not the id of a capability`, hint);
}

const RECENT = 1000;

async function unknownCapability(capability: string, ledger: LedgerStore): Promise<CliError> {
  const issuances = await ledger.list({ kind: "issuance", limit: RECENT });
  const recent = issuances.flatMap((one) => one.capability ?? []);
  // didYouMean makes no suggestion from a long list, so pass it at most 64 ids.
  const close = recent.filter((id) => id.slice(0, 8) === capability.slice(0, 8)).slice(0, 64);
  const list = "proviso audit --kind issuance lists the capabilities";
  const hint = didYouMean(capability, close, didYouMean(capability, recent.slice(-64), list));
  return usageError(`the ledger has nothing about ${capability}`, hint);
}
