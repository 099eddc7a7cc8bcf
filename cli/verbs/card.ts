import { existsSync } from "node:fs";
import type { Command } from "commander";
import type { CardGrant, CardReading } from "../../src/discovery/card.js";
import { rangeText } from "../../src/discovery/versions.js";
import { EXTENSION_URI } from "../../src/protocols/a2a/extension.js";
import { defineDiff } from "../card/diff.js";
import { defineLint } from "../card/lint.js";
import { defineRegistry } from "../card/registry.js";
import { CARD_HELP, cardFileText, isAddress, jsonIn } from "../card/text.js";
import { absolutePath, type Context } from "../context.js";
import { usageError } from "../exit.js";
import { spanInWords } from "../moment.js";
import {
  type Paint,
  printAnswer,
  printable,
  type Row,
  renderRows,
  stdoutPaint,
} from "../output.js";
import { argumentsOf, type SkillArgument } from "../remote/arguments.js";
import type { CapabilityOffer, RemoteCard, RemoteSkill } from "../remote/card.js";
import { cardFrom, fetchCard } from "../remote/client.js";
import { addCardOptions, type CardOptions } from "../remote/options.js";
import { act, addExamples } from "../verb.js";

export function define(program: Command, context: Context): void {
  const command = program
    .command("card")
    .summary("show what an agent offers; check or compare cards and registries")
    .helpCommand(false)
    .description(
      "Shows an agent's card: where it is and in which versions, what it declares, to whom it " +
        "delegates, whether it needs capabilities, its grants, the collections that it lists, and " +
        "its skills. Needs no access token. Nothing in it is verified: it is what the agent says.",
    )
    .argument("<card>", CARD_HELP);
  addCardOptions(command).action(act(context, run));
  defineLint(command, context);
  defineDiff(command, context);
  defineRegistry(command, context);
  addExamples(command, [
    "proviso card http://127.0.0.1:8080",
    "proviso card http://127.0.0.1:8080/.well-known/agent-card.json --json",
    "proviso card card.json",
  ]);
}

async function run(context: Context, options: CardOptions, argument: string): Promise<void> {
  const card = await shownCard(context, options, argument);
  printAnswer(context, options, card.document, render(card, stdoutPaint(context)));
}

/** The names of this verb's subcommands. */
const BELOW = ["lint", "diff", "registry"];

async function shownCard(
  context: Context,
  options: CardOptions,
  argument: string,
): Promise<RemoteCard> {
  if (isAddress(argument)) return fetchCard(context, argument, options);
  if (/^[a-z]+$/i.test(argument) && !existsSync(absolutePath(context, argument))) {
    const hint = `card has the verbs ${BELOW.join(", ")}; an address begins with https:// or http://`;
    throw usageError(`there is no file ${argument}, and card has no such verb`, hint);
  }
  const card = cardFileText(context, argument);
  jsonIn(card);
  return cardFrom(card.text, card.name);
}

function render(card: RemoteCard, paint: Paint): string[] {
  const { name, version, description, interfaces, offer, skills } = card;
  const lines = [`${paint.bold(printable(name))} ${printable(version)}`.trimEnd()];
  if (description !== "") lines.push(printable(description));
  const rows = interfaces.map(
    (one): Row => [
      one.binding === "" ? "no binding" : printable(one.binding),
      `${printable(one.url)}  (A2A ${one.speaks.map(rangeText).join(", ") || "of no known version"})`,
    ],
  );
  lines.push(...renderRows(rows, paint, "  "), "");
  lines.push(...declaredLines(card.reading, paint), "");
  lines.push(...offerLines(offer, paint));
  if (skills.length > 0) lines.push("", paint.bold("skills"));
  for (const skill of skills) lines.push(...skillLines(skill, paint));
  return lines;
}

/** Formats the parts of a card that discovery checks. */
function declaredLines(card: CardReading, paint: Paint): string[] {
  const named = (wanted: boolean): string =>
    [...card.capabilities]
      .flatMap(([name, has]) => (has === wanted ? [printable(name)] : []))
      .join(", ");
  const range = rangeText(card.range);
  const rows: Row[] = [["declares", named(true) || "nothing"]];
  if (named(false) !== "") rows.push(["denies", named(false)]);
  if (range !== "any") rows.push(["versions", range]);
  rows.push(["delegates", delegatesWords(card)]);
  const extensions = card.extensions.map(printable);
  if (extensions.length > 0) rows.push(["extensions", extensions.join(", ")]);
  if (card.signatures > 0) rows.push(["signatures", `${card.signatures}, not verified here`]);
  const lines = [paint.bold("discovery"), ...renderRows(rows, paint, "  ")];
  const [fault, ...others] = card.faults;
  if (fault === undefined) return lines;
  const more = others.length === 0 ? "" : `, and ${others.length} more`;
  return [
    ...lines,
    paint.yellow(`  discover refuses this card: ${printable(fault.message)}${more}`),
    "  proviso card lint shows where",
  ];
}

function delegatesWords({ delegates }: CardReading): string {
  if (delegates === undefined) return "the card does not say";
  if (delegates.length === 0) return "none";
  return delegates
    .map(({ url, capabilities }) => {
      const relied =
        capabilities.length === 0 ? "" : ` (${capabilities.map(printable).join(", ")})`;
      return `${printable(url)}${relied}`;
    })
    .join(", ");
}

const AUTHORITY: Readonly<Record<CapabilityOffer["ambient"], string>> = {
  refused: "Capabilities are required: ambient authority is not accepted.",
  accepted: "Ambient authority is still accepted: calls without a capability use the caller's own.",
  declared: "Ambient authority is accepted if it is declared: proviso invoke --ambient does that.",
  unknown: "The card does not say whether ambient authority is accepted.",
};

function offerLines(offer: CapabilityOffer | undefined, paint: Paint): string[] {
  if (offer === undefined) {
    return [
      paint.yellow("No capabilities: this agent's card does not name the extension"),
      `${EXTENSION_URI}. Every call rests on the caller's ambient authority.`,
    ];
  }
  const { ambient, mode, issuer, maxLifetime, grants, collections, spoken } = offer;
  const colour = ambient === "refused" ? paint.green : paint.yellow;
  const lines = [colour(AUTHORITY[ambient])];
  if (!spoken) {
    lines.push(
      paint.yellow("It lists grants, but does not name the extension to ask for them with."),
    );
  }
  const rows: Row[] = [];
  if (mode !== undefined) rows.push(["mode", printable(mode)]);
  if (issuer !== undefined) rows.push(["issuer", printable(issuer)]);
  if (maxLifetime !== undefined) rows.push(["longest life", spanInWords(maxLifetime * 1000)]);
  lines.push(...renderRows(rows, paint, "  "), "", paint.bold("grants"));
  for (const grant of grants) lines.push(...grantLines(grant, paint));
  if (grants.length === 0) lines.push("  none");
  if (collections.length > 0) lines.push("", paint.bold("collections"));
  for (const { name, fields } of collections) {
    lines.push(titleLine(name, ""));
    if (fields.length > 0) {
      lines.push(...renderRows([["fields", fields.map(printable).join(", ")]], paint, "    "));
    }
  }
  return lines;
}

function grantLines(grant: CardGrant, paint: Paint): string[] {
  const { id, description, operations, attenuable, requires, legacy } = grant;
  const rows: Row[] = [
    ["operations", operations.includes("*") ? "all" : operations.map(printable).join(", ")],
    ["attenuable", attenuable ? "yes" : "no: it cannot be narrowed or passed on"],
  ];
  if (requires.length > 0) rows.push(["requires", requires.map(printable).join(", ")]);
  if (legacy !== undefined) rows.push(["legacy", paint.yellow(printable(legacy))]);
  return [titleLine(id, description), ...renderRows(rows, paint, "    ")];
}

function skillLines(skill: RemoteSkill, paint: Paint): string[] {
  const { id, description, operation } = skill;
  const rows: Row[] = [];
  if (operation !== undefined)
    rows.push(["operation", `${printable(operation)}${reachWords(skill)}`]);
  const own = argumentsOf(skill);
  if (own !== undefined && own.length === 0) rows.push(["arguments", "none"]);
  for (const argument of own ?? []) rows.push(["argument", argumentWords(argument)]);
  return [titleLine(id, description), ...renderRows(rows, paint, "    ")];
}

function titleLine(id: string, description: string): string {
  return `  ${printable(id)}${description === "" ? "" : `  ${printable(description)}`}`;
}

function reachWords({ reach, target }: RemoteSkill): string {
  if (reach === "scoped") return ", on all that is left in the capability";
  if (reach !== "named") return "";
  return target === "collection" ? ", on a collection" : ", on a resource";
}

function argumentWords({ name, type, required, description }: SkillArgument): string {
  const need = required ? "" : ", optional";
  const told = description === undefined ? "" : `: ${printable(description)}`;
  return `${printable(name)} (${printable(type)}${need})${told}`;
}
