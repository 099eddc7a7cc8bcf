import { join } from "node:path";
import { type Command, Option } from "commander";
import type { HomeConfig } from "../src/home/home-config.js";
import { type HomeFiles, homeFiles, readHome } from "../src/home/home-files.js";
import { type Home, openHome } from "../src/home/open-home.js";
import { createIssuer, type Issuer } from "../src/issuer/issuer.js";
import { isAddress } from "../src/storage/database.js";
import { withoutPassword } from "../src/storage/postgres.js";
import { openStores, type StoreDatabase } from "../src/stores/database.js";
import { followKeyringFile } from "../src/stores/follow-keyring.js";
import { openRevocations } from "../src/stores/revocations/open-revocations.js";
import type { RevocationStore } from "../src/stores/revocations/revocation-store.js";
import { absolutePath, type Context } from "./context.js";
import { usageError } from "./exit.js";
import { printable, say, sayOver } from "./output.js";
import type { GlobalOptions } from "./verb.js";

export interface HomeChoice extends GlobalOptions {
  /** A file or a PostgreSQL URL. The default is `proviso.db` in the home. */
  readonly database?: string | undefined;
}

/**
 * Returns the files of the home that `--home` names, or of the default home. Commander also fills `--home` from
 * the variable `PROVISO_HOME`.
 */
export function homeFor(context: Context, { home, database }: HomeChoice): HomeFiles {
  const { env } = context;
  if (home === "" && env["PROVISO_HOME"] !== "") {
    throw usageError("--home is empty", "name a folder");
  }
  const named = database ?? (env["PROVISO_DATABASE"] || undefined);
  for (const path of [home, named]) warnOfTilde(context, path);
  const folder = home ? absolutePath(context, home) : defaultFolder(context, process.platform);
  return homeFiles(folder, named === undefined ? undefined : databaseAt(context, named));
}

/**
 * Warns of a `~` that was not expanded. A shell expands `~` at the beginning of a word, but not in `--home=~/x`
 * or in quotes.
 */
function warnOfTilde(context: Context, path: string | undefined): void {
  if (path === undefined || !/^~[^/]*(\/|$)/.test(path)) return;
  const own = path.startsWith("~/") || path === "~";
  const instead = own ? `write $HOME${path.slice(1)}` : "write the whole path";
  say(context, printable(`warning: ~ in ${path} is taken as it stands, not as a home; ${instead}`));
}

function defaultFolder({ env, userFolder: user }: Context, platform: NodeJS.Platform): string {
  if (platform === "darwin") return join(user, "Library", "Application Support", "proviso");
  if (platform === "win32") {
    return join(env["LOCALAPPDATA"] || join(user, "AppData", "Local"), "proviso");
  }
  const data = env["XDG_DATA_HOME"];
  // The XDG specification says to ignore a path that is not absolute.
  return join(data?.startsWith("/") ? data : join(user, ".local", "share"), "proviso");
}

/**
 * Finds a complete home, and reads its configuration.
 *
 * @throws HomeError
 */
export function findHome(
  context: Context,
  options: HomeChoice,
): { readonly files: HomeFiles; readonly config: HomeConfig } {
  const files = homeFor(context, options);
  return { files, config: readHome(files) };
}

/** Opens the home, passes it to `use`, and always closes it. */
export async function withHome<T>(
  context: Context,
  options: HomeChoice,
  use: (home: Home) => T | Promise<T>,
): Promise<T> {
  const { folder, database } = homeFor(context, options);
  const onLoading = loadingShown(context);
  return closing(await openHome({ folder, database, onLoading }), use);
}

/** An issuer that checks tokens, and the files of its home. */
export interface Checker {
  readonly issuer: Issuer;
  readonly files: Pick<HomeFiles, "config">;
}

/** Opens only the parts of a home that checking needs, and always closes them. */
export function withChecker<T>(
  context: Context,
  options: HomeChoice,
  use: (checker: Checker) => T | Promise<T>,
): Promise<T> {
  const { files, config } = findHome(context, options);
  const { issuer: name, grants, maxLifetime } = config;
  const keys = followKeyringFile(files.keyring);
  return withStores(files, async (database) => {
    const revocations = await openRevocationsOf(context, database);
    // The process checks each token only once, so a cache would be useless.
    const settings = { name, grants, maxLifetime, cache: false } as const;
    return use({ files, issuer: createIssuer({ ...settings, keys, revocations }) });
  });
}

/** Opens the revocations of a home, without reading its key file, and always closes them. */
export function withRevocations<T>(
  context: Context,
  options: HomeChoice,
  use: (revocations: RevocationStore, files: HomeFiles) => T | Promise<T>,
): Promise<T> {
  const { files } = findHome(context, options);
  return withStores(files, async (database) =>
    use(await openRevocationsOf(context, database), files),
  );
}

export function openRevocationsOf(
  context: Context,
  database: StoreDatabase,
): Promise<RevocationStore> {
  return openRevocations(database, { onLoading: loadingShown(context) });
}

export async function withStores<T>(
  { database: place }: HomeFiles,
  use: (database: StoreDatabase) => Promise<T>,
): Promise<T> {
  return closing(await openStores(place), use);
}

async function closing<Opened extends { close(): Promise<void> }, T>(
  opened: Opened,
  use: (opened: Opened) => T | Promise<T>,
): Promise<T> {
  try {
    return await use(opened);
  } finally {
    await opened.close();
  }
}

const FORM = "postgres://USER@HOST:PORT/DATABASE";

export function addDatabase(command: Command): void {
  const help = `the database, a file or ${FORM}; proviso.db in the home unless given (env: PROVISO_DATABASE, for an address with a password)`;
  command.addOption(new Option("--database <place>", help));
}

/**
 * Returns the location of a database: the absolute path of a file, or a URL unchanged.
 *
 * @throws CliError if `text` is neither a path nor a PostgreSQL URL. The message does not quote `text`, which
 *   may contain a password.
 */
export function databaseAt(context: Pick<Context, "cwd">, text: string): string {
  if (text === "") throw usageError("--database is empty", `name a file or ${FORM}`);
  if (!isAddress(text) && !/^[a-z][a-z\d+.-]+:\/\//i.test(text)) {
    return absolutePath(context, text);
  }
  try {
    withoutPassword(text);
    return text;
  } catch {
    const hint = `it is like ${FORM}; in a password, write / # ? @ as %2F %23 %3F %40`;
    throw usageError("this is not the address of a database", hint);
  }
}

/** Progress is shown after this many milliseconds. */
const SOON = 1000;

/**
 * Returns a function that shows, on a terminal, how much of a long revocation list has been read. At the end,
 * the function removes its line.
 */
export function loadingShown(context: Pick<Context, "stderr">): (part: number) => void {
  const began = performance.now();
  let shown: number | undefined;
  return (part) => {
    const percent = Math.floor(part * 100);
    const isDone = percent === 100;
    if (!context.stderr.isTerminal || percent === shown) return;
    if (isDone ? shown === undefined : performance.now() - began < SOON) return;
    shown = percent;
    sayOver(context, isDone ? "\u001b[K" : `reading the revocation list: ${percent} %`);
  };
}
