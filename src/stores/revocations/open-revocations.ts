import { assertMembers } from "../../checks/members.js";
import { type StoreDatabase, tablesOf } from "../database.js";
import { RevocationStore } from "./revocation-store.js";

/** How current a store's answers must be. */
export interface RevocationStoreOptions {
  /** Milliseconds between two looks for revocations by other processes; 50 unless given, 250 for PostgreSQL. */
  readonly refreshEvery?: number;
  /**
   * Seconds after the last successful look for which the list may be relied on; 5 unless given. Later, every
   * check is refused as `revocation_stale` until a look succeeds.
   */
  readonly staleAfter?: number;
  /** Returns milliseconds since 1970; the issuer's clock; `Date.now` unless given. */
  readonly clock?: (() => number) | undefined;
  /** Called while the list is read at the start, with the fraction read, from 0 to 1. */
  readonly onLoading?: ((part: number) => void) | undefined;
}

const REFRESH_EVERY = { sqlite: 50, postgres: 250 } as const;
/** Seconds. */
export const STALE_AFTER = 5;
const OPTIONS = ["refreshEvery", "staleAfter", "clock", "onLoading"];

/**
 * Opens the revocations in a database, and follows them until it is closed.
 *
 * @throws TypeError if an option is wrong.
 * @throws StorageError `store_corrupt` if proviso cannot have written them, or the error of reading.
 *
 * @example
 * ```ts
 * import { mkdtempSync } from "node:fs";
 * import { tmpdir } from "node:os";
 * import { join } from "node:path";
 * import { createIssuer, createKeyring } from "proviso/issuer";
 * import { createStores, openRevocations } from "proviso/stores";
 *
 * const folder = mkdtempSync(join(tmpdir(), "proviso-"));
 * const database = await createStores(join(folder, "proviso.db"));
 * const revocations = await openRevocations(database);
 * const issuer = createIssuer({ name: "documents-agent", keys: createKeyring(), revocations });
 * const { token } = issuer.mint({ grant: "documents:read", operations: ["retrieve"] });
 *
 * const revocation = issuer.revocationOf(token);
 * if (revocation.ok) await revocations.add(revocation.entry);
 * const asked = { grant: "documents:read", operation: "retrieve" };
 * issuer.authorize(token, asked).allowed; // => false
 * revocations.version; // => 1
 * await database.close();
 * ```
 */
export async function openRevocations(
  database: StoreDatabase,
  options: RevocationStoreOptions = {},
): Promise<RevocationStore> {
  const tables = tablesOf(database);
  assertMembers(options, OPTIONS, "options");
  const { refreshEvery = REFRESH_EVERY[database.dialect], staleAfter = STALE_AFTER } = options;
  const { onLoading = () => {} } = options;
  if (!Number.isFinite(refreshEvery) || refreshEvery <= 0) {
    throw new TypeError("refreshEvery must be milliseconds, and more than 0");
  }
  if (!Number.isFinite(staleAfter) || staleAfter * 1000 <= refreshEvery) {
    throw new TypeError("staleAfter must be seconds, and longer than refreshEvery");
  }
  if (typeof onLoading !== "function") throw new TypeError("onLoading must be a function");
  const store = new RevocationStore(tables, staleAfter, options.clock ?? Date.now);
  await store.follow({ refreshEvery, onLoading });
  return store;
}
