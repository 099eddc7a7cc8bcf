// cli/serve/: what `proviso serve` does with its configuration: read it, check it, open what it names, and
// wire an agent that serves.

import { join } from "node:path";
import { createIssuingAgent } from "../../src/agent/create-issuing-agent.js";
import { AgentMetrics, type RevocationGauge } from "../../src/http/metrics.js";
import { createIssuer } from "../../src/issuer/issuer.js";
import { type AgentServer, serveAgent } from "../../src/protocols/a2a/server.js";
import { openStores } from "../../src/stores/database.js";
import { followKeyringFile } from "../../src/stores/follow-keyring.js";
import { LedgerStore } from "../../src/stores/ledger/ledger-store.js";
import { ResourceNumberStore } from "../../src/stores/resource-numbers.js";
import { openRevocationStore } from "../../src/stores/revocations/open-store.js";
import type { RevocationStore } from "../../src/stores/revocations/revocation-store.js";
import { openTaskStore } from "../../src/stores/tasks/task-store.js";
import type { Context } from "../context.js";
import { say } from "../output.js";
import { printable } from "../printable.js";
import { openCallers } from "./callers.js";
import { fromConfig, type ReadConfig } from "./config.js";
import { consoleToLog } from "./console.js";
import { keepHouse } from "./housekeeping.js";
import { listeningError } from "./listen.js";
import { followPolicy, type PolicyTerms, type ReadPolicy, readPolicy } from "./policy.js";
import { openResources } from "./resources.js";
import { addressOf, assertSameGrants, homeFor, type RunOptions } from "./settings.js";
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
  const policy = await readPolicy(read);
  const { authenticator, warning } = await openCallers(read);
  const { paths, config: issued, lifetime, maxLifetime } = homeFor(context, read, options);
  const log = newLog(context, config.log);
  opened.push(consoleToLog(log));

  const keys = followKeyringFile(paths.keyring);
  const store = await openRevocationStore(paths.store);
  opened.push(() => store.close());
  const database = await openStores(join(paths.folder, "ledger.db"), "create");
  opened.push(() => database.close());
  const ledger = new LedgerStore(database, {
    retention: config.ledger.retention,
    onProblem: (problem) => warnOfLedger(context, problem),
  });
  opened.push(() => ledger.close());
  const stores = await openStores(join(paths.folder, "proviso.db"), "create");
  opened.push(() => stores.close());
  const tasks = await openTaskStore(stores, {
    onProblem: (error) => warn(context, error.message),
  });
  opened.push(keepHouse({ tasks, store, ledger, onProblem: (message) => warn(context, message) }));
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

  const metrics = new AgentMetrics(revocationGauge(store));
  const { issuer: issuerName } = issued;
  const issuer = createIssuer({ name: issuerName, keys, revocations: store, maxLifetime, grants });
  const agent = await fromConfig(read.file, () =>
    createIssuingAgent({
      ...{ issuer, revocations: store, ledger, lifetime, mode: config.mode },
      ...{ skills: module.skills, policy: policy.table },
      resourceNumbers: new ResourceNumberStore(stores),
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
  opened.push(follow(context, policy, terms));

  const { url, cardUrl, rpcUrl, restUrl } = server;
  const rules = policy.definition.rules.length;
  return {
    ...{ url, cardUrl, rpcUrl, restUrl, mode: agent.mode, issuer: issuer.name, home: paths.folder },
    ...{ grants: [...agent.grants.keys()], skills: [...agent.skills.keys()] },
    policy: policy.source === undefined ? { rules } : { rules, file: policy.source.file },
    ...(warning === undefined ? {} : { warning }),
    ...(publicUrl === undefined ? {} : { listening: `${address.host}:${address.port}` }),
    close: () => closeAll(opened),
  };
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

/** What there is to tell of a store. */
function revocationGauge(store: RevocationStore): () => RevocationGauge {
  return () => ({ size: store.list().length, version: store.version, age: store.age });
}
