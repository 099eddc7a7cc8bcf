import { join, resolve } from "node:path";
import { StorageError } from "../../src/storage/storage-error.js";
import { openStores, type StoreDatabase } from "../../src/stores/database.js";
import { LedgerStore } from "../../src/stores/ledger/ledger-store.js";
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
  use: (ledger: LedgerStore) => Promise<T>,
): Promise<T> {
  const name = options.ledger ?? join(homePaths(context, options).folder, "ledger.db");
  const database = await open(resolve(context.cwd, name), name);
  try {
    return await use(new LedgerStore(database));
  } finally {
    await database.close();
  }
}

async function open(path: string, name: string): Promise<StoreDatabase> {
  try {
    return await openStores(path);
  } catch (error) {
    if (!(error instanceof StorageError) || error.code !== "store_missing") throw error;
    throw environmentError(
      "store_missing",
      `there is no ledger at ${name}`,
      "an agent makes one when it starts: proviso serve; --home or --ledger names another",
    );
  }
}
