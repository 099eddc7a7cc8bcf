import { resolve } from "node:path";
import { openHome } from "../../src/home/open-home.js";
import { withoutSecrets } from "../../src/http/log.js";
import { createSessionHost, type SessionHost } from "../../src/protocols/a2e/host.js";
import type { SessionPlugin } from "../../src/protocols/a2e/plugin.js";
import { pluginGrants } from "../../src/protocols/a2e/registry.js";
import type { SessionAddress } from "../../src/protocols/a2e/socket.js";
import type { Context } from "../context.js";
import { environmentError } from "../exit.js";
import { type HomeChoice, loadingShown } from "../home.js";
import { printable, say } from "../output.js";
import { fromConfig, type ReadConfig, refuseConfig } from "../serve/config.js";
import { listenFlagError } from "../serve/listen.js";
import { warn, warnOfLedger } from "../serve/log.js";
import { type Closing, closeAll, openAll, pruneHourly } from "../serve/opened.js";
import {
  keepInForce,
  type PolicyInForce,
  type ReadPolicy,
  readPolicy,
  unknownTerms,
} from "../serve/policy.js";
import { homeOf, revocationListOf } from "../serve/settings.js";
import { sessionAgent } from "./agent.js";
import { memoryPlugin, openPlugins } from "./plugins.js";
import type { SessionConfig } from "./session-config.js";

export interface RunningHost {
  /** The address; `stdio` if the host serves standard input and output. */
  readonly address: string;
  /** Notes for the operator, one per line. */
  readonly notes: readonly string[];
  /**
   * The promise is fulfilled when the session over standard streams has ended. For a host that listens, it is
   * never fulfilled.
   */
  readonly over: Promise<void>;
  /**
   * Waits for running calls, and closes everything.
   *
   * @throws The first error.
   */
  close(): Promise<void>;
}

/** Options of the command line, which override the configuration. */
export interface HostOptions extends HomeChoice {
  readonly at?: SessionAddress | "stdio" | undefined;
}

/**
 * Starts the host that a configuration describes. If anything fails, closes every part that is already open.
 *
 * @throws CliError if the configuration, the home, the tools or the address is invalid.
 * @throws StorageError if a store cannot be opened.
 */
export async function runHost(
  context: Context,
  read: ReadConfig<SessionConfig>,
  options: HostOptions,
): Promise<RunningHost> {
  return openAll((opened) => open(context, read, options, opened));
}

async function open(
  context: Context,
  read: ReadConfig<SessionConfig>,
  options: HostOptions,
  opened: Closing[],
): Promise<RunningHost> {
  const { config, file } = read;
  const policy = await policyOf(read);
  const { files, config: listed } = homeOf(context, read, options);
  const home = await openHome({
    folder: files.folder,
    database: files.database,
    onLoading: loadingShown(context),
    revocations: revocationListOf(read),
    ledger: {
      retention: config.ledger.retention,
      onProblem: (problem) => warnOfLedger(context, problem),
    },
  });
  opened.push(() => home.close());
  const prunings = [
    () => home.revocations.prune(),
    () => home.ledger.prune(),
    () => home.partyStore.prune(Date.now()),
  ];
  opened.push(pruneHourly(prunings, (message) => warn(context, message)));
  const plugins = await openPlugins(
    read,
    (server, line) => say(context, printable(`${server}: ${line}`)),
    context.env["PATH"],
  );
  plugins.push(...(await memoryPlugin(read, home.database)));
  // The host also closes the plugins. Closing a plugin twice does nothing.
  opened.push(() => Promise.all(plugins.map((plugin) => plugin.close?.())));
  const inForce = policy && following(context, policy, plugins, file);
  if (inForce !== undefined) opened.push(inForce.close);
  const agent = await sessionAgent(read, home, listed, plugins, inForce?.policy);
  const host = await hostOf(context, read, { agent, plugins });
  opened.push(() => host.close());
  const { address, over } = await served(context, host, options.at ?? addressIn(read));
  const notes = [
    `issuer ${home.issuer.name}, home ${files.folder}`,
    `capabilities ${[...new Set(plugins.map(({ type }) => type))].join(", ")}`,
    ...(config.ambient === undefined
      ? []
      : [`peers without a token act for ${config.ambient.principal}, where the policy allows it`]),
  ];
  return { address, notes, over, close: () => closeAll(opened) };
}

async function policyOf({
  config: { policy },
  ...placed
}: ReadConfig<SessionConfig>): Promise<ReadPolicy | undefined> {
  return policy === undefined ? undefined : readPolicy({ config: { policy }, ...placed });
}

/**
 * Returns the policy, which follows the changes of a separate policy file.
 *
 * @throws CliError `config_invalid`.
 */
function following(
  context: Context,
  policy: ReadPolicy,
  plugins: readonly SessionPlugin[],
  file: string,
): PolicyInForce {
  const { source, definition } = policy;
  const needed = pluginGrants(plugins);
  const terms = {
    grants: needed.map(({ id }) => id),
    operations: needed.flatMap(({ operations }) => operations),
  };
  const unknown = unknownTerms(definition, terms, source === undefined ? "policy." : "");
  refuseConfig(source?.file ?? file, unknown);
  return keepInForce(context, policy, terms);
}

function hostOf(
  context: Context,
  { config, file }: ReadConfig<SessionConfig>,
  parts: Pick<Parameters<typeof createSessionHost>[0], "agent" | "plugins">,
): Promise<SessionHost> {
  const { ambient, omitUnavailable, limits, rate } = config;
  return fromConfig(file, () =>
    createSessionHost({
      ...parts,
      omitUnavailable,
      limits,
      rate,
      ...(ambient === undefined
        ? {}
        : { ambient: { principal: ambient.principal, invoker: ambient.invoker } }),
      onFailure(error, what) {
        const words = error instanceof Error ? error.message : "something that is not an error";
        warn(context, `${what} failed: ${withoutSecrets(words.slice(0, MAX_WORDS))}`);
      },
    }),
  );
}

const MAX_WORDS = 500;

function addressIn({ config, folder }: ReadConfig<SessionConfig>): SessionAddress {
  const { path, host, port } = config.listen;
  return path === undefined ? { host, port } : { path: resolve(folder, path) };
}

/** Listens at an address, or serves a single session on standard input and output. */
async function served(
  context: Context,
  host: SessionHost,
  at: SessionAddress | "stdio",
): Promise<{ readonly address: string; readonly over: Promise<void> }> {
  if (at === "stdio") return { address: at, over: host.accept(context.stdio()) };
  const over = new Promise<void>(() => {});
  try {
    return { address: await host.listen(at), over };
  } catch (error) {
    throw unlistenable(error, at);
  }
}

function unlistenable(error: unknown, at: SessionAddress): unknown {
  if ("port" in at) {
    return listenFlagError(error, { host: at.host ?? "127.0.0.1", port: at.port });
  }
  const why = error instanceof Error ? error.message : "it cannot be made";
  const hint = "name another with --unix, in a folder that this user may write";
  return environmentError("socket_unusable", printable(why), hint);
}
