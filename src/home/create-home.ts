import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  realpathSync,
  renameSync,
  rmSync,
} from "node:fs";
import { basename, dirname, isAbsolute, relative, resolve } from "node:path";
import { assertMembers } from "../checks/members.js";
import { plainObject } from "../checks/plain.js";
import { createKeyring, type Keyring } from "../issuer/keyring.js";
import { isAddress } from "../storage/database.js";
import {
  createPrivateFile,
  inPlaceOf,
  syncDirectoryOf,
  temporaryName,
} from "../storage/new-file.js";
import { StorageError } from "../storage/storage-error.js";
import { createStores, openStores } from "../stores/database.js";
import { createKeyringFile } from "../stores/keyring-file.js";
import { errorCode, isErrno, reasonFor } from "../system/error-code.js";
import { checkHomeConfig, type HomeConfig } from "./home-config.js";
import { HomeError, unreadable } from "./home-error.js";
import { type HomeFiles, homeFiles, incomplete, missingFiles, notFolder } from "./home-files.js";

/** Options for creating a home. */
export interface NewHome extends Omit<HomeConfig, "maxLifetime"> {
  /** The folder to create; it must be empty or not exist. */
  readonly folder: string;
  /**
   * The database, if it is outside the home: a path, or a PostgreSQL address. An existing database is used as it is.
   */
  readonly database?: string | undefined;
  /** Longest lifetime of a capability in seconds, at most 90 days; by default, 24 hours. */
  readonly maxLifetime?: number | undefined;
}

const PRIVATE_FOLDER = 0o700;

/**
 * Creates a home: the issuer's name, a new root key and a database, readable by this user alone. Builds everything in
 * a temporary folder beside the target and then renames it, so that after any failure the target is either a complete
 * home or unchanged.
 *
 * @returns The keyring.
 * @throws TypeError naming the option that is wrong.
 * @throws HomeError `home_exists`, `home_incomplete`, `folder_in_use`, `home_not_folder`, `home_unreadable` or
 *   `home_unwritable`.
 * @throws StorageError if the keyring or the database cannot be written.
 */
export async function createHome(options: NewHome): Promise<Keyring> {
  const { folder: place, database, ...config } = plainObject(options, "options");
  assertMembers(config, ["issuer", "maxLifetime", "grants"], "options");
  const text = `${JSON.stringify(checkHomeConfig(config), undefined, 2)}\n`;
  const wanted = homeFiles(place, database);
  const elsewhere = isElsewhere(wanted, homeFiles(place));
  refuseToOverwrite(wanted);
  // If the path is a symbolic link to an empty folder, keep the link and make its target the home.
  const folder = existsSync(place) ? realpathSync(place) : place;
  const building = homeFiles(temporaryName(folder));
  try {
    mkdirSync(dirname(folder), { recursive: true, mode: PRIVATE_FOLDER });
    mkdirSync(building.folder, { mode: PRIVATE_FOLDER });
    // The process's umask may remove even the owner's permissions.
    chmodSync(building.folder, PRIVATE_FOLDER);
    const keyring = createKeyring();
    createKeyringFile(building.keyring, keyring);
    const stores = elsewhere
      ? await openStores(wanted.database, "create")
      : await createStores(building.database);
    await stores.close();
    createPrivateFile(building.config, text);
    syncDirectoryOf(building.config);
    renameSync(building.folder, folder);
    syncDirectoryOf(folder);
    return keyring;
  } catch (error) {
    rmSync(building.folder, { recursive: true, force: true });
    throw failureOf(inPlaceOf(building.folder, folder, error), wanted);
  }
}

/**
 * Returns whether the database is outside the home.
 *
 * @throws TypeError if the database is another file in the home's folder, since that folder exists only once the home
 *   is complete.
 */
function isElsewhere(wanted: HomeFiles, own: HomeFiles): boolean {
  if (isAddress(wanted.database)) return true;
  const inside = relative(resolve(own.folder), resolve(wanted.database));
  if (inside === basename(own.database)) return false;
  if (inside !== "" && !inside.startsWith("..") && !isAbsolute(inside)) {
    throw new TypeError(
      `database: in the home's folder it is ${basename(own.database)}; leave the option out, or name a ` +
        "file elsewhere",
    );
  }
  return true;
}

function failureOf(error: unknown, wanted: HomeFiles): unknown {
  if (!isErrno(error) || error instanceof StorageError) return error;
  // Another process may have just created a home in the folder.
  if (["ENOTEMPTY", "EEXIST", "EPERM"].includes(error.code ?? "")) refuseToOverwrite(wanted);
  const { folder } = wanted;
  const message = `could not make a home at ${folder}: ${reasonFor(errorCode(error), "write")}`;
  return new HomeError("home_unwritable", folder, message, error);
}

function refuseToOverwrite(files: HomeFiles): void {
  const { folder } = files;
  const names = listFolder(folder);
  if (names.length === 0) return;
  const { missing, none } = missingFiles(files);
  if (missing.length === 0) {
    const message = `there is a home at ${folder} already, and it is not overwritten`;
    throw new HomeError("home_exists", folder, message);
  }
  if (!none) throw incomplete(folder, missing);
  const things = `${names.slice(0, 3).join(", ")}${names.length > 3 ? ", ..." : ""}`;
  throw new HomeError("folder_in_use", folder, `${folder} holds other things: ${things}`);
}

function listFolder(folder: string): readonly string[] {
  try {
    return readdirSync(folder);
  } catch (error) {
    if (!isErrno(error)) throw error;
    if (error.code === "ENOENT") return [];
    throw error.code === "ENOTDIR" && existsSync(folder)
      ? notFolder(folder)
      : unreadable(error, folder);
  }
}
