import { accessSync, constants, readFileSync, type Stats, statSync } from "node:fs";
import { basename, dirname, join, resolve } from "node:path";
import { DEFAULT_MAX_LIFETIME, MAX_LIFETIME } from "../src/capability/mint.js";
import { assertMembers } from "../src/caveats/known-members.js";
import { type Grant, grantsById } from "../src/issuer/grant.js";
import { StorageError } from "../src/storage/storage-error.js";
import type { Context } from "./context.js";
import { type DatabaseChoice, databaseAt } from "./database.js";
import { type CliError, environmentError, usageError } from "./exit.js";
import { isErrno } from "./output.js";
import type { GlobalOptions } from "./verb.js";

/** The files of a home. */
export interface HomePaths {
  readonly folder: string;
  readonly config: string;
  readonly keyring: string;
  /** `proviso.db` in the folder, or the file or address that was named instead. */
  readonly database: string;
}

/** What `config.json` holds. */
export interface HomeConfig {
  /** The issuer's name: it stands in every token. */
  readonly issuer: string;
  /** Seconds that a capability may live. */
  readonly maxLifetime: number;
  /** The grants and their operations, where the home lists them. */
  readonly grants?: readonly HomeGrant[];
}

/** A grant as a home lists it. */
export type HomeGrant = Pick<Grant, "id" | "operations">;

/** Which home, and which database if it is not the home's own. */
export interface HomeChoice extends GlobalOptions, DatabaseChoice {}

/**
 * Where the home is: `--home`, which commander fills from `PROVISO_HOME` too, or the default; and
 * where its database is.
 */
export function homePaths(context: Context, { home, database }: HomeChoice): HomePaths {
  const { env, cwd } = context;
  if (home === "" && env["PROVISO_HOME"] !== "") {
    throw usageError("--home is empty", "name a folder");
  }
  const named = database ?? (env["PROVISO_DATABASE"] || undefined);
  const folder = home ? resolve(cwd, home) : defaultFolder(context, process.platform);
  return pathsIn(folder, named === undefined ? undefined : databaseAt(named, cwd));
}

/** The paths of a home's files, wherever its folder is. */
export function pathsIn(folder: string, database?: string): HomePaths {
  return {
    folder,
    config: join(folder, "config.json"),
    keyring: join(folder, "keyring.json"),
    database: database ?? join(folder, "proviso.db"),
  };
}

function defaultFolder({ env, userFolder: user }: Context, platform: NodeJS.Platform): string {
  if (platform === "darwin") return join(user, "Library", "Application Support", "proviso");
  if (platform === "win32") {
    return join(env["LOCALAPPDATA"] || join(user, "AppData", "Local"), "proviso");
  }
  const data = env["XDG_DATA_HOME"];
  // The XDG rules say to ignore a path that is not absolute.
  return join(data?.startsWith("/") ? data : join(user, ".local", "share"), "proviso");
}

/**
 * The files that a home lacks, by name, and whether it has none at all.
 *
 * @throws CliError `home_unreadable` if this cannot be found out.
 * @throws StorageError `store_outdated` if it has a file for each store, as homes once had.
 */
export function missingFiles({ folder, config, keyring, database }: HomePaths): {
  readonly missing: readonly string[];
  readonly none: boolean;
} {
  const old = join(folder, "store.db");
  if (look(old) !== undefined) throw new StorageError("store_outdated", old);
  const own = dirname(database) === folder ? [database] : [];
  const files = [config, keyring, ...own];
  const missing = files.filter((path) => look(path) === undefined).map((path) => basename(path));
  return { missing, none: missing.length === files.length };
}

/**
 * A home that is whole, with its configuration.
 *
 * @throws CliError `home_missing`, `home_not_folder`, `home_incomplete`, `home_unreadable` or
 *   `config_malformed`.
 * @throws StorageError `store_outdated`, as {@link missingFiles}.
 */
export function findHome(
  context: Context,
  options: HomeChoice,
): { paths: HomePaths; config: HomeConfig } {
  const paths = homePaths(context, options);
  const { folder } = paths;
  const found = look(folder);
  if (found?.isDirectory() === false) throw notFolder(folder);
  if (found === undefined) {
    const hint = "proviso init makes one; --home or PROVISO_HOME names another";
    throw environmentError("home_missing", `there is no home at ${folder}`, hint);
  }
  assertReadable(folder);
  const { missing, none } = missingFiles(paths);
  if (missing.length > 0) throw incompleteHome(folder, missing, none);
  return { paths, config: readConfig(paths.config) };
}

// What may not be looked into must not pass for empty: init would be the wrong advice.
function assertReadable(folder: string): void {
  try {
    accessSync(folder, constants.R_OK | constants.X_OK);
  } catch (error) {
    throw isErrno(error) ? unreadableHome(folder, error) : error;
  }
}

/** What is at a path, if anything is. */
function look(path: string): Stats | undefined {
  try {
    return statSync(path);
  } catch (error) {
    if (!isErrno(error)) throw error;
    if (error.code === "ENOENT" || error.code === "ENOTDIR") return undefined;
    throw unreadableHome(path, error);
  }
}

/** A home that lacks some of its files, or all of them. */
export function incompleteHome(
  folder: string,
  missing: readonly string[],
  none: boolean,
): CliError {
  return environmentError(
    "home_incomplete",
    `the home at ${folder} is not whole: ${missing.join(" and ")} missing`,
    none
      ? "proviso init makes a home in an empty folder; --home or PROVISO_HOME names another"
      : "restore it from a backup; to start afresh, move the folder away and run proviso init",
  );
}

/** A file, or anything else, stands where the home's folder is to be. */
export function notFolder(path: string): CliError {
  const hint = "name a folder with --home or PROVISO_HOME";
  return environmentError("home_not_folder", `${path} is a file, not a folder`, hint);
}

/** The home's folder, or a file of it, is there but can not be read. */
export function unreadableHome(path: string, { code, message }: NodeJS.ErrnoException): CliError {
  const forbidden = code === "EACCES" || code === "EPERM";
  return environmentError(
    "home_unreadable",
    forbidden ? `${path} may not be read by this user` : `could not read ${path}: ${message}`,
    "run this as the user it belongs to, or name another folder with --home",
  );
}

function readConfig(path: string): HomeConfig {
  const hint =
    'it holds {"issuer": NAME, "maxLifetime": SECONDS, "grants": [{"id": GRANT, "operations": [...]}]}, ' +
    "grants if you like; correct it or restore it";
  let value: unknown;
  try {
    value = JSON.parse(readFileSync(path, "utf8"));
  } catch (error) {
    if (!isErrno(error)) throw environmentError("config_malformed", `${path} is not JSON`, hint);
    throw unreadableHome(path, error);
  }
  const problem = (what: string): Error =>
    environmentError("config_malformed", `${path}: ${what}`, hint);
  if (typeof value !== "object" || value === null) throw problem("it is not an object");
  const config: { issuer?: unknown; maxLifetime?: unknown; grants?: unknown } = value;
  const { issuer, maxLifetime = DEFAULT_MAX_LIFETIME, grants } = config;
  try {
    assertMembers(value, ["issuer", "maxLifetime", "grants"], "");
    if (typeof issuer !== "string" || issuer === "") throw problem('"issuer" must be a name');
    if (!isLifetime(maxLifetime)) {
      throw problem(`"maxLifetime" must be 1 to ${MAX_LIFETIME} whole seconds`);
    }
    if (grants === undefined) return { issuer, maxLifetime };
    return { issuer, maxLifetime, grants: homeGrants(grants) };
  } catch (error) {
    throw error instanceof TypeError ? problem(error.message) : error;
  }
}

/** @throws TypeError naming the field that is wrong. */
function homeGrants(value: unknown): readonly HomeGrant[] {
  // `grantsById` looks at every member.
  const grants = grantsById(value as readonly Grant[]);
  return [...grants.values()].map((grant, at) => {
    const { id, operations } = grant;
    if (operations.length === 0) throw new TypeError(`grants[${at}].operations: there must be one`);
    assertMembers(grant, ["id", "operations"], `grants[${at}]`);
    return { id, operations };
  });
}

/** Whether a capability may be made to live so many seconds at most. */
export function isLifetime(seconds: unknown): seconds is number {
  return Number.isSafeInteger(seconds) && Number(seconds) >= 1 && Number(seconds) <= MAX_LIFETIME;
}
