import type { Command } from "commander";
import type { RevocationEntry } from "../../src/revocation/entry.js";
import { openRevocationStore } from "../../src/stores/revocations/open-store.js";
import type { RevocationStore } from "../../src/stores/revocations/revocation-store.js";
import type { Context } from "../context.js";
import { addExamples } from "../examples.js";
import type { GlobalOptions } from "../global-options.js";
import { findHome } from "../home.js";
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
      withStore(context, self.optsWithGlobals<GlobalOptions>(), list),
    );
  const pruning = revocations
    .command("prune")
    .description("Removes the entries whose tokens have all expired.")
    .action((_options: object, self: Command) =>
      withStore(context, self.optsWithGlobals<GlobalOptions>(), prune),
    );
  const reading = ["proviso revocations list", "proviso revocations list --json"];
  addExamples(listing, "Examples", reading);
  addExamples(pruning, "Examples", ["proviso revocations prune"]);
  addExamples(revocations, "Examples", [...reading, "proviso revocations prune"]);
}

async function withStore(
  context: Context,
  options: GlobalOptions,
  use: (context: Context, store: RevocationStore, json: boolean) => void,
): Promise<void> {
  const { paths } = findHome(context, options);
  const store = await openRevocationStore(paths.store);
  try {
    use(context, store, options.json === true);
  } finally {
    store.close();
  }
}

function list(context: Context, store: RevocationStore, json: boolean): void {
  const entries = store.list();
  if (json) {
    printJson(context, { version: store.version, entries });
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

function prune(context: Context, store: RevocationStore, json: boolean): void {
  const removed = store.prune(Date.now());
  if (json) printJson(context, { removed });
  else printLine(context, removed === 1 ? "1 entry removed" : `${removed} entries removed`);
}
