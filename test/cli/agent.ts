import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import type { ServerResponse } from "node:http";
import { join } from "node:path";
import type { Mode, UndeclaredAmbient } from "../../src/agent/clearance.js";
import { expandGrants } from "../../src/agent/grant.js";
import { createIssuingAgent, createPolicyTable, type Skill } from "../../src/agent/index.js";
import type { Approvals } from "../../src/agent/parties/approvals.js";
import { Parties } from "../../src/agent/parties/parties.js";
import { createFixedTokens } from "../../src/auth/index.js";
import type { HopInit } from "../../src/caveats/hop.js";
import type { Grant } from "../../src/issuer/grant.js";
import { createIssuer, createKeyring, createRevocationList } from "../../src/issuer/index.js";
import {
  type AgentServer,
  openTaskStore,
  type RateLimit,
  serveAgent,
} from "../../src/protocols/a2a/index.js";
import { openFolder, type ResourceFolder } from "../../src/sources/index.js";
import { createStores, type LedgerStore, openLedger } from "../../src/stores/index.js";
import { openParties } from "../../src/stores/parties/party-store.js";
import { temporaryFolder } from "../support/temporary-folder.js";

/** The access tokens that the agent of {@link startAgent} accepts. */
export const ALICE = "access-of-alice-0123456789";
export const BOB = "access-of-bob-0123456789";

/** A string with control sequences that would affect a terminal. */
export const NASTY = "\u001b[31mred\u001b[0m \u202egnp.exe";

/**
 * Matches a character that must not reach a terminal. Line breaks and tabs are allowed, since the program
 * itself writes them.
 */
export const UNSAFE: RegExp = /(?![\n\t])[\p{Cc}\p{Cf}]/u;

/** An agent that runs in the process of the tests. */
export interface RunningAgent extends AgentServer {
  readonly ledger: LedgerStore;
  readonly ledgerPath: string;
  /** The pending approvals. */
  readonly approvals: Approvals;
  /** Stops the agent and closes its stores. */
  stop(): Promise<void>;
}

export interface AgentChoices {
  readonly mode?: Mode;
  readonly undeclaredAmbient?: UndeclaredAmbient;
  readonly rate?: RateLimit;
  readonly publicUrl?: string;
  /** True if the agent serves a page to browsers. */
  readonly page?: boolean;
  /** True if the agent also offers payments. Alice must approve each payment. */
  readonly payments?: boolean;
}

const DOCUMENTS: Readonly<Record<string, string>> = {
  "reports/q1.md":
    "---\ntitle: First quarter\nyear: 2025\nquarter: 1\ndate: 2025-04-03\n---\nSales were flat.\n",
  "reports/q3.md": `---\ntitle: Third quarter\nyear: 2025\nquarter: 3\n---\nAll went well.\n\nNext: ${NASTY}\tend\n`,
  "reports/old.md": "---\ntitle: Long ago\nyear: 1999\nquarter: 4\n---\nForgotten.\n",
  "notes/milk.md": "---\ntitle: Milk\n---\nBuy milk.\n",
};

const GRANTS: readonly Grant[] = [
  {
    id: "documents:read",
    description: "Read documents",
    operations: ["retrieve", "list", "fail"],
  },
  {
    id: "documents:write",
    description: "Change documents",
    operations: ["delete"],
    requires: ["documents:read"],
    attenuable: false,
  },
  {
    id: "documents:archive",
    description: "The old archive",
    operations: ["*"],
    legacy: true,
  },
];

/** Starts a documents agent for Alice. It has a grant to read, a grant to write, and a legacy grant. */
export async function startAgent(choices: AgentChoices = {}): Promise<RunningAgent> {
  const path = temporaryFolder();
  for (const [name, text] of Object.entries(DOCUMENTS)) {
    mkdirSync(join(path, "documents", name, ".."), { recursive: true });
    writeFileSync(join(path, "documents", name), text);
  }
  const folder = await openFolder(join(path, "documents"));
  const ledgerPath = join(path, "proviso.db");
  const database = await createStores(ledgerPath);
  const ledger = openLedger(database, { interval: 0 });
  const tasks = await openTaskStore(database);
  const revocations = createRevocationList();
  const skills = skillsOver(folder);
  const { mode, undeclaredAmbient, payments = false, ...server } = choices;
  if (payments) skills.push(TRANSFER);
  const grants = payments ? [...GRANTS, PAYMENTS] : GRANTS;
  const parties = new Parties({ store: openParties(database), revocations, grants });
  const agent = await createIssuingAgent({
    issuer: createIssuer({
      name: "documents-agent",
      keys: createKeyring(),
      revocations,
      grants: expandGrants(grants, skills),
    }),
    revocations,
    ledger,
    resources: folder,
    skills,
    lifetime: 900,
    parties,
    mode,
    undeclaredAmbient,
    policy: createPolicyTable({
      rules: [
        { principal: "alice", grant: "documents:read", operations: "*" },
        {
          principal: "alice",
          grant: "documents:write",
          operations: ["delete"],
          resources: { collections: ["notes"] },
        },
        { principal: "alice", grant: "documents:archive", operations: "*" },
        { principal: "alice", grant: "payments:transfer", operations: "*" },
      ],
    }),
  });
  const running = await serveAgent({
    agent,
    tasks,
    ...server,
    authenticator: createFixedTokens(
      [
        { token: ALICE, principal: "alice", invoker: "assistant" },
        { token: BOB, principal: "bob", invoker: "assistant" },
      ],
      { development: true, announce: () => {} },
    ),
    card: {
      name: "documents-agent",
      description: "Documents of a small firm",
      version: "1.2.3",
      collections: [{ name: "reports", fields: ["quarter", "year"] }, { name: "notes" }],
    },
    log: { info: () => {}, warn: () => {}, error: () => {} },
  });
  return {
    ...running,
    ledger,
    ledgerPath,
    approvals: parties.approvals,
    stop: async () => {
      await running.close();
      await tasks.close();
      await ledger.close();
      await database.close();
      rmSync(path, { recursive: true, force: true });
    },
  };
}

/** Approves or denies every request that waits for Alice. */
export async function decideAll(
  { approvals }: Pick<RunningAgent, "approvals">,
  answer: "approve" | "deny",
  hop?: HopInit,
): Promise<void> {
  for (const { id, digest } of await approvals.waitingFor("alice")) {
    const hops = hop === undefined ? {} : { hops: { 0: hop } };
    const reason = answer === "deny" ? { reason: `not before Friday ${NASTY}` } : {};
    await approvals.decide(id, { principal: "alice" }, { answer, digest, ...hops, ...reason });
  }
}

const PAYMENTS: Grant = {
  id: "payments:transfer",
  description: "Transfer money",
  operations: ["transfer"],
  approval: {},
};

const TRANSFER: Skill = {
  id: "transfer_funds",
  name: "Transfer funds",
  description: "From the firm's account",
  operation: "transfer",
  reach: "none",
  effect: "write",
  input: {
    type: "object",
    additionalProperties: false,
    required: ["amount"],
    properties: { amount: { type: "number" } },
  },
  run: async ({ arguments: { amount = null } }) => ({ transferred: amount }),
};

const HANDLE = { type: "string", format: "resource-handle" } as const;

function skillsOver(folder: ResourceFolder): Skill[] {
  const closed = { type: "object", additionalProperties: false } as const;
  return [
    {
      id: "retrieve_document",
      name: "Retrieve a document",
      description: "The text of one document",
      operation: "retrieve",
      reach: "named",
      input: {
        ...closed,
        properties: {
          resourceHandle: { ...HANDLE, description: "which one" },
          format: { type: "string", enum: ["text", "title"] },
        },
        required: ["resourceHandle"],
      },
      run: async ({ resources, arguments: { format } }) => {
        const [resource] = resources.values();
        const { name = "", displayName = "", fields = {} } = resource ?? {};
        if (format === "title") return displayName;
        return { displayName, fields: { ...fields }, text: await folder.readText(name) };
      },
    },
    {
      id: "compare_documents",
      name: "Compare documents",
      description: "How long several documents are",
      operation: "retrieve",
      reach: "named",
      input: {
        ...closed,
        properties: { documents: { type: "array", items: HANDLE } },
        required: ["documents"],
      },
      run: async ({ resources }) => ({ compared: resources.size }),
    },
    {
      id: "list_documents",
      name: "List documents",
      description: "All that the capability leaves",
      operation: "list",
      reach: "scoped",
      input: { ...closed, properties: {} },
      run: async ({ resources }) => ({
        documents: [...resources.values()].map(({ displayName }) => displayName).sort(),
      }),
    },
    {
      id: "delete_document",
      name: "Delete a document",
      description: "For good",
      operation: "delete",
      reach: "named",
      input: { ...closed, properties: { document: HANDLE }, required: ["document"] },
      run: async () => ({ deleted: true }),
    },
    {
      id: "fail",
      name: "Fail",
      description: "Always",
      operation: "fail",
      reach: "scoped",
      input: { ...closed, properties: {} },
      run: async () => {
        throw new Error("a secret of the agent");
      },
    },
  ];
}

/** Answers an HTTP request with a JSON document. */
export function sendJson(response: ServerResponse, value: unknown, status = 200): void {
  response.writeHead(status, { "Content-Type": "application/json" }).end(JSON.stringify(value));
}
