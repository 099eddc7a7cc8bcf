import { join } from "node:path";
import { StorageError } from "../../src/storage/storage-error.js";
import type { LedgerReader } from "../../src/stores/ledger/ledger-reader.js";
import { openLedgerReadOnly } from "../../src/stores/ledger/open-ledger.js";
import { environmentError } from "../exit.js";
import type { GlobalOptions } from "../global-options.js";
import { homePaths } from "../home.js";

/** Which ledger is read. */
export interface LedgerChoice extends GlobalOptions {
  readonly ledger?: string;
}

/** Opens a ledger to read it, hands it to `use`, and lets go of it whatever happens. */
export async function withLedger<T>(
  options: LedgerChoice,
  use: (ledger: LedgerReader) => T,
): Promise<T> {
  const path = options.ledger ?? join(homePaths(options).folder, "ledger.db");
  const reader = await open(path);
  try {
    return use(reader);
  } finally {
    reader.close();
  }
}

async function open(path: string): Promise<LedgerReader> {
  try {
    return await openLedgerReadOnly(path);
  } catch (error) {
    if (!(error instanceof StorageError) || error.code !== "store_missing") throw error;
    throw environmentError(
      "store_missing",
      `there is no ledger at ${path}`,
      "an agent makes one when it starts: proviso serve; --home or --ledger names another",
    );
  }
}
