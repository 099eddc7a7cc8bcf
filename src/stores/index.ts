/**
 * Storage: a database for revocations, the ledger, tasks, memories, resource numbers, and hosts with their
 * agents, grants and approvals; key files; and the errors of databases and key files.
 *
 * @module proviso/stores
 */
export type {
  IssuedCapability,
  Ledger,
  LedgerEvent,
  LedgerEventKind,
  LedgerHop,
  LedgerQuery,
} from "../agent/ledger.js";
export type { PartyStore } from "../agent/parties/store.js";
export type { ResourceNumbers } from "../agent/resources/resource-numbers.js";
export {
  StorageError,
  type StorageErrorCode,
  type StorageErrorOptions,
} from "../storage/storage-error.js";
export { createStores, openStores, type StoreDatabase } from "./database.js";
export { type FollowOptions, followKeyringFile } from "./follow-keyring.js";
export { createKeyringFile, readKeyringFile, replaceKeyringFile } from "./keyring-file.js";
export { type LedgerOptions, type LedgerStore, openLedger } from "./ledger/ledger-store.js";
export type { LedgerGap, LedgerProblem, NotesOptions } from "./ledger/notes.js";
export { MemoryError, type MemoryErrorCode, type MemoryLimits } from "./memory/memory-limits.js";
export {
  type MemoryEntry,
  type MemoryQuery,
  type MemoryStore,
  type MemoryStoreOptions,
  openMemory,
} from "./memory/memory-store.js";
export { openParties, type PartyStoreOptions } from "./parties/party-store.js";
export { openResourceNumbers, type ResourceNumberStore } from "./resource-numbers.js";
export { openRevocations, type RevocationStoreOptions } from "./revocations/open-revocations.js";
export type { RevocationStore } from "./revocations/revocation-store.js";
