import type { Command } from "commander";
import type { RevocationEntry } from "../../src/revocation/entry.js";
import type { Context } from "../context.js";
import { addDatabase, type HomeChoice, withRevocations } from "../home.js";
import { printAnswer, printable, quoted } from "../output.js";
import { act, addExamples, listsAlone } from "../verb.js";

export function define(program: Command, context: Context): void {
  const revocations = program
    .command("revocations")
    .summary("list revocations, or remove expired ones")
    .helpCommand(false)
    .description(
      "The revocation list. Entries can go once the tokens concerned have expired. " +
        "Without a command, lists them.",
    );
  listsAlone(revocations, context, list);
  const listing = revocations
    .command("list")
    .description("Lists every entry, oldest first.")
    .action(act(context, list));
  const pruning = revocations
    .command("prune")
    .description("Removes the entries whose tokens have all expired.")
    .action(act(context, prune));
  for (const verb of [listing, pruning]) addDatabase(verb);
  const reading = ["proviso revocations list", "proviso revocations list --json"];
  addExamples(listing, reading);
  addExamples(pruning, ["proviso revocations prune"]);
  addExamples(revocations, [...reading, "proviso revocations prune"]);
}

function list(context: Context, options: HomeChoice): Promise<void> {
  return withRevocations(context, options, async (revocations) => {
    const entries = await revocations.list();
    const lines = entries.length === 0 ? ["Nothing is revoked."] : entries.map(entryLine);
    printAnswer(context, options, { version: revocations.version, entries }, lines);
  });
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

async function prune(context: Context, options: HomeChoice): Promise<void> {
  const removed = await withRevocations(context, options, (revocations) => revocations.prune());
  const line = removed === 1 ? "1 entry removed" : `${removed} entries removed`;
  printAnswer(context, options, { removed }, [line]);
}
