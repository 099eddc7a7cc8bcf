// cli/serve/: what `proviso serve` does with its configuration: read it, check it, open what it names, and
// wire an agent that serves.

import { createIssuingAgent } from "../../src/agent/create-issuing-agent.js";
import { AgentMetrics, type RevocationGauge } from "../../src/http/metrics.js";
import { serveMetrics } from "../../src/http/status.js";
import { createIssuer } from "../../src/issuer/issuer.js";
import { type AgentServer, serveAgent } from "../../src/protocols/a2a/server.js";
import { openStores } from "../../src/stores/database.js";
import { followKeyringFile } from "../../src/stores/follow-keyring.js";
import { LedgerStore } from "../../src/stores/ledger/ledger-store.js";
import { ResourceNumberStore } from "../../src/stores/resource-numbers.js";
import { openRevocations } from "../../src/stores/revocations/open-revocations.js";
import type { RevocationStore } from "../../src/stores/revocations/revocation-store.js";
import { openTaskStore } from "../../src/stores/tasks/task-store.js";
import type { Context } from "../context.js";
import { say } from "../output.js";
import { printable } from "../printable.js";
import { openCallers } from "./callers.js";
import { fromConfig, type ReadConfig } from "./config.js";
import { consoleToLog } from "./console.js";
import { healthOf } from "./health.js";
import { listeningError } from "./listen.js";
import { followPolicy, type PolicyTerms, type ReadPolicy, readPolicy } from "./policy.js";
import { pruneHourly } from "./prune.js";
import { openResources } from "./resources.js";
import {
  type Address,
  addressOf,
  assertSameGrants,
  homeFor,
  metricsAddressOf,
  type RunOptions,
} from "./settings.js";
import { checkTogether, loadSkills } from "./skills.js";
import { newLog, warn, warnOfLedger } from "./talk.js";

/** An agent that serves. */
export interface RunningAgent extends Omit<AgentServer, "close"> {
  readonly issuer: string;
  readonly mode: string;
  readonly home: string;
  /** Where it listens, where callers use another address. */
  readonly listening?: string;
  readonly grants: readonly string[];
  readonly skills: readonly string[];
  /** How many rules the policy has, and the file that it is followed in. */
  readonly policy: { readonly rules: number; readonly file?: string };
  /** Where the metrics are, if they are served. */
  readonly metricsUrl?: string;
  /** What the operator must be told, before anything else. */
  readonly warning?: string;
  /** Finishes what is under way, and closes everything. @throws What closing throws, the first. */
  close(): Promise<void>;
}

type Closing = () => void | Promise<void>;

/**
 * Starts the agent of a configuration. If anything fails, everything that was opened is closed again.
 *
 * @throws CliError if the configuration, the home, the skills or the address do not do.
 * @throws StorageError if a store can not be opened.
 */
export async function runAgent(
  context: Context,
  read: ReadConfig,
  options: RunOptions,
): Promise<RunningAgent> {
  const opened: Closing[] = [];
  try {
    return await open(context, read, options, opened);
  } catch (error) {
    await closeAll(opened).catch(() => {});
    throw error;
  }
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
  const policy = await readPolicy(read);
  const { authenticator, warning } = await openCallers(read);
  const { paths, config: issued, lifetime, maxLifetime } = homeFor(context, read, options);
  const log = newLog(context, config.log);
  opened.push(consoleToLog(log));

  const keys = followKeyringFile(paths.keyring);
  const database = await openStores(paths.database);
  opened.push(() => database.close());
  const revocations = await openRevocations(database);
  const ledger = new LedgerStore(database, {
    retention: config.ledger.retention,
    onProblem: (problem) => warnOfLedger(context, problem),
  });
  opened.push(() => ledger.close());
  const tasks = await openTaskStore(database, {
    onProblem: (error) => warn(context, error.message),
  });
  opened.push(() => tasks.close());
  opened.push(
    pruneHourly({ tasks, revocations, ledger, onProblem: (message) => warn(context, message) }),
  );
  const resources = await openResources(read, (message) =>
    say(context, `note: ${printable(message)}`),
  );
  if (resources !== undefined) opened.push(() => resources.close());
  const module = await loadSkills(read, {
    ...(resources === undefined
      ? {}
      : {
          resources: resources.source,
          ...(resources.path === undefined ? {} : { resourcesPath: resources.path }),
        }),
    home: paths.folder,
    configFolder: folder,
  });
  opened.push(() => module.close?.());
  const { grants, terms } = checkTogether(read, policy, module);
  assertSameGrants(read, paths.config, issued.grants, grants);

  const metrics = new AgentMetrics(revocationGauge(revocations));
  const { issuer: issuerName } = issued;
  const issuer = createIssuer({ name: issuerName, keys, revocations, maxLifetime, grants });
  const agent = await fromConfig(read.file, () =>
    createIssuingAgent({
      ...{ issuer, revocations, ledger, lifetime, mode: config.mode },
      ...{ skills: module.skills, policy: policy.table },
      resourceNumbers: new ResourceNumberStore(database),
      ...(resources === undefined ? {} : { resources: resources.source }),
      ...(config.undeclaredAmbient === undefined
        ? {}
        : { undeclaredAmbient: config.undeclaredAmbient }),
      ...(config.maxHandles === undefined ? {} : { maxHandles: config.maxHandles }),
      recordValues: config.ledger.values,
      observe: (observation) => metrics.decided(observation),
    }),
  );
  const { name, description, version, publicUrl, push } = config;
  const { bodyBytes, bodyDepth, timeoutMs, ...rate } = config.limits;
  let server: AgentServer;
  try {
    server = await serveAgent(
      {
        ...{ agent, authenticator, tasks, log, metrics, card: { name, description, version } },
        health: healthOf({ database, revocations, keys }),
        ...(module.runTask === undefined ? {} : { runTask: module.runTask }),
        ...(publicUrl === undefined ? {} : { publicUrl }),
        ...(push === undefined ? {} : { push: { store: tasks.pushConfigs, ...push } }),
        ...{ body: { bytes: bodyBytes, depth: bodyDepth }, rate, timeout: timeoutMs },
      },
      address,
    );
  } catch (error) {
    throw listeningError(error, address);
  }
  opened.push(() => server.close());
  const metricsUrl = await openMetrics(metrics, metricsAt, opened);
  opened.push(follow(context, policy, terms));

  const { url, cardUrl, rpcUrl, restUrl } = server;
  const rules = policy.definition.rules.length;
  return {
    ...{ url, cardUrl, rpcUrl, restUrl, mode: agent.mode, issuer: issuer.name, home: paths.folder },
    ...{ grants: [...agent.grants.keys()], skills: [...agent.skills.keys()] },
    policy: policy.source === undefined ? { rules } : { rules, file: policy.source.file },
    ...(warning === undefined ? {} : { warning }),
    ...(metricsUrl === undefined ? {} : { metricsUrl }),
    ...(publicUrl === undefined ? {} : { listening: `${address.host}:${address.port}` }),
    close: () => closeAll(opened),
  };
}

/** Serves the metrics, if there is an address for them. */
async function openMetrics(
  metrics: AgentMetrics,
  address: Address | undefined,
  opened: Closing[],
): Promise<string | undefined> {
  if (address === undefined) return undefined;
  try {
    const { url, close } = await serveMetrics(metrics, address);
    opened.push(close);
    return url;
  } catch (error) {
    throw listeningError(error, address);
  }
}

/** Closes in the opposite order, each whatever became of the others. */
async function closeAll(opened: Closing[]): Promise<void> {
  const failures: unknown[] = [];
  for (let close = opened.pop(); close !== undefined; close = opened.pop()) {
    try {
      await close();
    } catch (error) {
      failures.push(error);
    }
  }
  if (failures.length > 0) throw failures[0];
}

function follow(context: Context, { table, source }: ReadPolicy, terms: PolicyTerms): Closing {
  if (source === undefined) return () => {};
  const followed = followPolicy(table, source, terms, (message, ok) => {
    if (ok) say(context, printable(message));
    else warn(context, message);
  });
  return () => followed.stop();
}

function revocationGauge(revocations: RevocationStore): () => RevocationGauge {
  return () => ({ size: revocations.size, version: revocations.version, age: revocations.age });
}
