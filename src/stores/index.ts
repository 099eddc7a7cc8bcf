/**
 * What is kept: a database for revocations, ledger and tasks, key files, and the errors of keeping
 * them.
 *
 * @packageDocumentation
 */
export {
  StorageError,
  type StorageErrorCode,
  type StorageErrorOptions,
} from "../storage/storage-error.js";
export { createStores, openStores, type StoreDatabase } from "./database.js";
export { type FollowOptions, followKeyringFile } from "./follow-keyring.js";
export { createKeyringFile, readKeyringFile, replaceKeyringFile } from "./keyring-file.js";
export { LedgerFile } from "./ledger/ledger-file.js";
export { LedgerReader } from "./ledger/ledger-reader.js";
export { openLedger, openLedgerReadOnly } from "./ledger/open-ledger.js";
export type { LedgerOptions, LedgerProblem } from "./ledger/options.js";
export type { LedgerGap } from "./ledger/tables.js";
export {
  openRevocations,
  RevocationStore,
  type RevocationStoreOptions,
} from "./revocations/revocation-store.js";
