import { openStores } from "../../src/stores/database.js";
import { LedgerStore } from "../../src/stores/ledger/ledger-store.js";
import type { Context } from "../context.js";
import { type HomeChoice, homePaths } from "../home.js";

/** Opens the ledger of a home to read it, hands it to `use`, and closes the database in any case. */
export async function withLedger<T>(
  context: Context,
  options: HomeChoice,
  use: (ledger: LedgerStore) => Promise<T>,
): Promise<T> {
  const database = await openStores(homePaths(context, options).database);
  try {
    return await use(new LedgerStore(database));
  } finally {
    await database.close();
  }
}
