import { rmSync } from "node:fs";
import { join } from "node:path";
import { Writable } from "node:stream";
import { pino } from "pino";
import type { IssuingAgentOptions } from "../../src/agent/agent-options.js";
import type { Authenticator } from "../../src/agent/caller.js";
import { expandGrants } from "../../src/agent/grant.js";
import {
  createIssuingAgent,
  createPolicyTable,
  type IssuingAgent,
  type PolicyTable,
} from "../../src/agent/index.js";
import type { Approvals } from "../../src/agent/parties/approvals.js";
import { Parties } from "../../src/agent/parties/parties.js";
import type { ResourceNumbers } from "../../src/agent/resources/resource-numbers.js";
import { createFixedTokens, type FixedToken } from "../../src/auth/index.js";
import type { GrantApproval } from "../../src/issuer/grant.js";
import { createIssuer, createKeyring, type Issuer } from "../../src/issuer/index.js";
import {
  type AgentMetrics,
  type AgentServer,
  type AgentServerOptions,
  createAgentMetrics,
  openTaskStore,
  serveAgent,
  type TaskStore,
  type TaskStoreOptions,
} from "../../src/protocols/a2a/index.js";
import { openFolder } from "../../src/sources/index.js";
import {
  createKeyringFile,
  createStores,
  followKeyringFile,
  type LedgerStore,
  openLedger,
  openResourceNumbers,
  openRevocations,
  openStores,
  type RevocationStore,
} from "../../src/stores/index.js";
import { openParties } from "../../src/stores/parties/party-store.js";
import { GRANTS, POLICY, skillsOver, writeDocuments } from "../protocols/a2a/contents.js";
import { temporaryFolder } from "./temporary-folder.js";

/** Options that tests may change. */
export interface TestAgentOptions
  extends Pick<
      AgentServerOptions,
      | "runTask"
      | "grace"
      | "body"
      | "rate"
      | "timeout"
      | "publicUrl"
      | "trustedProxies"
      | "mostRunning"
      | "mostStreams"
      | "verificationUri"
    >,
    Pick<
      IssuingAgentOptions,
      "mode" | "undeclaredAmbient" | "lifetime" | "recordValues" | "maxHandles" | "maxRevocations"
    > {
  /** By default, accepts the fixed tokens of {@link CALLERS}. */
  readonly authenticator?: Authenticator;
  /** The origins allowed for push notifications; by default, push is not offered. */
  readonly pushOrigins?: readonly string[];
  /** The delegates in the card; by default, the card lists none. */
  readonly delegates?: NonNullable<AgentServerOptions["card"]["delegates"]>;
  /** The issuer's name; by default, `documents-agent`. */
  readonly name?: string;
  /** Approval rules by grant id; without these rules, there are no parties. */
  readonly approval?: { readonly [grant: string]: GrantApproval };
  /** The folder of a stopped agent, to start the agent again; by default, a new folder. */
  readonly again?: string;
  /** `false` for an issuer without a cache of verified tokens. */
  readonly cache?: false;
  /** Options of the task store. */
  readonly keeping?: Pick<TaskStoreOptions, "quota" | "lease">;
}

/** An issuing agent with real parts: files, stores, ledger, HTTP. */
export interface TestAgent {
  /** The folder with all files of the agent. */
  readonly home: string;
  readonly server: AgentServer;
  readonly agent: IssuingAgent;
  readonly issuer: Issuer;
  readonly revocations: RevocationStore;
  readonly ledger: LedgerStore;
  readonly tasks: TaskStore;
  readonly policy: PolicyTable;
  readonly approvals: Approvals;
  readonly metrics: AgentMetrics;
  readonly resourceNumbers: ResourceNumbers;
  /** The skills that have run, in order. */
  readonly ran: readonly string[];
  /** All log entries. */
  logged(): string;
  /** Advances the agent's clock. */
  advance(milliseconds: number): void;
  /** Stops serving, closes the stores, and keeps the files. */
  stop(): Promise<void>;
  /** Stops the agent, and removes its files. */
  remove(): Promise<void>;
}

/** Development tokens by caller. */
export const CALLERS = {
  alice: "development-token-of-alice",
  /** Alice through another agent. */
  calendar: "development-token-of-alice-through-calendar",
  bob: "development-token-of-bob",
  carol: "development-token-of-carol",
} as const;

/** A caller with a development token. */
export type Who = keyof typeof CALLERS;

const FIXED: readonly FixedToken[] = [
  { token: CALLERS.alice, principal: "alice", invoker: "orchestrator" },
  { token: CALLERS.calendar, principal: "alice", invoker: "calendar" },
  { token: CALLERS.bob, principal: "bob", invoker: "orchestrator" },
  { token: CALLERS.carol, principal: "carol", invoker: "orchestrator" },
];

/**
 * Opens the task store as another instance would, after the lease of the agent has ended: as if the agent had been
 * killed.
 */
export async function startBeside({ home }: TestAgent): Promise<void> {
  const database = await openStores(join(home, "proviso.db"));
  const tasks = await openTaskStore(database, { clock: () => Date.now() + 3_600_000 });
  await tasks.close();
  await database.close();
}

/** Starts an agent with the tests' documents, grants and skills on a free port of 127.0.0.1. */
export async function startAgent(options: TestAgentOptions = {}): Promise<TestAgent> {
  const { mode, lifetime, recordValues, maxHandles, authenticator, name, ...more } = options;
  const { maxRevocations, keeping, approval, again, cache, ...others } = more;
  const { pushOrigins: origins, undeclaredAmbient, delegates, ...serving } = others;
  const home = again ?? temporaryFolder();
  let ahead = 0;
  const clock = (): number => Date.now() + ahead;
  const ran: string[] = [];
  const lines: string[] = [];

  if (again === undefined) {
    createKeyringFile(join(home, "keyring.json"), createKeyring());
    writeDocuments(join(home, "documents"));
  }
  const folder = await openFolder(join(home, "documents"));
  const place = join(home, "proviso.db");
  const stores =
    again === undefined
      ? await createStores(place, { reserve: 0 })
      : await openStores(place, "refuse", { reserve: 0 });
  // No other process revokes anything, so the list is rarely read again.
  const revocations = await openRevocations(stores, { clock, refreshEvery: 1000 });
  const ledger = openLedger(stores, { clock });
  const tasks = await openTaskStore(stores, { clock, ...keeping });
  const resourceNumbers = openResourceNumbers(stores);
  const policy = createPolicyTable(POLICY);
  const metrics = createAgentMetrics(() => ({
    size: revocations.size,
    version: revocations.version,
    age: revocations.age,
  }));
  const skills = skillsOver(folder, (skill) => ran.push(skill));
  const grants = expandGrants(GRANTS, skills).map((grant) => {
    const rule = approval?.[grant.id];
    return rule === undefined ? grant : { ...grant, approval: rule };
  });
  const issuer = createIssuer({
    name: name ?? "documents-agent",
    keys: followKeyringFile(join(home, "keyring.json")),
    revocations,
    clock,
    cache,
    grants,
  });
  const parties = new Parties({
    store: openParties(stores),
    revocations,
    policy,
    clock,
    grants,
  });
  const agent = await createIssuingAgent({
    issuer,
    revocations,
    policy,
    ledger,
    clock,
    skills,
    resources: folder,
    resourceNumbers,
    ...(approval === undefined ? {} : { parties }),
    observe: (observation) => metrics.decided(observation),
    mode,
    undeclaredAmbient,
    lifetime,
    recordValues,
    maxHandles,
    maxRevocations,
  });
  const buffer = new Writable({
    write(chunk, _encoding, done) {
      lines.push(String(chunk));
      done();
    },
  });
  const server = await serveAgent({
    agent,
    tasks,
    metrics,
    log: pino(buffer),
    authenticator:
      authenticator ?? createFixedTokens(FIXED, { development: true, announce: () => {} }),
    card: {
      name: "Documents",
      description: "Documents for tests",
      version: "1.0.0",
      delegates,
    },
    ...(origins === undefined ? {} : { push: { store: tasks.pushConfigs, origins } }),
    ...serving,
  });
  let stopped: Promise<void> | undefined;
  const stop = (): Promise<void> => {
    stopped ??= server.close().finally(async () => {
      await tasks.close();
      await ledger.close();
      await stores.close();
    });
    return stopped;
  };
  return {
    home,
    server,
    agent,
    issuer,
    revocations,
    ledger,
    tasks,
    policy,
    metrics,
    ran,
    stop,
    resourceNumbers,
    approvals: parties.approvals,
    logged: () => lines.join(""),
    advance: (milliseconds) => {
      ahead += milliseconds;
    },
    remove: async () => {
      await stop();
      rmSync(home, { recursive: true, force: true, maxRetries: 3 });
    },
  };
}
