import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  realpathSync,
  renameSync,
  rmSync,
} from "node:fs";
import { dirname } from "node:path";
import { createKeyring, type Keyring } from "../src/issuer/keyring.js";
import { createPrivateFile, syncDirectoryOf, temporaryName } from "../src/storage/new-file.js";
import { createStores, openStores } from "../src/stores/database.js";
import { createKeyringFile } from "../src/stores/keyring-file.js";
import { environmentError } from "./exit.js";
import {
  type HomeConfig,
  type HomePaths,
  incompleteHome,
  missingFiles,
  notFolder,
  pathsIn,
  unreadableHome,
} from "./home.js";
import { isErrno } from "./output.js";

const PRIVATE_FOLDER = 0o700;

/**
 * Makes a home: all of it in a folder beside the final place, which then takes its name. Whatever
 * happens on the way, the place holds a whole home or what it held before.
 *
 * @throws CliError if there is something at that place already, or it can not be written.
 * @throws StorageError if the keyring or the database cannot be written.
 */
export async function createHome(wanted: HomePaths, config: HomeConfig): Promise<Keyring> {
  refuseToOverwrite(wanted);
  // A link to an empty folder stays a link; what it leads to becomes the home.
  const folder = existsSync(wanted.folder) ? realpathSync(wanted.folder) : wanted.folder;
  const building = pathsIn(temporaryName(folder));
  try {
    mkdirSync(dirname(folder), { recursive: true, mode: PRIVATE_FOLDER });
    mkdirSync(building.folder, { mode: PRIVATE_FOLDER });
    // The process may run under a mask that takes even the owner's rights away.
    chmodSync(building.folder, PRIVATE_FOLDER);
    const keyring = createKeyring();
    createKeyringFile(building.keyring, keyring);
    const elsewhere = wanted.database !== pathsIn(wanted.folder).database;
    const database = elsewhere
      ? await openStores(wanted.database, "create")
      : await createStores(building.database);
    await database.close();
    createPrivateFile(building.config, `${JSON.stringify(config, undefined, 2)}\n`);
    syncDirectoryOf(building.config);
    renameSync(building.folder, folder);
    syncDirectoryOf(folder);
    return keyring;
  } catch (error) {
    rmSync(building.folder, { recursive: true, force: true });
    throw failureOf(error, wanted);
  }
}

function failureOf(error: unknown, wanted: HomePaths): unknown {
  if (!isErrno(error) || error.name === "StorageError") return error;
  if (error.code === "ENOTEMPTY" || error.code === "EEXIST" || error.code === "EPERM") {
    // Someone else has just made one.
    refuseToOverwrite(wanted);
  }
  const message = `could not make a home at ${wanted.folder}: ${error.message}`;
  const hint =
    "name another folder with --home, or make this one writable; nothing was left behind";
  return environmentError("home_unwritable", message, hint);
}

function refuseToOverwrite(paths: HomePaths): void {
  const { folder } = paths;
  const names = listFolder(folder);
  if (names === undefined || names.length === 0) return;
  const { missing, none } = missingFiles(paths);
  if (missing.length === 0) {
    const message = `there is a home at ${folder} already, and it is not overwritten`;
    const hint = "use it as it is, or name another folder with --home";
    throw environmentError("home_exists", message, hint);
  }
  if (!none) throw incompleteHome(folder, missing, none);
  const things = `${names.slice(0, 3).join(", ")}${names.length > 3 ? ", ..." : ""}`;
  const hint = "name an empty or a new folder with --home";
  throw environmentError("folder_in_use", `${folder} holds other things: ${things}`, hint);
}

function listFolder(folder: string): string[] | undefined {
  try {
    return readdirSync(folder);
  } catch (error) {
    if (!isErrno(error)) throw error;
    if (error.code === "ENOENT") return undefined;
    throw error.code === "ENOTDIR" && existsSync(folder)
      ? notFolder(folder)
      : unreadableHome(folder, error);
  }
}
