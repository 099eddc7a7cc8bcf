import { linkSync, lstatSync, rmSync, statSync } from "node:fs";
import { resolve } from "node:path";
import { createPrivateFile, removeAbandoned, syncDirectoryOf, temporaryName } from "./new-file.js";
import { RevocationFile } from "./revocation-file.js";
import { initialize, loadDriver } from "./revocation-sql.js";
import {
  checkStoreOptions,
  RevocationStore,
  type RevocationStoreOptions,
} from "./revocation-store.js";
import { StorageError, storeCreationError } from "./storage-error.js";

const OTHERS_WRITE = 0o022;

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
 * import { createIssuer, createKeyring, createRevocationStore } from "proviso/issuer";
 *
 * const folder = mkdtempSync(join(tmpdir(), "proviso-"));
 * const revocations = await createRevocationStore(join(folder, "revocations.db"));
 * const issuer = createIssuer({ name: "documents-agent", keys: createKeyring(), revocations });
 * const { token } = issuer.mint({ grant: "documents:read", operations: ["retrieve"] });
 *
 * const revocation = issuer.revocationOf(token);
 * if (revocation.ok) revocations.add(revocation.entry);
 * issuer.authorize(token, { operation: "retrieve" }).allowed; // => false
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
  const file = resolve(path);
  const temporary = temporaryName(file);
  removeAbandoned(file);
  try {
    // SQLite would take what is left of an older store for changes to the new one.
    for (const ending of ["", "-wal", "-journal"]) assertAbsent(file, path, ending);
    try {
      createPrivateFile(temporary, () => {});
      initialize(connect, temporary);
      linkSync(temporary, file);
    } finally {
      for (const ending of ["", "-journal"]) rmSync(temporary + ending, { force: true });
    }
  } catch (error) {
    throw storeCreationError(error, path);
  }
  syncDirectoryOf(file);
  return new RevocationStore(path, new RevocationFile(connect, file, path), options);
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
 *
 * @example
 * ```ts
 * import { mkdtempSync } from "node:fs";
 * import { tmpdir } from "node:os";
 * import { join } from "node:path";
 * import { createRevocationStore, openRevocationStore } from "proviso/issuer";
 *
 * const path = join(mkdtempSync(join(tmpdir(), "proviso-")), "revocations.db");
 * const here = await createRevocationStore(path);
 * const elsewhere = await openRevocationStore(path, { refreshEvery: 0 });
 *
 * here.add({ kind: "key", id: "key_1", at: "2026-01-01T00:00:00Z" });
 * elsewhere.list().map((entry) => entry.id); // => ["key_1"]
 * here.close();
 * elsewhere.close();
 * ```
 */
export async function openRevocationStore(
  path: string,
  options: RevocationStoreOptions = {},
): Promise<RevocationStore> {
  checkStoreOptions(options);
  const connect = await loadDriver(path);
  assertPrivate(path);
  const file = new RevocationFile(connect, resolve(path), path);
  try {
    return new RevocationStore(path, file, options);
  } catch (error) {
    file.close();
    throw error;
  }
}

// Who can write to the store can undo a revocation.
function assertPrivate(path: string): void {
  const stat = statSync(path, { throwIfNoEntry: false });
  if (process.platform === "win32" || stat === undefined || (stat.mode & OTHERS_WRITE) === 0)
    return;
  const detail = `its mode is ${(stat.mode & 0o777).toString(8).padStart(4, "0")}`;
  throw new StorageError("store_exposed", path, { detail });
}

function assertAbsent(file: string, path: string, ending: string): void {
  if (lstatSync(file + ending, { throwIfNoEntry: false }) === undefined) return;
  const detail = ending === "" ? {} : { detail: `${path}${ending} is left of an older store` };
  throw new StorageError("store_exists", path, detail);
}
