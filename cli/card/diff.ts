import type { Command } from "commander";
import type { CardChange, ChangeImpact } from "../../src/discovery/change.js";
import { compareCards } from "../../src/discovery/compare.js";
import { readCard } from "../../src/discovery/read-card.js";
import type { Context } from "../context.js";
import { EXIT, type ExitCode, usageError } from "../exit.js";
import { type Paint, printAnswer, printable, stdoutPaint } from "../output.js";
import { addCardOptions, type CardOptions } from "../remote/options.js";
import { act, addExamples, toText } from "../verb.js";
import { registryIn } from "./registry.js";
import { CARD_HELP, jsonIn, readCardText } from "./text.js";

interface Options extends CardOptions {
  readonly registry?: string;
}

export function defineDiff(card: Command, context: Context): void {
  const command = card
    .command("diff")
    .description(
      "Compares two cards of one agent: every change is safe, deprecating or breaking for those " +
        "who rely on the first. Exit code 0 if all are safe, 7 if something is announced to " +
        "end, 8 if something breaks.",
    )
    .argument("<old>", `the card as it was: ${CARD_HELP}`)
    .argument("<new>", "the card as it is now, likewise")
    .option(
      "--registry <file>",
      "the registry that says which capabilities are deprecated; that of this program unless given",
      toText,
    );
  addCardOptions(command).action(act(context, run));
  addExamples(command, [
    "proviso card http://127.0.0.1:8080 --json > card.json",
    "proviso card diff card.json http://127.0.0.1:8080",
    "git show HEAD:card.json | proviso card diff - card.json",
  ]);
}

const EXIT_CODES: Readonly<Record<ChangeImpact, ExitCode>> = {
  breaking: EXIT.breaking,
  deprecating: EXIT.deprecating,
  safe: EXIT.done,
};

async function run(
  context: Context,
  options: Options,
  before: string,
  after: string,
): Promise<void> {
  if (before === "-" && after === "-") {
    throw usageError("only one card can come from standard input", "name a file for the other");
  }
  const registry =
    options.registry === undefined ? undefined : registryIn(context, options.registry);
  const old = readCard(jsonIn(await readCardText(context, before, options)), registry);
  const next = readCard(jsonIn(await readCardText(context, after, options)), registry);
  const changes = compareCards(old, next, registry);
  const impact = changes[0]?.impact ?? "safe";
  context.exitCode = EXIT_CODES[impact];
  printAnswer(context, options, { impact, changes }, render(changes, stdoutPaint(context)));
}

function render(changes: readonly CardChange[], paint: Paint): string[] {
  if (changes.length === 0) return ["The cards are the same."];
  const colours = { breaking: paint.red, deprecating: paint.yellow, safe: paint.green };
  const width = Math.max(...changes.map(({ impact }) => impact.length));
  return changes.map(
    ({ impact, message }) => `${colours[impact](impact.padEnd(width))}  ${printable(message)}`,
  );
}
