import { resolve } from "node:path";
import { absolutePath, type Context } from "../context.js";
import { type CliError, usageError } from "../exit.js";
import { databaseAt, type HomeChoice } from "../home.js";
import { printable } from "../output.js";
import { invalidConfig, problemAt, type ReadConfig, readConfig } from "../serve/config.js";
import { type Address, addressIn } from "../serve/settings.js";
import type { GateConfig } from "./gate-config.js";
import { assertServerName } from "./gate-names.js";
import { readGateUrl } from "./gate-url.js";
import { GATE_GRANT } from "./new-token.js";
import { type ServerSource, serversFrom } from "./server-sources.js";
import { type WebAccess, webAccess } from "./web-access.js";

/** The options of `proviso mcp gate`. */
export interface GateOptions extends HomeChoice {
  readonly token?: readonly string[];
  readonly grant?: string;
  readonly audience?: string;
  readonly listen?: string;
  readonly allowOrigin?: readonly string[];
  readonly allowHost?: readonly string[];
  readonly upstream?: string;
  readonly name?: string;
  readonly config?: string;
  readonly resolvePaths?: boolean;
  readonly record?: readonly string[];
  readonly keys?: string;
  readonly issuer?: string;
  readonly feed?: string;
  readonly state?: string;
  readonly insecure?: boolean;
}

/** An issuer on another machine. The gate is one of the issuer's services. */
export interface ForeignIssuer {
  readonly file: string;
  readonly name: string;
  readonly feed: string;
  /** The absolute path of the folder for the ledger and the pins. */
  readonly state: string;
}

/** The settings of a gate. A flag takes precedence over the configuration file. */
export interface GateSettings extends WebAccess {
  readonly servers: readonly ServerSource[];
  readonly home: HomeChoice;
  /** The issuer on another machine; `undefined` if the gate has a home. */
  readonly keys: ForeignIssuer | undefined;
  readonly grant: string;
  readonly audience: string | undefined;
  /** The gate's own tokens, each in a form that `--token` accepts. */
  readonly tokens: readonly string[];
  /** The address for Streamable HTTP; `undefined` for standard streams. */
  readonly listen: Address | undefined;
  readonly log: "info" | "warn" | "silent";
  readonly resolvePaths: boolean;
  /** Allows plain HTTP to other machines. */
  readonly insecure: boolean;
  readonly recordValues: readonly string[];
  /** Number of days for which the ledger keeps entries. */
  readonly retention: number | undefined;
}

/**
 * Reads the settings from the flags and the configuration file.
 *
 * @throws CliError if a setting is not valid.
 */
export async function gateSettings(
  context: Context,
  options: GateOptions,
  words: readonly string[],
): Promise<GateSettings> {
  assertOneWay(options, words);
  // Messages name the file by its absolute path, because the user may not know in which folder a host starts the gate.
  const file = options.config === undefined ? undefined : absolutePath(context, options.config);
  const read = file === undefined ? undefined : await readConfig(context, "gate", file);
  const config: Partial<GateConfig> = read?.config ?? {};
  const insecure = options.insecure ?? config.insecure ?? false;
  const listen = listenFrom(options.listen ?? config.listen);
  const tokens = tokensFrom(context, options, read);
  if (listen !== undefined && tokens.length > 0) throw sharedToken(options, read);
  const keys = foreignIssuer(context, options, read);
  if (keys !== undefined) {
    const isConfigured = read !== undefined && options.feed === undefined;
    assertFeed(keys.feed, isConfigured ? `${read.file}: keys.feed` : "--feed", insecure);
  }
  const settings: GateSettings = {
    servers: serversFrom(context, { ...options, insecure }, words, read),
    insecure,
    home: homeChoice(context, options, read),
    keys,
    grant: options.grant ?? config.grant ?? GATE_GRANT,
    audience: options.audience ?? config.audience,
    tokens,
    listen,
    ...webAccess(options, read, listen),
    log: config.log ?? "info",
    resolvePaths: options.resolvePaths ?? config.resolvePaths ?? false,
    recordValues: options.record ?? config.ledger?.values ?? [],
    retention: config.ledger?.retention,
  };
  refuseContradictions(settings);
  return settings;
}

function assertOneWay({ upstream, config, name }: GateOptions, [command]: readonly string[]): void {
  assertServerName("--name", name);
  const ways = [command, upstream, config].filter((way) => way !== undefined);
  if (config !== undefined && name !== undefined) {
    throw usageError("--name is not for --config", "a configuration names its servers itself");
  }
  if (ways.length === 1) return;
  const message = ways.length === 0 ? "no server is named" : "the server is named in two ways";
  throw usageError(message, "give -- COMMAND ARGS..., or --upstream URL, or --config FILE");
}

function sharedToken({ token }: GateOptions, read: ReadConfig<GateConfig> | undefined): CliError {
  const configured = read?.config.token === undefined ? "PROVISO_TOKEN" : `"token" in ${read.file}`;
  const source = token === undefined ? configured : "--token";
  return usageError(
    "a gate that listens must have no token of its own: all who reach it would have it",
    `leave out ${source}; callers send theirs in the header Proviso-Capability`,
  );
}

function refuseContradictions({ keys, audience, insecure, ...others }: GateSettings): void {
  const hasAddresses = others.servers.some(({ kind }) => kind === "address");
  if (insecure && !hasAddresses && keys === undefined) {
    throw usageError("--insecure is for servers over HTTP and for --feed", "leave it out");
  }
  if (keys !== undefined && audience !== undefined) {
    throw usageError(
      "--audience is not for --keys",
      "the audience is the service that they are for",
    );
  }
  if (others.resolvePaths && others.servers.every(({ kind }) => kind === "address")) {
    throw usageError("--resolve-paths is for servers that run on this machine", "leave it out");
  }
}

function homeChoice(
  { env }: Context,
  options: GateOptions,
  read: ReadConfig<GateConfig> | undefined,
): HomeChoice {
  const { home, database } = read?.config ?? {};
  const folder = read?.folder ?? "";
  const placed = database === undefined ? undefined : databaseAt({ cwd: folder }, database);
  const configured = home === undefined ? env["PROVISO_HOME"] : resolve(folder, home);
  return { home: options.home ?? configured, database: options.database ?? placed };
}

function foreignIssuer(
  context: Context,
  { keys, issuer, feed, state, home }: GateOptions,
  read: ReadConfig<GateConfig> | undefined,
): ForeignIssuer | undefined {
  const flags = { "--keys": keys, "--issuer": issuer, "--feed": feed, "--state": state };
  const isGiven = Object.values(flags).some((value) => value !== undefined);
  if (!isGiven) return configuredIssuer(read);
  if (home !== undefined) {
    throw usageError("--keys and --home exclude each other", "the keys are in the place of a home");
  }
  if (keys === undefined || issuer === undefined || feed === undefined || state === undefined) {
    const missing = Object.entries(flags).filter(([, value]) => value === undefined);
    const names = missing.map(([name]) => name).join(", ");
    throw usageError(`${names} missing: --keys, --issuer, --feed and --state belong together`);
  }
  const file = absolutePath(context, keys);
  return { file, name: issuer, feed, state: absolutePath(context, state) };
}

function configuredIssuer(read: ReadConfig<GateConfig> | undefined): ForeignIssuer | undefined {
  const keys = read?.config.keys;
  if (read === undefined || keys === undefined) return undefined;
  const { file, issuer, feed, state } = keys;
  const { folder } = read;
  return { file: resolve(folder, file), name: issuer, feed, state: resolve(folder, state) };
}

/** @throws CliError if the URL of the revocation list is malformed, or is plain HTTP to another machine. */
function assertFeed(feed: string, place: string, insecure: boolean): void {
  readGateUrl(
    feed,
    place,
    insecure,
    "requests for the revocation list",
    "https://agent.example/revocations",
  );
}

function tokensFrom(
  { env }: Context,
  { token }: GateOptions,
  read: ReadConfig<GateConfig> | undefined,
): readonly string[] {
  const { PROVISO_TOKEN: variable } = env;
  const file = read?.config.token;
  if (read !== undefined && file?.startsWith("@")) {
    throw invalidConfig(read.file, [problemAt("token", "is the path of a file; leave out the @")]);
  }
  const configured = file === undefined ? variable : `@${resolve(read?.folder ?? "", file)}`;
  const given = token ?? (configured ? [configured] : []);
  if (!given.includes("-")) return given;
  throw usageError("the token cannot come from standard input", "give it as @FILE");
}

function listenFrom(text: string | undefined): Address | undefined {
  if (text === undefined) return undefined;
  const address = addressIn(text);
  if (address !== undefined) return address;
  throw usageError(
    `--listen ${printable(text)}: this is not HOST:PORT`,
    "write it like 127.0.0.1:8808; port 0 for any",
  );
}
