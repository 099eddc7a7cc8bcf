import { resolve } from "node:path";
import { readDuration } from "../../src/caveats/time.js";
import type { Context } from "../context.js";
import { databaseAt } from "../database.js";
import { usageError } from "../exit.js";
import { findHome, type HomeConfig, type HomeGrant, type HomePaths } from "../home.js";
import { spanInWords } from "../moment.js";
import { invalidConfig, problemAt, type ReadConfig } from "./config.js";

/** What goes before the configuration. */
export interface RunOptions {
  readonly home?: string | undefined;
  readonly host?: string | undefined;
  readonly port?: number | undefined;
  readonly database?: string | undefined;
  /** `HOST:PORT`. */
  readonly metrics?: string | undefined;
}

/** The home of an agent, and what it means for how long capabilities live. */
export interface AgentHome {
  readonly paths: HomePaths;
  readonly config: HomeConfig;
  /** Seconds that a capability lives if a request does not say. */
  readonly lifetime: number;
  /** Seconds that a capability may live. */
  readonly maxLifetime: number;
}

const USUAL_LIFETIME = 15 * 60;

/**
 * Finds the agent's home: the command line goes first, then the configuration; without either, it is
 * where it is for other verbs.
 *
 * @throws CliError as {@link findHome}, or `config_invalid` if capabilities were to live too long.
 */
export function homeFor(
  context: Context,
  { config, file, folder }: ReadConfig,
  options: RunOptions,
): AgentHome {
  const named =
    config.home === undefined ? context.env["PROVISO_HOME"] : resolve(folder, config.home);
  const path = options.home ?? named;
  // The environment does not go before the configuration, as a flag does.
  const database =
    options.database ??
    (config.database === undefined ? undefined : databaseAt(config.database, folder));
  const home = findHome(context, {
    ...(path === undefined ? {} : { home: path }),
    ...(database === undefined ? {} : { database }),
  });

  const most = home.config.maxLifetime;
  const maxLifetime = secondsIn(config.maxLifetime) ?? most;
  if (maxLifetime > most) {
    const what = `the home allows ${spanInWords(most * 1000)} at most ("maxLifetime" in ${home.paths.config})`;
    throw invalidConfig(file, [problemAt("maxLifetime", what)]);
  }
  const lifetime = secondsIn(config.lifetime) ?? Math.min(USUAL_LIFETIME, maxLifetime);
  if (lifetime > maxLifetime) {
    const what = `is longer than a capability may live here, ${spanInWords(maxLifetime * 1000)}`;
    throw invalidConfig(file, [problemAt("lifetime", what)]);
  }
  return { ...home, lifetime, maxLifetime };
}

/**
 * Refuses a home that lists other grants than the configuration: what it mints and checks with the
 * command would not be what the agent does.
 *
 * @throws CliError `config_invalid` naming each grant that differs.
 */
export function assertSameGrants(
  { file }: ReadConfig,
  homeFile: string,
  listed: readonly HomeGrant[] | undefined,
  offered: readonly HomeGrant[],
): void {
  if (listed === undefined) return;
  const wordsOf = (grants: readonly HomeGrant[]): Map<string, string> =>
    new Map(grants.map(({ id, operations }) => [id, [...new Set(operations)].sort().join(", ")]));
  const home = wordsOf(listed);
  const here = wordsOf(offered);
  const ids = new Set([...here.keys(), ...home.keys()]);
  const problems = [...ids].flatMap((id) => {
    const [mine, theirs] = [here.get(id), home.get(id)];
    if (mine === theirs) return [];
    const what = `"${id}" has ${mine ?? "no place"} here, and ${theirs ?? "no place"} in ${homeFile}`;
    return [problemAt("grants", `${what}; make them agree, or leave "grants" out of the home`)];
  });
  if (problems.length > 0) throw invalidConfig(file, problems);
}

function secondsIn(text: string | undefined): number | undefined {
  return text === undefined ? undefined : readDuration(text);
}

/** Where to listen. */
export interface Address {
  readonly host: string;
  readonly port: number;
}

/**
 * Where the metrics are served, if anywhere.
 *
 * @throws CliError `config_invalid`, or of usage, if it is not `HOST:PORT`.
 */
export function metricsAddressOf(
  { config, file }: ReadConfig,
  options: RunOptions,
): Address | undefined {
  const text = options.metrics ?? config.metrics;
  if (text === undefined) return undefined;
  const [, name = "", bracketed, digits = ""] = /^(\[([^\]]+)\]|[^:]+):(\d{1,5})$/.exec(text) ?? [];
  const port = Number(digits);
  if (name !== "" && port <= 65535) return { host: bracketed ?? name, port };
  const what = "must be HOST:PORT, such as 127.0.0.1:9464";
  if (options.metrics !== undefined) throw usageError(`--metrics ${text}: this ${what}`);
  throw invalidConfig(file, [problemAt("metrics", what)]);
}

/**
 * Where the agent listens.
 *
 * @throws CliError `config_invalid` for any free port behind a public address: callers could not know it.
 */
export function addressOf({ config, file }: ReadConfig, options: RunOptions): Address {
  const { host, port } = config.listen;
  const address = { host: options.host ?? host, port: options.port ?? port };
  if (config.publicUrl === undefined || address.port !== 0) return address;
  const what = "is missing; what passes calls on from publicUrl must know it (or give --port)";
  throw invalidConfig(file, [problemAt("listen.port", what)]);
}
