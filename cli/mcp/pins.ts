import type { Command } from "commander";
import { PinStore, type ToolPin } from "../../src/protocols/mcp/tools/pins.js";
import type { Context } from "../context.js";
import { environmentError, usageError } from "../exit.js";
import { addDatabase, type HomeChoice, homeFor, withStores } from "../home.js";
import { countWords } from "../ledger-words.js";
import { type Paint, printAnswer, printable, quoted, stdoutPaint } from "../output.js";
import { didYouMean } from "../unknown-name.js";
import { act, addExamples, listsAlone, toText } from "../verb.js";
import { changeLine, definitionChanges } from "./definition-changes.js";

interface AcceptOptions extends HomeChoice {
  readonly server?: string;
  readonly all?: boolean;
}

/** Adds `proviso mcp pins`. */
export function definePins(mcp: Command, context: Context): void {
  const pins = mcp
    .command("pins")
    .helpCommand(false)
    .description(
      "The definitions of tools, as gates first saw them. A tool whose server has changed its " +
        "definition is refused until the change is accepted. Without a command, lists them, with the " +
        "changes in words.",
    );
  listsAlone(pins, context, list);
  const listing = pins
    .command("list")
    .description("Lists the pinned tools by server, with what has changed.")
    .action(act(context, list));
  const accepting = pins
    .command("accept")
    .description("Accepts the changed definitions of tools. A running gate uses them at once.")
    .argument("[tools...]", "the tools, by the server's own names")
    .option("--server <server>", "the server, as pins list shows it", toText)
    .option("--all", "every change, of the server or of all servers")
    .action((tools: readonly string[], _options: object, self: Command) =>
      accept(context, self.optsWithGlobals<AcceptOptions>(), tools),
    );
  const forgetting = pins
    .command("forget")
    .description(
      "Removes the pins of a server, so that its tools are pinned when they are seen next, also by a " +
        "running gate.",
    )
    .argument("<server>", "the server, as pins list shows it")
    .action(act(context, forget));
  for (const verb of [listing, accepting, forgetting]) addDatabase(verb);
  const reading = ["proviso mcp pins list", "proviso mcp pins list --json"];
  const changing = ["proviso mcp pins accept read_text_file", "proviso mcp pins accept --all"];
  const removing = ["proviso mcp pins forget files"];
  addExamples(listing, reading);
  addExamples(accepting, changing);
  addExamples(forgetting, removing);
  addExamples(pins, [...reading, ...changing, ...removing]);
}

async function list(context: Context, options: HomeChoice): Promise<void> {
  const pins = await withPins(context, options, (store) => store.list());
  const document = pins.map(({ pinned, changed, ...pin }) => ({
    ...pin,
    pinned: new Date(pinned).toISOString(),
    ...(changed === undefined
      ? {}
      : { changed, changes: definitionChanges(pin.definition, changed) }),
  }));
  const paint = stdoutPaint(context);
  const lines = pins.length === 0 ? ["No gate has seen a tool yet."] : pinLines(pins, paint);
  printAnswer(context, options, { pins: document }, lines);
}

function pinLines(pins: readonly ToolPin[], paint: Paint): string[] {
  const servers = [...new Set(pins.map(({ server }) => server))];
  return servers.flatMap((server) => {
    const own = pins.filter((pin) => pin.server === server);
    const changed = own.filter((pin) => pin.changed !== undefined);
    const same = own.filter((pin) => pin.changed === undefined);
    return [
      paint.bold(printable(server)),
      ...(same.length === 0
        ? []
        : [`  as pinned  ${same.map(({ tool }) => printable(tool)).join(", ")}`]),
      ...changed.flatMap((pin) => changedLines(pin, paint)),
    ];
  });
}

function changedLines(
  { tool, definition, changed = null, pinned }: ToolPin,
  paint: Paint,
): string[] {
  const changes = definitionChanges(definition, changed);
  const day = new Date(pinned).toISOString();
  return [
    `  ${paint.red("changed")}    ${printable(tool)}, pinned ${day}: refused until it is accepted`,
    ...changes.map((change) => `    ${printable(changeLine(change))}`),
  ];
}

async function accept(
  context: Context,
  options: AcceptOptions,
  tools: readonly string[],
): Promise<void> {
  const { server, all = false } = options;
  if (all === tools.length > 0) {
    throw usageError(
      all ? "--all and the names of tools exclude each other" : "no tool is named",
      "name the tools whose change is accepted, or give --all",
    );
  }
  const accepted = await withPins(context, options, async (store) => {
    const pins = await store.list();
    const among = server === undefined ? pins : pins.filter((pin) => pin.server === server);
    if (server !== undefined && among.length === 0) throw unknownServer(server, pins);
    const chosen = all
      ? among.filter(({ changed }) => changed !== undefined)
      : tools.map((tool) => chosenPin(tool, among));
    for (const pin of chosen) {
      if (!(await store.accept(pin))) throw changedAgain(pin);
    }
    return chosen;
  });
  const document = accepted.map(({ server: of, tool, definition, changed = null }) => ({
    server: of,
    tool,
    changes: definitionChanges(definition, changed),
  }));
  const lines = document.flatMap(({ server: of, tool, changes }) => [
    `accepted ${printable(tool)} of ${printable(of)}`,
    ...changes.map((change) => `  ${printable(changeLine(change))}`),
  ]);
  printAnswer(
    context,
    options,
    { accepted: document },
    lines.length === 0 ? ["Nothing has changed."] : lines,
  );
}

function chosenPin(tool: string, pins: readonly ToolPin[]): ToolPin {
  const named = pins.filter((pin) => pin.tool === tool);
  const [changed, another] = named.filter((pin) => pin.changed !== undefined);
  if (changed !== undefined && another === undefined) return changed;
  if (another !== undefined) {
    throw usageError(
      `several servers have changed ${quoted(tool)}`,
      "name the server with --server, as proviso mcp pins list shows it",
    );
  }
  if (named.length > 0) throw usageError(`the definition of ${quoted(tool)} has not changed`);
  const names = pins.map((pin) => pin.tool);
  throw usageError(
    `no gate has seen a tool ${quoted(tool)}`,
    didYouMean(tool, names, "proviso mcp pins list shows them"),
  );
}

function changedAgain({ tool }: ToolPin): Error {
  const message = `the server has just changed ${quoted(tool)} again`;
  return environmentError("definition_changed", message, "look at it: proviso mcp pins list");
}

async function forget(context: Context, options: HomeChoice, server = ""): Promise<void> {
  const removed = await withPins(context, options, async (store) => {
    const count = await store.forget(server);
    if (count === 0) throw unknownServer(server, await store.list());
    return count;
  });
  const line = `forgot ${countWords(removed, "tool")} of ${printable(server)}`;
  printAnswer(context, options, { server, removed }, [line]);
}

function unknownServer(server: string, pins: readonly ToolPin[]): Error {
  const servers = [...new Set(pins.map((pin) => pin.server))];
  const hint = didYouMean(server, servers, "proviso mcp pins list shows the servers");
  return usageError(`there are no pins of a server ${quoted(server)}`, hint);
}

function withPins<T>(
  context: Context,
  options: HomeChoice,
  use: (pins: PinStore) => Promise<T>,
): Promise<T> {
  return withStores(homeFor(context, options), (database) => use(new PinStore(database)));
}
