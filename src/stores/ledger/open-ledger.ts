import { loadDriver } from "../../storage/sqlite-driver.js";
import { openOrCreate, SqliteFile } from "../../storage/sqlite-file.js";
import { LedgerFile } from "./ledger-file.js";
import { LedgerReader } from "./ledger-reader.js";
import { type LedgerOptions, ledgerOptions } from "./options.js";
import { LEDGER } from "./schema.js";

/**
 * Opens a ledger, or makes an empty one, mode 0600, if there is none. Several processes of one
 * machine may have it open at once.
 *
 * @throws TypeError on wrong options.
 * @throws StorageError `store_unreadable`, `store_unwritable`, `store_full`, `store_locked`,
 *   `store_exposed` if others may write to it (not looked at on Windows), `store_corrupt` also for a
 *   file that is no ledger, `store_exists` for what is left of an older ledger beside a missing one,
 *   `store_version` if a newer proviso made it, or `store_unavailable` if libsql is not installed.
 *
 * @example
 * ```ts
 * import { mkdtempSync } from "node:fs";
 * import { tmpdir } from "node:os";
 * import { join } from "node:path";
 * import { createIssuer, createKeyring, RevocationList } from "proviso/issuer";
 * import { openLedger } from "proviso/stores";
 *
 * const ledger = await openLedger(join(mkdtempSync(join(tmpdir(), "proviso-")), "ledger.db"));
 * const revocations = new RevocationList();
 * const issuer = createIssuer({ name: "documents-agent", keys: createKeyring(), revocations });
 * const { capability, identifier } = issuer.issue(() => ({
 *   grant: "documents:read",
 *   operations: ["retrieve"],
 * }));
 *
 * const { id, expires } = capability;
 * const who = { principal: "alice", invoker: "assistant" };
 * const at = new Date().toISOString();
 * ledger.commit({ kind: "issuance", at, decision: "allowed", capability: id, ...who }, [
 *   { id, identifier, hop: JSON.stringify(capability.hop), ...who, expires },
 * ]);
 * ledger.issued(id)?.principal; // => "alice"
 * ledger.close();
 * ```
 */
export async function openLedger(path: string, options: LedgerOptions = {}): Promise<LedgerFile> {
  const all = ledgerOptions(options);
  const connect = await loadDriver(path);
  return new LedgerFile(openOrCreate(connect, LEDGER, path), all);
}

/**
 * Opens a ledger that is there only to read it, also while an agent writes to it. What the agent
 * noted in the last moments may not be there yet.
 *
 * @throws StorageError as {@link openLedger}, and `store_missing`.
 */
export async function openLedgerReadOnly(path: string): Promise<LedgerReader> {
  const connect = await loadDriver(path);
  return new LedgerReader(new SqliteFile(connect, LEDGER, path, "ro"));
}
