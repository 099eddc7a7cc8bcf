import { mkdirSync } from "node:fs";
import { join } from "node:path";
import type { Mode } from "../../../src/agent/clearance.js";
import { createIssuingAgent } from "../../../src/agent/create-issuing-agent.js";
import { expandGrants } from "../../../src/agent/grant.js";
import { PolicyTable } from "../../../src/agent/policy-table.js";
import { createFixedTokens } from "../../../src/auth/fixed-tokens.js";
import { createIssuer } from "../../../src/issuer/issuer.js";
import { createKeyring } from "../../../src/issuer/keyring.js";
import { serveAgent } from "../../../src/protocols/a2a/server.js";
import type { TaskRunner } from "../../../src/protocols/a2a/task-runner.js";
import { openTaskStore } from "../../../src/protocols/a2a/tasks/task-store.js";
import { createStores } from "../../../src/stores/database.js";
import { LedgerStore } from "../../../src/stores/ledger/ledger-store.js";
import { openRevocations } from "../../../src/stores/revocations/open-revocations.js";
import type { Holdings, State } from "./holdings.js";
import { type AgentName, accessTokens } from "./people.js";
import { Watched } from "./watched.js";

export interface ServeOptions {
  /** Folder for the agent's stores. */
  readonly home: string;
  readonly mode: Mode;
  readonly clock: () => number;
  readonly runTask: TaskRunner;
  /** The agent's description in its card. */
  readonly description: string;
}

/** A served agent with real parts: stores in files, and HTTP on loopback. */
export interface ServedAgent {
  readonly name: AgentName;
  readonly url: string;
  readonly rpcUrl: string;
  readonly holdings: Holdings;
  /** Reads the agent's contents, tasks and revocations from disk. */
  state(): State;
  /** Internal errors, whose causes the answers do not show. */
  readonly failures: readonly string[];
  close(): Promise<void>;
}

/** Seconds; longer than a working day, so that a capability can last a whole session. */
const LONGEST = 24 * 3600;

/** Serves an agent on a free port of loopback. */
export async function serve(
  name: AgentName,
  holdings: Holdings,
  options: ServeOptions,
): Promise<ServedAgent> {
  const home = join(options.home, `${name}-home`);
  mkdirSync(home);
  const { clock, mode } = options;
  // Ignores two things that do not matter in these tests: disk space that other attempts use, and revocations by other
  // processes.
  const database = await createStores(join(home, "proviso.db"), { reserve: 0 });
  const revocations = await openRevocations(database, { clock, refreshEvery: 1000 });
  const ledger = new LedgerStore(database, { clock });
  const tasks = await openTaskStore(database, { clock });
  const issuer = createIssuer({
    name,
    revocations,
    clock,
    maxLifetime: LONGEST,
    grants: expandGrants(holdings.grants, holdings.skills),
    keys: createKeyring({ clock }),
  });
  const agent = await createIssuingAgent({
    issuer,
    revocations,
    ledger,
    mode,
    clock,
    resources: holdings.source,
    skills: holdings.skills,
    policy: new PolicyTable({ rules: holdings.rules }),
  });
  const failures: string[] = [];
  const server = await serveAgent({
    agent,
    tasks,
    runTask: options.runTask,
    authenticator: createFixedTokens(accessTokens(), { development: true, announce: () => {} }),
    card: { name, description: options.description, version: "1.0.0" },
    log: {
      info: () => {},
      warn: () => {},
      error: (fields) => void failures.push(JSON.stringify(fields)),
    },
    // No rate limits: an attack must be stopped by capabilities.
    rate: { requests: 1_000_000, seconds: 1 },
    mostRunning: 1000,
    timeout: 300_000,
  });
  const seen = [
    new Watched(join(home, "proviso.db"), "SELECT id, state FROM task ORDER BY seq", (row) => {
      const { id, state } = row as { readonly id: string; readonly state: number };
      return [`tasks/${name}/${JSON.parse(id)}`, String(state)];
    }),
    new Watched(join(home, "proviso.db"), "SELECT kind, id FROM revocation", (row) => {
      const { kind, id } = row as { readonly kind: string; readonly id: string };
      return [`revoked/${kind}/${JSON.parse(id)}`, "revoked"];
    }),
  ];
  return {
    name,
    url: server.url,
    rpcUrl: server.rpcUrl,
    holdings,
    failures,
    state: () => new Map([...holdings.state(), ...seen.flatMap((one) => [...one.read()])]),
    close: async () => {
      await server.close();
      for (const one of seen) one.close();
      await tasks.close();
      await ledger.close();
      await database.close();
      holdings.close();
    },
  };
}
