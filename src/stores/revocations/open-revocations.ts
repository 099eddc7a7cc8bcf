import { assertMembers } from "../../checks/members.js";
import { type StoreDatabase, tablesOf } from "../database.js";
import { RevocationStore } from "./revocation-store.js";

/** Options for following the revocations in a database. */
export interface RevocationStoreOptions {
  /**
   * Milliseconds between two reads of the revocations that other processes have written; 50 unless given, 250
   * for PostgreSQL.
   */
  readonly refreshEvery?: number;
  /**
   * Maximum time since the last successful read, in seconds; 5 unless given. After this time, every check is
   * refused as `revocation_stale` until a read succeeds.
   */
  readonly staleAfter?: number;
  /** The issuer's clock: returns milliseconds since 1970; `Date.now` unless given. */
  readonly clock?: (() => number) | undefined;
  /** Called during the first read of the list with the fraction that has been read, from 0 to 1. */
  readonly onLoading?: ((part: number) => void) | undefined;
}

const REFRESH_EVERY = { sqlite: 50, postgres: 250 } as const;
/** Default of `staleAfter`, in seconds. */
export const STALE_AFTER = 5;
const OPTIONS = ["refreshEvery", "staleAfter", "clock", "onLoading"];

/**
 * Opens the revocations in a database, and follows their changes until the database is closed.
 *
 * @throws TypeError if an option is wrong.
 * @throws StorageError `store_corrupt` if the rows are damaged, or another code if they cannot be read.
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
