import { join } from "node:path";
import { onTestFinished } from "vitest";
import type { LedgerEvent } from "../../../src/agent/ledger.js";
import type { DatabaseOptions } from "../../../src/storage/database.js";
import { openStores, type StoreDatabase } from "../../../src/stores/database.js";
import { type LedgerOptions, LedgerStore } from "../../../src/stores/ledger/ledger-store.js";
import { temporaryFolder } from "../../support/temporary-folder.js";

export const AT = "2026-01-01T00:00:00.000Z";

export function invocation(more: Partial<LedgerEvent> = {}): LedgerEvent {
  return { kind: "invocation", at: AT, decision: "allowed", ...more };
}

/** Returns the path of a database that does not exist yet. */
export function newPath(): string {
  return join(temporaryFolder(), "proviso.db");
}

/** Opens a database that is closed at the end of the test. */
export async function databaseAt(
  place: string,
  options: DatabaseOptions = {},
): Promise<StoreDatabase> {
  const database = await openStores(place, "create", { reserve: 0, ...options });
  onTestFinished(() => database.close());
  return database;
}

/** Opens a ledger that is closed at the end of the test, in a new database unless a database is given. */
export async function newLedger(
  options: LedgerOptions = {},
  place: string | StoreDatabase = newPath(),
): Promise<LedgerStore> {
  const database = typeof place === "string" ? await databaseAt(place) : place;
  const ledger = new LedgerStore(database, options);
  // Closing may fail, since the test may have damaged the database.
  onTestFinished(() => ledger.close().catch(() => {}));
  return ledger;
}
