import { errorCode } from "../bytes/error-code.js";

/** Why a key file or a store could not be used. Codes are stable and never reused. */
export type StorageErrorCode =
  | "key_file_missing"
  | "key_file_unreadable"
  | "key_file_unwritable"
  | "key_file_exposed"
  | "key_file_malformed"
  | "key_file_exists"
  | "key_file_changed"
  | "store_missing"
  | "store_exists"
  | "store_unreadable"
  | "store_unreachable"
  | "store_unwritable"
  | "store_exposed"
  | "store_locked"
  | "store_corrupt"
  | "store_full"
  | "store_version"
  | "store_outdated"
  | "store_replaced"
  | "store_unavailable";

/** What a store holds, by the name it has in messages. */
export type StoreName = "revocation store" | "ledger" | "task store";

interface Wording {
  /** Said after the path, given the store. */
  readonly message: (store: StoreName) => string;
  /** What to do next, given the path as a shell would take it. */
  readonly hint: (path: string, store: StoreName) => string;
}

/** What else to do about a store that was open to others. */
const IF_EXPOSED: Readonly<Record<StoreName, string>> = {
  "revocation store": ", and check that no revocation is gone",
  ledger: ", and do not rely on what it says until now",
  "task store": "; others may have read the tasks in it",
};

const WORDING: Readonly<Record<StorageErrorCode, Wording>> = {
  key_file_missing: {
    message: () => "there is no key file here",
    hint: () => "check the path, or create a key file",
  },
  key_file_unreadable: {
    message: () => "the key file can not be read",
    hint: (path) => `make ${path} a regular file that this user may read`,
  },
  key_file_unwritable: {
    message: () => "the key file can not be written; nothing was changed",
    hint: (path) => `let this user write to the directory of ${path}, on a disk with space left`,
  },
  key_file_exposed: {
    message: () => "other users may open the key file",
    hint: (path) => `chmod 600 ${path}, and rotate the keys if anyone may have read them`,
  },
  key_file_malformed: {
    message: () => "this is not a key file",
    hint: () => "restore the key file from a backup, or name the right one",
  },
  key_file_exists: {
    message: () => "a file is here already, and it is not overwritten",
    hint: () => "name another path, or use the keys that are there",
  },
  key_file_changed: {
    message: () => "the key file was changed by someone else in the meantime; nothing was changed",
    hint: () => "read the key file again and repeat",
  },
  store_missing: {
    message: (store) => `there is no ${store} here`,
    hint: (_, store) =>
      store === "revocation store"
        ? "check the path, or create a store; restore a lost one from a backup"
        : "check the path, or restore a lost one from a backup",
  },
  store_exists: {
    message: () => "a file is here already, and it is not overwritten",
    hint: () => "open the store that is there, or name another path",
  },
  store_unreadable: {
    message: (store) => `the ${store} can not be read`,
    hint: (path) => `make ${path} a regular file that this user may read and write`,
  },
  store_unreachable: {
    message: () => "the database cannot be reached",
    hint: () => "see that its server runs and that the address is right",
  },
  store_outdated: {
    message: () => "this file is of an unreleased format of proviso, which kept each store apart",
    hint: () => "move the folder away and run proviso init",
  },
  store_unwritable: {
    message: (store) => `the ${store} can not be written`,
    hint: (path) => `let this user write to ${path} and to its directory`,
  },
  store_exposed: {
    message: (store) =>
      `other users may ${store === "task store" ? "open" : "change"} the ${store}`,
    hint: (path, store) => `chmod 600 ${path}${IF_EXPOSED[store]}`,
  },
  store_locked: {
    message: (store) => `another process is writing to the ${store}`,
    hint: () => "try again; if it lasts, find the process that holds the file",
  },
  store_corrupt: {
    message: (store) => `this is not a ${store}, or it is damaged`,
    hint: () => "restore the store from a backup, or name the right file",
  },
  store_full: {
    message: (store) => `the ${store} could not be written; nothing was changed`,
    hint: () => "free space on its disk, then repeat",
  },
  store_version: {
    message: (store) => `the ${store} was made by a newer version of proviso`,
    hint: () => "npm install proviso@latest",
  },
  store_replaced: {
    message: (store) => `another file has taken the place of the ${store}`,
    hint: () => "put the first one back, or open the store again to rely on the new one",
  },
  store_unavailable: {
    message: (store) => `the ${store} needs the package libsql, which can not be loaded`,
    hint: () => "npm install libsql",
  },
};

/** What a {@link StorageError} may say besides its code. */
export interface StorageErrorOptions {
  /** What exactly is wrong; never a secret. */
  readonly detail?: string;
  /** What the store holds; revocations unless given. */
  readonly store?: StoreName;
  /** The error of the system or the database. */
  readonly cause?: unknown;
}

/**
 * A key file or store that can not be used as it is. `code` is for programs, `message`
 * and `hint` are for people; neither shows a secret.
 */
export class StorageError extends Error {
  override readonly name = "StorageError";
  /** What is wrong. */
  readonly code: StorageErrorCode;
  /** The file concerned, as it was named. */
  readonly path: string;
  /** What to do next. */
  readonly hint: string;

  constructor(code: StorageErrorCode, path: string, options: StorageErrorOptions = {}) {
    const { message, hint } = WORDING[code];
    const { detail, cause, store = "revocation store" } = options;
    const text = `${path}: ${message(store)}${detail === undefined ? "" : ` (${detail})`}`;
    super(text, cause === undefined ? undefined : { cause });
    this.code = code;
    this.path = path;
    this.hint = hint(shellWord(path), store);
  }
}

/** The text as one word of a POSIX shell. */
function shellWord(text: string): string {
  return /^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`;
}

/** What a failure of the system means for someone who reads the key file, or else writes it. */
export function keyFileError(error: unknown, path: string, use: "read" | "write"): StorageError {
  if (error instanceof StorageError) return error;
  if (use === "write") return withReason("key_file_unwritable", path, error);
  return isAbsence(error)
    ? new StorageError("key_file_missing", path, { cause: error })
    : withReason("key_file_unreadable", path, error);
}

/** What a failure of the system or the database means for a store that is there. */
export function storeError(
  error: unknown,
  path: string,
  store: StoreName = "revocation store",
): StorageError {
  if (error instanceof StorageError) return error;
  if (isAbsence(error)) return new StorageError("store_missing", path, { store, cause: error });
  return withReason(storeCode(error) ?? "store_unreadable", path, error, store);
}

/** What a failure of the system or the database means for a store that is being made. */
export function storeCreationError(
  error: unknown,
  path: string,
  store: StoreName = "revocation store",
): StorageError {
  if (error instanceof StorageError) return error;
  if (errorCode(error) === "EEXIST")
    return new StorageError("store_exists", path, { store, cause: error });
  return withReason(storeCode(error) ?? "store_unwritable", path, error, store);
}

function isAbsence(error: unknown): boolean {
  const code = errorCode(error);
  return code === "ENOENT" || code === "ENOTDIR";
}

function withReason(
  code: StorageErrorCode,
  path: string,
  cause: unknown,
  store?: StoreName,
): StorageError {
  const reason = errorCode(cause);
  const detail = reason === "" ? {} : { detail: REASONS[reason] ?? reason };
  return new StorageError(code, path, { ...detail, ...(store && { store }), cause });
}

function storeCode(error: unknown): StorageErrorCode | undefined {
  const code = errorCode(error);
  return STORE_CODES.find(([start]) => code.startsWith(start))?.[1];
}

/** The first that the error's code starts with counts. */
const STORE_CODES: readonly (readonly [start: string, code: StorageErrorCode])[] = [
  ["SQLITE_BUSY", "store_locked"],
  ["SQLITE_LOCKED", "store_locked"],
  ["SQLITE_NOTADB", "store_corrupt"],
  ["SQLITE_CORRUPT", "store_corrupt"],
  ["SQLITE_FULL", "store_full"],
  // What a disk quota or a limit on a file's size gives.
  ["SQLITE_IOERR_WRITE", "store_full"],
  ["SQLITE_IOERR_FSYNC", "store_full"],
  ["SQLITE_READONLY", "store_unwritable"],
  ["SQLITE_CANTOPEN", "store_unreadable"],
  // A table or column that is not there.
  ["SQLITE_ERROR", "store_corrupt"],
  ["ENOSPC", "store_full"],
  ["EDQUOT", "store_full"],
  ["EFBIG", "store_full"],
  ["EROFS", "store_unwritable"],
];

const REASONS: Readonly<Record<string, string>> = {
  EACCES: "permission denied",
  EDQUOT: "the disk quota is used up",
  EFBIG: "the file may not grow further",
  EISDIR: "it is a directory",
  ELOOP: "its symbolic links go in a circle",
  ENOENT: "its directory does not exist",
  ENOSPC: "no space is left on the disk",
  ENOTDIR: "a part of its path is not a directory",
  EPERM: "the system does not permit it",
  EROFS: "the disk is read-only",
  SQLITE_FULL: "no space is left on the disk",
};
