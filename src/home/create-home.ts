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
import { isErrno } from "../system/error-code.js";
import { checkHomeConfig, type HomeConfig } from "./home-config.js";
import { HomeError, unreadable } from "./home-error.js";
import { type HomeFiles, homeFiles, incomplete, missingFiles, notFolder } from "./home-files.js";

/** Options of a new home. */
export interface NewHome extends Omit<HomeConfig, "maxLifetime"> {
  /** The folder to make; it must not exist, or be empty. */
  readonly folder: string;
  /** A database elsewhere, used unchanged if it exists: a path, or a PostgreSQL address. */
  readonly database?: string | undefined;
  /** Longest lifetime of a capability in seconds; 24 hours unless given, 90 days at most. */
  readonly maxLifetime?: number | undefined;
}

const PRIVATE_FOLDER = 0o700;

/**
 * Makes a home: the issuer's name, a new root key and a database, readable by this user alone. Builds it in a
 * folder beside the final place and renames that at the end, so that after any failure the place holds a
 * complete home or its earlier contents.
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
  // A link to an empty folder stays; its target becomes the home.
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
 * Returns whether the database is not the home's own file.
 *
 * @throws TypeError for another file in the home's folder, which exists only once it is complete.
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
  // Another process has just made one.
  if (["ENOTEMPTY", "EEXIST", "EPERM"].includes(error.code ?? "")) refuseToOverwrite(wanted);
  const { folder } = wanted;
  const message = `could not make a home at ${folder}: ${error.message}`;
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
