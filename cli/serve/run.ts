// Starts the agent of `proviso serve`: opens the parts that the configuration names, and connects them.

import { createIssuingAgent } from "../../src/agent/create-issuing-agent.js";
import { grantDifferences } from "../../src/home/home-config.js";
import { openHome } from "../../src/home/open-home.js";
import { AgentMetrics } from "../../src/http/metrics.js";
import { serveMetrics } from "../../src/http/status.js";
import { openTaskStore } from "../../src/protocols/a2a/tasks/task-store.js";
import type { Context } from "../context.js";
import { loadingShown } from "../home.js";
import { printable, say } from "../output.js";
import { openCallers } from "./callers.js";
import { fromConfig, problemAt, type ReadConfig, refuseConfig } from "./config.js";
import { openConsole } from "./console.js";
import { listeningError } from "./listen.js";
import { answerWhileLoading } from "./loading.js";
import { consoleToLog, newLog, warn, warnOfLedger } from "./log.js";
import { type Closing, closeAll, openAll, pruneHourly } from "./opened.js";
import { openServedParties } from "./parties.js";
import { keepInForce, readPolicy } from "./policy.js";
import { type ServedAgent, serveProtocols } from "./protocols.js";
import { openResources } from "./resources.js";
import {
  type Address,
  addressOf,
  agentHome,
  feedMaxAgeOf,
  metricsAddressOf,
  type RunOptions,
  revocationListOf,
} from "./settings.js";
import { checkTogether, loadSkills, skillsFault } from "./skills.js";

export interface RunningAgent {
  readonly server: ServedAgent;
  readonly mode: string;
  /** Notes for the operator, one per line, warnings first. */
  readonly notes: readonly string[];
  /**
   * Finishes pending work, and closes everything.
   *
   * @throws The first error of closing.
   */
  close(): Promise<void>;
}

const DAY = 24 * 60 * 60 * 1000;

/**
 * Starts the agent that a configuration describes. If anything fails, closes every part that is already open.
 *
 * @throws CliError if the configuration, the home, the skills or the address is invalid.
 * @throws StorageError if a store cannot be opened.
 */
export async function runAgent(
  context: Context,
  read: ReadConfig,
  options: RunOptions,
): Promise<RunningAgent> {
  return openAll((opened) => open(context, read, options, opened));
}

async function open(
  context: Context,
  read: ReadConfig,
  options: RunOptions,
  opened: Closing[],
): Promise<RunningAgent> {
  const { config, folder } = read;
  const address = addressOf(read, options);
  const metricsAt = metricsAddressOf(read, options);
  const feedMaxAge = feedMaxAgeOf(read);
  const policy = await readPolicy(read);
  const { authenticator, warning } = await openCallers(read);
  const console = await openConsole(context, read, authenticator, address);
  const { files, config: issued, lifetime, maxLifetime } = agentHome(context, read, options);
  const log = newLog(context, config.log);
  opened.push(consoleToLog(log));

  const resources = await openResources(read, (message) =>
    say(context, `note: ${printable(message)}`),
  );
  if (resources !== undefined) opened.push(() => resources.close());
  const module = await loadSkills(read, {
    ...(resources === undefined ? {} : { resources: resources.source }),
    ...(resources?.path === undefined ? {} : { resourcesPath: resources.path }),
    home: files.folder,
    configFolder: folder,
  });
  opened.push(() => module.close?.());
  const { grants, terms } = checkTogether(read, policy, module);
  const differences = grantDifferences(issued, grants, files.config);
  refuseConfig(
    read.file,
    differences.map((what) => problemAt("grants", what)),
  );

  const inForce = keepInForce(context, policy, terms);
  opened.push(inForce.close);

  const { database: place, folder: homeFolder } = files;
  const shown = loadingShown(context);
  const loading = answerWhileLoading(address);
  opened.push(() => loading.close());
  const home = await openHome({
    folder: homeFolder,
    database: place,
    grants,
    maxLifetime,
    onLoading: (part) => {
      shown(part);
      loading.onLoading(part);
    },
    revocations: revocationListOf(read),
    ledger: {
      retention: config.ledger.retention,
      onProblem: (problem) => warnOfLedger(context, problem),
    },
  });
  opened.push(() => home.close());
  const { issuer, revocations, ledger, resourceNumbers } = home;
  const tasks = await openTaskStore(home.database, {
    quota: { tasks: config.tasks.count, bytes: config.tasks.bytes },
    onProblem: (error) => warn(context, error.message),
  });
  opened.push(() => tasks.close());
  const parties = await openServedParties(read, {
    home,
    policy: inForce.policy,
    grants,
    skills: module.skills,
  });
  const prunings = [
    () => tasks.prune(Date.now() - config.tasks.retention * DAY),
    () => revocations.prune(),
    () => ledger.prune(),
    () => parties.approvals.expire(),
    () => home.partyStore.prune(Date.now()),
  ];
  opened.push(pruneHourly(prunings, (message) => warn(context, message)));

  const metrics = metricsAt === undefined ? undefined : new AgentMetrics(() => revocations);
  const agent = await fromConfig(read.file, () =>
    createIssuingAgent({
      issuer,
      revocations,
      ledger,
      resourceNumbers,
      lifetime,
      mode: config.mode,
      skills: module.skills,
      policy: inForce.policy,
      parties,
      resources: resources?.source,
      undeclaredAmbient: config.undeclaredAmbient,
      maxHandles: config.maxHandles,
      maxRevocations: config.limits.revocations,
      recordValues: config.ledger.values,
      observe: (observation) => metrics?.decided(observation),
    }).catch((error: unknown) => {
      throw skillsFault(read, error) ?? error;
    }),
  );
  const { runTask } = module;
  const parts = {
    config,
    file: read.file,
    agent,
    authenticator,
    tasks,
    runTask,
    log,
    metrics,
    keys: home.keys,
    revocations,
    feedMaxAge,
    ledger,
    policy: inForce.policy,
    parties,
    partyStore: home.partyStore,
    health: home.problems,
    console,
  };
  await loading.close();
  const server = await fromConfig(
    read.file,
    () => serveProtocols(parts, address),
    (words) => words.replace(/^agents(?=\[)/, "delegation.agents"),
  ).catch((error: unknown) => {
    throw listeningError(error, address);
  });
  opened.push(() => server.close());
  const metricsUrl = await openMetrics(metrics, metricsAt, opened);

  const rules = policy.definition.rules.length;
  const source =
    policy.source === undefined ? "" : ` from ${policy.source.file}, followed while it changes`;
  const notes = [
    warning,
    ...server.warnings,
    config.publicUrl === undefined ? undefined : `listening at ${address.host}:${address.port}`,
    `issuer ${issuer.name}, home ${homeFolder}`,
    `grants ${[...agent.grants.keys()].join(", ")}; skills ${[...agent.skills.keys()].join(", ")}`,
    `policy ${rules === 1 ? "one rule" : `${rules} rules`}${source}`,
    metricsUrl === undefined ? undefined : `metrics ${metricsUrl}`,
  ].filter((note) => note !== undefined);
  return { server, mode: agent.mode, notes, close: () => closeAll(opened) };
}

async function openMetrics(
  metrics: AgentMetrics | undefined,
  address: Address | undefined,
  opened: Closing[],
): Promise<string | undefined> {
  if (address === undefined || metrics === undefined) return undefined;
  try {
    const { url, close } = await serveMetrics(metrics, address);
    opened.push(close);
    return url;
  } catch (error) {
    throw listeningError(error, address);
  }
}
