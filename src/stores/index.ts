/**
 * What is kept: key files, revocations, the ledger and the numbers of resources, and the errors of
 * keeping them.
 *
 * @packageDocumentation
 */
export {
  StorageError,
  type StorageErrorCode,
  type StorageErrorOptions,
  type StoreName,
} from "../storage/storage-error.js";
export { createStores, openStores, type StoreDatabase } from "./database.js";
export { type FollowOptions, followKeyringFile } from "./follow-keyring.js";
export { createKeyringFile, readKeyringFile, replaceKeyringFile } from "./keyring-file.js";
export { type LedgerOptions, LedgerStore } from "./ledger/ledger-store.js";
export type { LedgerGap, LedgerProblem, NotesOptions } from "./ledger/notes.js";
export { ResourceNumberStore } from "./resource-numbers.js";
export { createRevocationStore, openRevocationStore } from "./revocations/open-store.js";
export {
  RevocationStore,
  type RevocationStoreOptions,
} from "./revocations/revocation-store.js";
