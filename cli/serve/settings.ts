import { resolve } from "node:path";
import { readDuration } from "../../src/caveats/time.js";
import type { HomeConfig } from "../../src/home/home-config.js";
import type { HomeFiles } from "../../src/home/home-files.js";
import type { HomeOptions } from "../../src/home/open-home.js";
import { STALE_AFTER } from "../../src/stores/revocations/open-revocations.js";
import type { Context } from "../context.js";
import { type CliError, usageError } from "../exit.js";
import { databaseAt, findHome, type HomeChoice } from "../home.js";
import { spanInWords } from "../moment.js";
import type { AgentConfig } from "./agent-config.js";
import { invalidConfig, problemAt, type ReadConfig } from "./config.js";

/** Options of the command line, which override the configuration. */
export interface RunOptions extends HomeChoice {
  readonly host?: string;
  readonly port?: number;
  /** The address for metrics, `HOST:PORT`. */
  readonly metrics?: string;
}

/** The home of an agent, and the lifetimes of the capabilities that the agent issues. */
export interface AgentHome {
  readonly files: HomeFiles;
  readonly config: HomeConfig;
  /** Lifetime of a capability in seconds, if the request names none. */
  readonly lifetime: number;
  /** Longest lifetime of a capability in seconds. */
  readonly maxLifetime: number;
}

const USUAL_LIFETIME = 15 * 60;

/**
 * Finds the home of a configuration: the one on the command line, else the one in the configuration, else the
 * default home of all verbs.
 */
export function homeOf(
  context: Context,
  { config, folder }: Pick<ReadConfig<Pick<AgentConfig, "home" | "database">>, "config" | "folder">,
  options: HomeChoice,
): ReturnType<typeof findHome> {
  const named =
    config.home === undefined ? context.env["PROVISO_HOME"] : resolve(folder, config.home);
  const { database: place } = config;
  return findHome(context, {
    home: options.home ?? named,
    // The configuration takes precedence over environment variables, but not over a flag.
    database:
      options.database ?? (place === undefined ? undefined : databaseAt({ cwd: folder }, place)),
  });
}

/** @throws CliError as {@link findHome} does, or `config_invalid` if capabilities would live longer than allowed. */
export function agentHome(
  context: Context,
  { config, file, folder }: ReadConfig,
  options: RunOptions,
): AgentHome {
  const home = homeOf(context, { config, folder }, options);
  const most = home.config.maxLifetime;
  const maxLifetime = readDuration(config.maxLifetime ?? "") ?? most;
  if (maxLifetime > most) {
    const what = `the home allows ${spanInWords(most * 1000)} at most ("maxLifetime" in ${home.files.config})`;
    throw invalidConfig(file, [problemAt("maxLifetime", what)]);
  }
  const lifetime = readDuration(config.lifetime ?? "") ?? Math.min(USUAL_LIFETIME, maxLifetime);
  if (lifetime > maxLifetime) {
    const what = `is longer than a capability may live here, ${spanInWords(maxLifetime * 1000)}`;
    throw invalidConfig(file, [problemAt("lifetime", what)]);
  }
  return { ...home, lifetime, maxLifetime };
}

/**
 * Returns the configured intervals for reading the revocation list.
 *
 * @throws CliError `config_invalid` if the list would become too old between two reads.
 */
export function revocationListOf({
  config: { revocationList: list = {} },
  file,
}: Pick<ReadConfig<Pick<AgentConfig, "revocationList">>, "config" | "file">): NonNullable<
  HomeOptions["revocations"]
> {
  const { refreshMs, staleAfterMs } = list;
  if ((refreshMs ?? 0) >= (staleAfterMs ?? STALE_AFTER * 1000)) {
    const what = "must be more than the milliseconds between two looks (refreshMs)";
    throw invalidConfig(file, [problemAt("revocationList.staleAfterMs", what)]);
  }
  return {
    refreshEvery: refreshMs,
    ...(staleAfterMs === undefined ? {} : { staleAfter: staleAfterMs / 1000 }),
  };
}

const DAY = 24 * 60 * 60;

/**
 * Returns for how many seconds services may trust the revocation list; `undefined` for the default.
 *
 * @throws CliError `config_invalid` if the time is more than a day, or if the list is not published.
 */
export function feedMaxAgeOf({ config, file }: ReadConfig): number | undefined {
  const { revocationFeed: feed, protocols } = config;
  if (feed === undefined) return undefined;
  const settingError = (place: string, what: string): CliError =>
    invalidConfig(file, [problemAt(place, what)]);
  if (!protocols.includes("revocations")) {
    throw settingError("revocationFeed", 'has no effect: "protocols" does not name "revocations"');
  }
  const maxAge = readDuration(feed.maxAge) ?? 0;
  if (maxAge <= DAY) return maxAge;
  throw settingError(
    "revocationFeed.maxAge",
    "is more than a day, the longest that a list is relied on",
  );
}

export interface Address {
  readonly host: string;
  readonly port: number;
}

/** Parses `HOST:PORT`; `undefined` for anything else. */
export function addressIn(text: string): Address | undefined {
  const [, name = "", bracketed, digits = ""] = /^(\[([^\]]+)\]|[^:]+):(\d{1,5})$/.exec(text) ?? [];
  const port = Number(digits);
  return name !== "" && port <= 65535 ? { host: bracketed ?? name, port } : undefined;
}

/**
 * Returns the address for metrics; `undefined` if there is none.
 *
 * @throws CliError, as a usage error or as `config_invalid`, if the address is not `HOST:PORT`.
 */
export function metricsAddressOf(
  { config, file }: ReadConfig,
  options: RunOptions,
): Address | undefined {
  const text = options.metrics ?? config.metrics;
  if (text === undefined) return undefined;
  const address = addressIn(text);
  if (address !== undefined) return address;
  const what = "must be HOST:PORT, such as 127.0.0.1:9464";
  if (options.metrics !== undefined) throw usageError(`--metrics ${text}: this ${what}`);
  throw invalidConfig(file, [problemAt("metrics", what)]);
}

/**
 * Returns the address at which the agent listens.
 *
 * @throws CliError `config_invalid` if the port is 0 and the configuration has a public URL: clients could not
 *   know the port.
 */
export function addressOf({ config, file }: ReadConfig, options: RunOptions): Address {
  const { host, port } = config.listen;
  const address = { host: options.host ?? host, port: options.port ?? port };
  if (config.publicUrl === undefined || address.port !== 0) return address;
  const what =
    "is missing; the proxy that forwards calls from publicUrl must know it (or give --port)";
  throw invalidConfig(file, [problemAt("listen.port", what)]);
}
