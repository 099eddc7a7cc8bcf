/**
 * What is kept: a database for revocations, the ledger, tasks and the numbers of resources; key files;
 * and the errors of keeping them.
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
export { type LedgerOptions, LedgerStore } from "./ledger/ledger-store.js";
export type { LedgerGap, LedgerProblem, NotesOptions } from "./ledger/notes.js";
export { ResourceNumberStore } from "./resource-numbers.js";
export { openRevocations, type RevocationStoreOptions } from "./revocations/open-revocations.js";
export { RevocationStore } from "./revocations/revocation-store.js";
