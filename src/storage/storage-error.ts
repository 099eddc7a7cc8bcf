import { basename, dirname, resolve } from "node:path";
import { errorCode, reasonFor } from "../system/error-code.js";

const MESSAGES = {
  key_file_missing: "there is no key file here",
  key_file_unreadable: "the key file cannot be read",
  key_file_unwritable: "the key file cannot be written; nothing was changed",
  key_file_exposed: "other users may open the key file",
  key_file_malformed: "this is not a key file",
  key_file_exists: "a file is here already, and it is not overwritten",
  key_file_changed: "another process changed the key file in the meantime; nothing was changed",
  store_missing: "there is no database here",
  store_exists: "a file is here already, and it is not overwritten",
  store_unreadable: "the database cannot be read",
  store_unreachable: "the database cannot be reached",
  store_unwritable: "the database cannot be written",
  store_read_only: "the database takes no writes now, as a standby does after a failover",
  store_too_many_connections: "the database takes no more connections",
  store_encoding: "the database cannot keep every string",
  store_folder_unwritable: "files beside the database cannot be made in this folder",
  store_exposed: "other users may open the database",
  store_locked: "another process is writing to the database",
  store_timeout: "the write took too long; nothing was changed",
  store_corrupt: "this is not a database of proviso, or it is damaged",
  store_full: "the database could not be written; nothing was changed",
  store_version: "a newer version of proviso made this database",
  store_outdated: "an unreleased version of proviso made this database",
  store_replaced: "another file has taken the place of the database",
  store_unavailable: "the database needs a package that cannot be loaded",
} as const;

/** Codes of key file and database errors; stable and never reused. */
export type StorageErrorCode = keyof typeof MESSAGES;

/** Details of a {@link StorageError} besides its code. */
export interface StorageErrorOptions {
  /** The exact problem, without secrets. */
  readonly detail?: string;
  /** The system's or the database's own error. */
  readonly cause?: unknown;
}

/**
 * A key file or a database that cannot be used. `code` is for programs, `message` for people; neither contains
 * a secret.
 */
export class StorageError extends Error {
  override readonly name = "StorageError";
  /** The stable code of the problem. */
  readonly code: StorageErrorCode;
  /** The file as the caller named it, or the address without its password. */
  readonly path: string;

  constructor(code: StorageErrorCode, path: string, options: StorageErrorOptions = {}) {
    const { detail, cause } = options;
    const text = `${path}: ${MESSAGES[code]}${detail === undefined ? "" : ` (${detail})`}`;
    super(text, cause === undefined ? undefined : { cause });
    this.code = code;
    this.path = path;
  }
}

/** Converts a system error about a key file to a StorageError. */
export function keyFileError(error: unknown, path: string, use: "read" | "write"): StorageError {
  if (use === "write") return withReason("key_file_unwritable", path, error);
  return isAbsence(error)
    ? new StorageError("key_file_missing", path, { cause: error })
    : withReason("key_file_unreadable", path, error);
}

/** Converts a system or SQLite error about an existing database to a StorageError. */
export function storeError(error: unknown, path: string): StorageError {
  if (isAbsence(error)) return new StorageError("store_missing", path, { cause: error });
  return knownFailure(error, path) ?? withReason("store_unreadable", path, error);
}

/** Converts a system or SQLite error about a database that is being created to a StorageError. */
export function storeCreationError(error: unknown, path: string): StorageError {
  const reason = errorCode(error);
  if (reason === "EEXIST") return new StorageError("store_exists", path, { cause: error });
  if (reason === "EACCES" || reason === "EPERM") return folderUnwritable(path, error);
  return knownFailure(error, path) ?? withReason("store_unwritable", path, error);
}

function isAbsence(error: unknown): boolean {
  const code = errorCode(error);
  return code === "ENOENT" || code === "ENOTDIR";
}

/**
 * Wraps an error in a StorageError, with a description of the system's error code. Returns a StorageError
 * unchanged.
 */
function withReason(code: StorageErrorCode, path: string, cause: unknown): StorageError {
  if (cause instanceof StorageError) return cause;
  const reason = reasonOf(cause);
  const detail = reason === "" ? undefined : reasonFor(reason, "write");
  return new StorageError(code, path, { detail, cause });
}

function folderUnwritable(path: string, cause: unknown): StorageError {
  const detail = `SQLite needs some for ${basename(path)}`;
  return new StorageError("store_folder_unwritable", dirname(resolve(path)), { detail, cause });
}

/** Converts an error with a known code to a StorageError; `undefined` for other codes. */
export function knownFailure(error: unknown, path: string): StorageError | undefined {
  const reason = reasonOf(error);
  if (reason === "SQLITE_READONLY_DIRECTORY") return folderUnwritable(path, error);
  const fits = (start: string): boolean => reason.startsWith(start);
  const code = STORE_CODES.find(([, starts]) => starts.some(fits))?.[0];
  return code && withReason(code, path, error);
}

/** Names of SQLite result codes that libsql reports as numbers, because libsql does not know the extended code. */
const SQLITE_CODES: Readonly<Record<number, string>> = {
  5: "SQLITE_BUSY",
  6: "SQLITE_LOCKED",
  8: "SQLITE_READONLY",
  10: "SQLITE_IOERR",
  11: "SQLITE_CORRUPT",
  13: "SQLITE_FULL",
  14: "SQLITE_CANTOPEN",
  1544: "SQLITE_READONLY_DIRECTORY",
};

function reasonOf(error: unknown): string {
  const reason = errorCode(error);
  const [, number] = /^UNKNOWN_SQLITE_ERROR_(\d+)$/.exec(reason) ?? [];
  if (number === undefined) return reason;
  // The low byte of an extended code is its primary code.
  return SQLITE_CODES[Number(number)] ?? SQLITE_CODES[Number(number) & 0xff] ?? reason;
}

/** Beginnings of error codes of SQLite, PostgreSQL and the system; the first match is used. */
const STORE_CODES: readonly (readonly [code: StorageErrorCode, starts: readonly string[]])[] = [
  ["store_locked", ["SQLITE_BUSY", "SQLITE_LOCKED", "55P03", "40"]],
  ["store_full", ["SQLITE_FULL", "53100", "ENOSPC", "EDQUOT", "EFBIG"]],
  // The codes for an exceeded disk quota or file size limit.
  ["store_full", ["SQLITE_IOERR_WRITE", "SQLITE_IOERR_FSYNC"]],
  ["store_read_only", ["25006"]],
  ["store_too_many_connections", ["53300"]],
  ["store_unwritable", ["SQLITE_READONLY", "42501", "EROFS"]],
  ["store_corrupt", ["SQLITE_NOTADB", "SQLITE_CORRUPT"]],
  // A missing table or column.
  ["store_corrupt", ["SQLITE_ERROR", "42"]],
  ["store_unreadable", ["SQLITE_CANTOPEN", "28"]],
  ["store_missing", ["3D000"]],
  ["store_unreachable", ["08", "57P", "ECONN", "ENOTFOUND", "EAI_AGAIN", "EPIPE"]],
  ["store_unreachable", ["ETIMEDOUT", "EHOSTUNREACH", "ENETUNREACH"]],
];
