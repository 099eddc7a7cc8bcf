import { accessSync, constants, type Stats, statSync } from "node:fs";
import { basename, dirname, join, resolve } from "node:path";
import { StorageError } from "../storage/storage-error.js";
import { isErrno } from "../system/error-code.js";
import { type HomeConfig, readHomeConfig } from "./home-config.js";
import { HomeError, unreadable } from "./home-error.js";

/** The files of a home. */
export interface HomeFiles {
  readonly folder: string;
  readonly config: string;
  readonly keyring: string;
  /** A path, or a PostgreSQL address. */
  readonly database: string;
}

/**
 * Returns the paths of a home's files.
 *
 * @param database - The path of the database, or a PostgreSQL address; `proviso.db` in the home's folder unless given.
 * @throws TypeError if `path` is empty or not a string.
 */
export function homeFiles(path: string, database?: string): HomeFiles {
  if (typeof path !== "string" || path === "") throw new TypeError("folder: must name a folder");
  const folder = resolve(path);
  return {
    folder,
    config: join(folder, "config.json"),
    keyring: join(folder, "keyring.json"),
    database: database ?? join(folder, "proviso.db"),
  };
}

/**
 * Reads the configuration of a complete home.
 *
 * @throws HomeError `home_missing`, `home_not_folder`, `home_incomplete`, `home_unreadable` or `config_malformed`.
 * @throws StorageError `store_outdated` if the home has one file per store, as in an earlier format.
 */
export function readHome(files: HomeFiles): HomeConfig {
  const { folder } = files;
  const found = look(folder);
  if (found?.isDirectory() === false) throw notFolder(folder);
  if (found !== undefined) assertReadable(folder);
  const { missing, none } = missingFiles(files);
  if (found === undefined || none) {
    throw new HomeError("home_missing", folder, `there is no home at ${folder}`);
  }
  if (missing.length > 0) throw incomplete(folder, missing);
  return readHomeConfig(files.config);
}

/**
 * Returns the names of a home's missing files, and whether all of its files are missing.
 *
 * @throws HomeError `home_unreadable` if the folder cannot be read.
 * @throws StorageError `store_outdated`, as {@link readHome}.
 */
export function missingFiles({ folder, config, keyring, database }: HomeFiles): {
  readonly missing: readonly string[];
  readonly none: boolean;
} {
  const old = join(folder, "store.db");
  if (look(old) !== undefined) throw new StorageError("store_outdated", old);
  const own = dirname(database) === folder ? [database] : [];
  const all = [config, keyring, ...own];
  const missing = all.filter((path) => look(path) === undefined).map((path) => basename(path));
  return { missing, none: missing.length === all.length };
}

/** Returns the error for a home that lacks some of its files. */
export function incomplete(folder: string, missing: readonly string[]): HomeError {
  const message = `the home at ${folder} is not whole: ${missing.join(" and ")} missing`;
  return new HomeError("home_incomplete", folder, message);
}

/** Returns the error for a path that is not a folder. */
export function notFolder(path: string): HomeError {
  return new HomeError("home_not_folder", path, `${path} is a file, not a folder`);
}

// An unreadable folder must not be mistaken for an empty folder.
function assertReadable(folder: string): void {
  try {
    accessSync(folder, constants.R_OK | constants.X_OK);
  } catch (error) {
    throw isErrno(error) ? unreadable(error, folder) : error;
  }
}

/** Returns the status of a path; `undefined` if nothing is there. */
function look(path: string): Stats | undefined {
  try {
    return statSync(path);
  } catch (error) {
    if (!isErrno(error)) throw error;
    if (error.code === "ENOENT" || error.code === "ENOTDIR") return undefined;
    throw unreadable(error, path);
  }
}
