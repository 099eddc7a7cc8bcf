import { resolve } from "node:path";
import { assertPrivate, createSqliteFile } from "../../storage/new-sqlite-file.js";
import { loadDriver } from "../../storage/sqlite-driver.js";
import { RevocationFile } from "./revocation-file.js";
import { REVOCATIONS } from "./revocation-sql.js";
import {
  checkStoreOptions,
  RevocationStore,
  type RevocationStoreOptions,
} from "./revocation-store.js";

/**
 * Makes an empty revocation store, mode 0600, and opens it. The file appears whole or not at all,
 * and one that is there already is never overwritten.
 *
 * @throws TypeError on wrong options.
 * @throws StorageError `store_exists`, also for what is left of an older store beside it,
 *   `store_unwritable`, `store_full`, or `store_unavailable` if libsql is not installed.
 *
 * @example
 * ```ts
 * import { mkdtempSync } from "node:fs";
 * import { tmpdir } from "node:os";
 * import { join } from "node:path";
 * import { createIssuer, createKeyring } from "proviso/issuer";
 * import { createRevocationStore } from "proviso/stores";
 *
 * const folder = mkdtempSync(join(tmpdir(), "proviso-"));
 * const revocations = await createRevocationStore(join(folder, "revocations.db"));
 * const issuer = createIssuer({ name: "documents-agent", keys: createKeyring(), revocations });
 * const { token } = issuer.mint({ grant: "documents:read", operations: ["retrieve"] });
 *
 * const revocation = issuer.revocationOf(token);
 * if (revocation.ok) revocations.add(revocation.entry);
 * const asked = { grant: "documents:read", operation: "retrieve" };
 * issuer.authorize(token, asked).allowed; // => false
 * revocations.version; // => 1
 * revocations.close();
 * ```
 */
export async function createRevocationStore(
  path: string,
  options: RevocationStoreOptions = {},
): Promise<RevocationStore> {
  checkStoreOptions(options);
  const connect = await loadDriver(path);
  createSqliteFile(connect, REVOCATIONS, path);
  return new RevocationStore(path, new RevocationFile(connect, resolve(path), path), options);
}

/**
 * Opens a revocation store that is there; never makes one. Every process that checks tokens may have
 * it open at once, on one machine: SQLite's locks do not work over network file systems.
 *
 * @throws TypeError on wrong options.
 * @throws StorageError `store_missing`, `store_unreadable`, `store_exposed` if others may write to
 *   it (not looked at on Windows), `store_locked`, `store_corrupt` also for
 *   a file that is not a revocation store, `store_version` if a newer proviso made it, or
 *   `store_unavailable` if libsql is not installed.
 */
export async function openRevocationStore(
  path: string,
  options: RevocationStoreOptions = {},
): Promise<RevocationStore> {
  checkStoreOptions(options);
  const connect = await loadDriver(path);
  assertPrivate(path, REVOCATIONS);
  const file = new RevocationFile(connect, resolve(path), path);
  try {
    return new RevocationStore(path, file, options);
  } catch (error) {
    file.close();
    throw error;
  }
}
