import type { Command } from "commander";
import { isJsonObject, type Json } from "../../src/bytes/json.js";
import type { CardFinding } from "../../src/discovery/finding.js";
import type { Context } from "../context.js";
import { EXIT } from "../exit.js";
import { type Paint, printAnswer, printable, stdoutPaint } from "../output.js";
import { addCardOptions, type CardOptions } from "../remote/options.js";
import { act, addExamples } from "../verb.js";
import { CARD_HELP, type CardText, readCardText } from "./text.js";

/** Characters of the text that are shown, before and after the offence. */
const [BEFORE, AFTER] = [24, 48];

export function defineLint(card: Command, context: Context): void {
  const command = card
    .command("lint")
    .description(
      "Checks a card against A2A 1.0's schema and against the contract of discovery: what it " +
        "must say, and where it contradicts itself. Exit code 1 if it has an error; warnings " +
        "alone are exit code 0.",
    )
    .argument("<card>", CARD_HELP);
  addCardOptions(command).action(act(context, run));
  addExamples(command, [
    "proviso card lint http://127.0.0.1:8080",
    "proviso card http://127.0.0.1:8080 --json > card.json",
    "proviso card lint card.json --json",
  ]);
}

async function run(context: Context, options: CardOptions, argument: string): Promise<void> {
  const card = await readCardText(context, argument, options);
  const { lintCard } = await import("../../src/discovery/lint.js");
  const findings = await lintCard(card.text);
  const errors = findings.filter(({ severity }) => severity === "error").length;
  const warnings = findings.length - errors;
  if (errors > 0) context.exitCode = EXIT.refused;
  const note = errors > 0 ? olderVersion(card.text) : undefined;
  const document = {
    card: card.name,
    ...(note === undefined ? {} : { note }),
    errors,
    warnings,
    findings,
  };
  printAnswer(context, options, document, [
    ...(note === undefined ? [] : [`${printable(card.name)}: ${printable(note)}`]),
    ...render(card, findings, stdoutPaint(context)),
  ]);
}

/** What to say of a card of an A2A before 1.0, in which a card names one address and one version. */
function olderVersion(text: string): string | undefined {
  let card: Json;
  try {
    card = JSON.parse(text);
  } catch {
    return undefined;
  }
  if (!isJsonObject(card) || card["supportedInterfaces"] !== undefined) return undefined;
  const { protocolVersion: version } = card;
  if (typeof version !== "string" || !/^0\./.test(version)) return undefined;
  return `this is a card of A2A ${version.slice(0, 16)}; what follows is what A2A 1.0 asks of it`;
}

function render(card: CardText, findings: readonly CardFinding[], paint: Paint): string[] {
  if (findings.length === 0) return [paint.green(`${printable(card.name)}: nothing is wrong`)];
  const lines = card.text.split("\n");
  return findings.flatMap(({ severity, code, line, column, message }) => {
    const colour = severity === "error" ? paint.red : paint.yellow;
    const place = `${printable(card.name)}:${line}:${column}`;
    const title = `${place}: ${colour(severity)} ${code}: ${printable(message)}`;
    const excerpt = excerptAt(lines[line - 1] ?? "", column);
    return excerpt === "" ? [title] : [title, `  ${paint.dim(printable(excerpt))}`];
  });
}

/** What stands at the offence: a card is often one long line. */
function excerptAt(line: string, column: number): string {
  const start = Math.max(0, column - 1 - BEFORE);
  const end = Math.min(line.length, column - 1 + AFTER);
  const [left, right] = [start > 0 ? "..." : "", end < line.length ? "..." : ""];
  return `${left}${line.slice(start, end).trim()}${right}`;
}
