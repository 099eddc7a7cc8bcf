import type { Command } from "commander";
import type { RevocationEntry } from "../../src/revocation/entry.js";
import type { RevocationStore } from "../../src/stores/revocations/revocation-store.js";
import type { Context } from "../context.js";
import { addDatabase } from "../database.js";
import { addExamples } from "../examples.js";
import { findHome, type HomeChoice } from "../home.js";
import { withRevocations } from "../open-home.js";
import { printJson, printLine } from "../output.js";
import { printable, quoted } from "../printable.js";

export function define(program: Command, context: Context): void {
  const revocations = program
    .command("revocations")
    .summary("list revocations, or remove those that are over")
    .helpCommand(false)
    .description("The revocation list. Entries can go once the tokens concerned have expired.");
  const listing = revocations
    .command("list")
    .description("Lists every entry, oldest first.")
    .action((_options: object, self: Command) =>
      use(context, self.optsWithGlobals<HomeChoice>(), list),
    );
  const pruning = revocations
    .command("prune")
    .description("Removes the entries whose tokens have all expired.")
    .action((_options: object, self: Command) =>
      use(context, self.optsWithGlobals<HomeChoice>(), prune),
    );
  for (const verb of [listing, pruning]) addDatabase(verb);
  const reading = ["proviso revocations list", "proviso revocations list --json"];
  addExamples(listing, "Examples", reading);
  addExamples(pruning, "Examples", ["proviso revocations prune"]);
  addExamples(revocations, "Examples", [...reading, "proviso revocations prune"]);
}

type Action = (
  context: Context,
  revocations: RevocationStore,
  json: boolean,
) => void | Promise<void>;

function use(context: Context, options: HomeChoice, action: Action): Promise<void> {
  const { paths } = findHome(context, options);
  return withRevocations(paths, (revocations) =>
    action(context, revocations, options.json === true),
  );
}

function list(context: Context, revocations: RevocationStore, json: boolean): void {
  const entries = revocations.list();
  if (json) {
    printJson(context, { version: revocations.version, entries });
    return;
  }
  if (entries.length === 0) {
    printLine(context, "Nothing is revoked.");
    return;
  }
  for (const entry of entries) printLine(context, entryLine(entry));
}

function entryLine({ kind, id, before, until, at, reason }: RevocationEntry): string {
  const parts = [
    `${at}  ${kind.padEnd(10)}  ${printable(id)}`,
    ...(before === undefined ? [] : [`issued before ${before}`]),
    until === undefined ? "for good" : `until ${until}`,
    ...(reason === undefined ? [] : [quoted(reason)]),
  ];
  return parts.join("  ");
}

async function prune(context: Context, revocations: RevocationStore, json: boolean): Promise<void> {
  const removed = await revocations.prune();
  if (json) printJson(context, { removed });
  else printLine(context, removed === 1 ? "1 entry removed" : `${removed} entries removed`);
}
