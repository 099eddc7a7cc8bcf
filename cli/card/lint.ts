import type { Command } from "commander";
import type { CardFinding, FindingSeverity } from "../../src/discovery/finding.js";
import type { Context } from "../context.js";
import { asUsage, EXIT } from "../exit.js";
import { type Paint, printAnswer, printable, stdoutPaint } from "../output.js";
import { addCardOptions, type CardOptions } from "../remote/options.js";
import { act, addExamples, toText } from "../verb.js";
import { CARD_HELP, type CardText, readCardText } from "./text.js";

/** Numbers of characters shown before and after the place of a finding. */
const [BEFORE, AFTER] = [24, 48];

interface Options extends CardOptions {
  readonly protocol?: string;
}

export function defineLint(card: Command, context: Context): void {
  const command = card
    .command("lint")
    .description(
      "Checks a card against the schema of its version of A2A and against the contract of " +
        "discovery: what it must say, and where it contradicts itself. An error is wrong for every " +
        "reader, a warning loses or endangers something for some, a remark is for information. " +
        "Exit code 1 if the card has an error.",
    )
    .argument("<card>", CARD_HELP)
    .option(
      "--protocol <version>",
      "the version of A2A to check it as: 0.1, 0.2, 0.3 or 1.0; the card's own unless given",
      toText,
    );
  addCardOptions(command).action(act(context, run));
  addExamples(command, [
    "proviso card lint http://127.0.0.1:8080",
    "proviso card http://127.0.0.1:8080 --json > card.json",
    "proviso card lint card.json --protocol 1.0 --json",
    "curl --silent https://agent.example/.well-known/agent-card.json | proviso card lint -",
  ]);
}

async function run(context: Context, options: Options, argument: string): Promise<void> {
  const { lintCard } = await import("../../src/discovery/lint.js");
  const { asCardVersion } = await import("../../src/discovery/card-version.js");
  const { protocol } = options;
  if (protocol !== undefined) asUsage(() => asCardVersion(protocol, "--protocol"));
  const card = await readCardText(context, argument, options);
  const findings = await lintCard(
    card.text,
    protocol === undefined ? {} : { protocolVersion: protocol },
  );
  const count = (severity: FindingSeverity): number =>
    findings.filter((one) => one.severity === severity).length;
  const [errors, warnings, remarks] = [count("error"), count("warning"), count("remark")];
  const counts = { errors, warnings, remarks };
  if (counts.errors > 0) context.exitCode = EXIT.refused;
  const paint = stdoutPaint(context);
  printAnswer(context, options, { card: card.name, ...counts, findings }, [
    ...render(card, findings, paint),
    summary(card.name, counts, paint),
  ]);
}

/** Counts the findings of each severity, or reports that there are none. */
function summary(
  name: string,
  counts: Readonly<Record<"errors" | "warnings" | "remarks", number>>,
  paint: Paint,
): string {
  const words = Object.entries(counts)
    .filter(([, count]) => count > 0)
    .map(([kind, count]) => (count === 1 ? `1 ${kind.slice(0, -1)}` : `${count} ${kind}`))
    .join(", ");
  if (counts.errors > 0) return `${printable(name)}: ${paint.red(words)}`;
  if (counts.warnings > 0) return `${printable(name)}: ${paint.yellow(words)}`;
  const more = words === "" ? "" : `; ${words}`;
  return `${printable(name)}: ${paint.green("nothing is wrong")}${more}`;
}

function render(card: CardText, findings: readonly CardFinding[], paint: Paint): string[] {
  const lines = card.text.split("\n");
  let before = "";
  return findings.flatMap(({ severity, code, line, column, message }) => {
    const colour = { error: paint.red, warning: paint.yellow, remark: paint.dim }[severity];
    const place = `${printable(card.name)}:${line}:${column}`;
    const title = `${place}: ${colour(severity)} ${code}: ${printable(message)}`;
    const excerpt = excerptAt(lines[line - 1] ?? "", column);
    // If several findings have the same place, show the card's text there only once.
    const isShown = excerpt !== "" && place !== before;
    before = place;
    return isShown ? [title, `  ${paint.dim(printable(excerpt))}`] : [title];
  });
}

/** Returns the part of a line around a column. A card is often one long line. */
function excerptAt(line: string, column: number): string {
  const start = Math.max(0, column - 1 - BEFORE);
  const end = Math.min(line.length, column - 1 + AFTER);
  const [left, right] = [start > 0 ? "..." : "", end < line.length ? "..." : ""];
  return `${left}${line.slice(start, end).trim()}${right}`;
}
