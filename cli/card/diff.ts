import type { Command } from "commander";
import { type Json, outlineJson } from "../../src/bytes/json.js";
import type { CardReading } from "../../src/discovery/card.js";
import type { CardChange, ChangeImpact } from "../../src/discovery/change.js";
import { compareCards } from "../../src/discovery/compare.js";
import { readCard } from "../../src/discovery/read-card.js";
import type { Context } from "../context.js";
import { CliError, EXIT, type ExitCode } from "../exit.js";
import { type Paint, printAnswer, printable, stdoutPaint } from "../output.js";
import { addCardOptions, type CardOptions } from "../remote/options.js";
import { act, addExamples } from "../verb.js";
import { CARD_HELP, type CardText, readCardText } from "./text.js";

export function defineDiff(card: Command, context: Context): void {
  const command = card
    .command("diff")
    .description(
      "Compares two cards of one agent: every change is safe, deprecating or breaking for those " +
        "who rely on the first. Exit code 0 if all are safe, 7 if something is announced to " +
        "end, 8 if something breaks.",
    )
    .argument("<old>", `the card as it was: ${CARD_HELP}`)
    .argument("<new>", "the card as it is now, likewise");
  addCardOptions(command).action(act(context, run));
  addExamples(command, [
    "proviso card http://127.0.0.1:8080 --json > card.json",
    "proviso card diff card.json http://127.0.0.1:8080",
  ]);
}

const EXIT_CODES: Readonly<Record<ChangeImpact, ExitCode>> = {
  breaking: EXIT.breaking,
  deprecating: EXIT.deprecating,
  safe: EXIT.done,
};

async function run(
  context: Context,
  options: CardOptions,
  before: string,
  after: string,
): Promise<void> {
  const old = parsed(await readCardText(context, before, options));
  const changes = compareCards(old, parsed(await readCardText(context, after, options)));
  const impact = changes[0]?.impact ?? "safe";
  context.exitCode = EXIT_CODES[impact];
  printAnswer(context, options, { impact, changes }, render(changes, stdoutPaint(context)));
}

function parsed({ name, text }: CardText): CardReading {
  // Said before the parser works on it; no card comes near.
  if (outlineJson(text).depth > 10_000) throw notCard(name, "it is nested too deep");
  try {
    const document: Json = JSON.parse(text);
    return readCard(document);
  } catch {
    throw notCard(name, "this is not JSON");
  }
}

function notCard(name: string, what: string): CliError {
  const hint = `proviso card lint ${name} shows where`;
  const message = `${name}: ${what}`;
  return new CliError({ code: "card_malformed", message, exitCode: EXIT.malformed, hint });
}

function render(changes: readonly CardChange[], paint: Paint): string[] {
  if (changes.length === 0) return ["The cards are the same."];
  const colours = { breaking: paint.red, deprecating: paint.yellow, safe: paint.green };
  const width = Math.max(...changes.map(({ impact }) => impact.length));
  return changes.map(
    ({ impact, message }) => `${colours[impact](impact.padEnd(width))}  ${printable(message)}`,
  );
}
