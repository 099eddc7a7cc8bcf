import { join, resolve } from "node:path";
import { StorageError } from "../../src/storage/storage-error.js";
import type { LedgerReader } from "../../src/stores/ledger/ledger-reader.js";
import { openLedgerReadOnly } from "../../src/stores/ledger/open-ledger.js";
import type { Context } from "../context.js";
import { environmentError } from "../exit.js";
import type { GlobalOptions } from "../global-options.js";
import { homePaths } from "../home.js";

/** Which ledger is read. */
export interface LedgerChoice extends GlobalOptions {
  readonly ledger?: string;
}

/** Opens a ledger to read it, hands it to `use`, and lets go of it whatever happens. */
export async function withLedger<T>(
  context: Context,
  options: LedgerChoice,
  use: (ledger: LedgerReader) => T,
): Promise<T> {
  const name = options.ledger ?? join(homePaths(context, options).folder, "ledger.db");
  const reader = await open(resolve(context.cwd, name), name);
  try {
    return use(reader);
  } finally {
    reader.close();
  }
}

async function open(path: string, name: string): Promise<LedgerReader> {
  try {
    return await openLedgerReadOnly(path);
  } catch (error) {
    if (!(error instanceof StorageError) || error.code !== "store_missing") throw error;
    throw environmentError(
      "store_missing",
      `there is no ledger at ${name}`,
      "an agent makes one when it starts: proviso serve; --home or --ledger names another",
    );
  }
}
