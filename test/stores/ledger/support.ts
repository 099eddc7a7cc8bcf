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

/** The path of a database that is not there yet. */
export function newPath(): string {
  return join(temporaryFolder(), "proviso.db");
}

/** A database that is closed when the test is done. */
export async function databaseAt(
  place: string,
  options: DatabaseOptions = {},
): Promise<StoreDatabase> {
  const database = await openStores(place, "create", { reserve: 0, ...options });
  onTestFinished(() => database.close());
  return database;
}

/** A ledger that is closed when the test is done, in a database of its own unless one is given. */
export async function newLedger(
  options: LedgerOptions = {},
  place: string | StoreDatabase = newPath(),
): Promise<LedgerStore> {
  const database = typeof place === "string" ? await databaseAt(place) : place;
  const ledger = new LedgerStore(database, options);
  // The test may have broken its database.
  onTestFinished(() => ledger.close().catch(() => {}));
  return ledger;
}
