import { dirname } from "node:path";
import type { HomeErrorCode } from "../src/home/home-error.js";
import type { StorageError, StorageErrorCode } from "../src/storage/storage-error.js";

const ADVICE: Readonly<Record<StorageErrorCode, string | ((path: string) => string)>> = {
  key_file_missing: "check the path, or create a key file",
  key_file_unreadable: (path) => `make ${path} a regular file that this user may read`,
  key_file_unwritable: (folder) =>
    `let this user write to the folder ${folder}, on a disk with space left`,
  key_file_exposed: (path) => `chmod 600 ${path}, and rotate the keys if others may have read them`,
  key_file_malformed: "restore the key file from a backup, or name the right one",
  key_file_exists: "name another path, or use the keys that are there",
  key_file_changed: "read the key file again and repeat",
  store_missing:
    "name its home with --home, check the path, or restore a lost database from a backup",
  store_exists: "use the database that is there, or name another path",
  store_unreadable: (path) => `let this user read and write ${path}`,
  store_unreachable: "see that the database's server runs and that the address is right",
  store_unwritable: (path) => `let this user write to ${path}`,
  store_read_only: "name the server that takes writes, or promote this one",
  store_too_many_connections:
    "let the server take more (max_connections): each process of proviso uses up to 8",
  store_encoding: "make a database with ENCODING 'UTF8', and name that",
  store_folder_unwritable: (folder) => `let this user write to the folder ${folder}`,
  store_exposed: (path) => `chmod 600 ${path}, and check that no revocation is gone`,
  store_locked: "try again; if it lasts, find the process that holds the database",
  store_timeout: "try again when the database is less busy",
  store_corrupt: "restore the database from a backup, or name the right one",
  store_full: "free space on its disk, then repeat",
  store_version: "use the version of proviso that made it, or a later one",
  store_outdated: "move the home's folder away and run proviso init",
  store_replaced: "put the first one back, or start again to rely on the new one",
  store_unavailable: "install proviso-cli again, with its optional dependencies",
};

export function adviceForStorage({ code, path }: StorageError): string {
  const advice = ADVICE[code];
  // A key file is replaced by a new file, which needs permission for the folder.
  const place = code === "key_file_unwritable" ? dirname(path) : path;
  return typeof advice === "string" ? advice : advice(shellWord(place));
}

/** Returns a string as one word of a shell's command line. */
export function shellWord(text: string): string {
  return /^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`;
}

/** Returns the words of a command as one line for a shell. */
export function shellLine(words: readonly string[]): string {
  return words.map(shellWord).join(" ");
}

export const HOME_ADVICE: { readonly [Code in HomeErrorCode]: string } = {
  home_missing: "proviso init makes one; --home or PROVISO_HOME names another",
  home_not_folder: "name a folder with --home or PROVISO_HOME",
  home_incomplete:
    "restore it from a backup; to start afresh, move the folder away and run proviso init",
  home_unreadable: "run this as the user it belongs to, or name another folder with --home",
  config_malformed:
    'it holds {"issuer": NAME, "maxLifetime": SECONDS, "grants": [{"id": GRANT, "operations": [...]}]}, ' +
    "grants if you like; correct it or restore it",
  home_exists: "use it as it is, or name another folder with --home",
  folder_in_use: "name an empty or a new folder with --home",
  home_unwritable:
    "name another folder with --home, or make this one writable; nothing was left behind",
};
