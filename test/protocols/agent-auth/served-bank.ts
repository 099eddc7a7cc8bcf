import { join } from "node:path";
import { onTestFinished } from "vitest";
import { createIssuingAgent } from "../../../src/agent/create-issuing-agent.js";
import { expandGrants } from "../../../src/agent/grant.js";
import type { IssuingAgent } from "../../../src/agent/issuing-agent.js";
import type { LedgerEvent } from "../../../src/agent/ledger.js";
import { Parties } from "../../../src/agent/parties/parties.js";
import type { PartySettings } from "../../../src/agent/parties/settings.js";
import { capabilityTerms } from "../../../src/agent/parties/terms.js";
import { type PolicyDefinition, PolicyTable } from "../../../src/agent/policy-table.js";
import { type Skill, SkillInputError } from "../../../src/agent/skill.js";
import type { Grant } from "../../../src/issuer/grant.js";
import {
  createIssuer,
  createKeyring,
  type Issuer,
  type Keyring,
} from "../../../src/issuer/index.js";
import {
  type AgentAuthServer,
  type AgentAuthServerOptions,
  serveAgentAuth,
} from "../../../src/protocols/agent-auth/index.js";
import {
  createStores,
  openLedger,
  openRevocations,
  openStores,
  type RevocationStore,
} from "../../../src/stores/index.js";
import { openParties } from "../../../src/stores/parties/party-store.js";
import { temporaryFolder } from "../../support/temporary-folder.js";

/** The default capabilities of agents of linked hosts. */
export const DEFAULTS: readonly string[] = ["check_balance", "list_payees"];

/** The URL at which `print_report` is executed. */
export const REPORTS = "https://reports.example/agent/execute";

const GRANTS: readonly Grant[] = [
  { id: "accounts:read", description: "See accounts", operations: ["balance", "payees", "report"] },
  { id: "payments:make", description: "Make payments", operations: ["transfer"] },
  {
    id: "payees:manage",
    description: "Manage payees",
    operations: ["unlist", "fail", "fib", "wait"],
  },
];

const ANY = { type: "object" } as const;
const NO_REACH = { reach: "none" } as const;

function skills(ran: string[]): readonly Skill[] {
  const said = (id: string, operation: string, effect: Skill["effect"] = "write") => ({
    id,
    name: id,
    description: `Does what ${id.replaceAll("_", " ")} says`,
    operation,
    ...NO_REACH,
    effect,
    input: ANY,
  });
  return [
    {
      ...said("check_balance", "balance", "read"),
      description: "Check the balance of a bank account",
      input: {
        type: "object",
        properties: { account_id: { type: "string", description: "The account" } },
        required: ["account_id"],
        additionalProperties: false,
      },
      output: {
        type: "object",
        properties: { account_id: { type: "string" }, balance: { type: "number" } },
        required: ["account_id", "balance"],
      },
      run: async ({ arguments: { account_id } }) => {
        ran.push("check_balance");
        return { account_id: account_id ?? null, balance: 12.5 };
      },
    },
    { ...said("list_payees", "payees", "read"), run: async () => ["acc_A", "acc_B"] },
    {
      ...said("transfer_funds", "transfer"),
      input: {
        type: "object",
        properties: {
          amount: { type: "number" },
          to: { type: "string" },
          currency: { type: "string" },
        },
        required: ["amount", "to"],
      },
      run: async ({ arguments: { amount, to } }) => {
        if (to === "acc_closed") throw new SkillInputError("the account is closed");
        ran.push(`transfer_funds ${amount} ${to}`);
        return { id: "transfer_1" };
      },
    },
    { ...said("delete_payee", "unlist", "delete"), run: async () => null },
    { ...said("print_report", "report"), run: async () => ({ printed: true }) },
    {
      ...said("always_fails", "fail"),
      run: async () => {
        throw new Error("the secret of the machine room");
      },
    },
    {
      ...said("fibs", "fib"),
      output: { type: "object", required: ["truth"] },
      run: async () => ({ lie: true }),
    },
    {
      ...said("waits", "wait"),
      run: ({ signal }) =>
        new Promise((_, reject) => {
          signal.addEventListener("abort", () => reject(signal.reason), { once: true });
        }),
    },
  ];
}

const POLICY: PolicyDefinition = {
  groups: { customers: ["alice", "bob"] },
  rules: [
    { group: "customers", grant: "accounts:read", operations: "*" },
    { group: "customers", grant: "payments:make", operations: "*" },
    { principal: "alice", grant: "payees:manage", operations: "*" },
    { principal: "autonomous:*", grant: "accounts:read", operations: ["balance", "payees"] },
    { principal: "autonomous:*", grant: "payments:make", operations: "*" },
  ],
};

/** A bank with a real agent, real stores and a real server, on a free port of 127.0.0.1. */
export interface Bank {
  readonly url: string;
  readonly server: AgentAuthServer;
  readonly agent: IssuingAgent;
  readonly parties: Parties;
  readonly revocations: RevocationStore;
  readonly issuer: Issuer;
  readonly keys: Keyring;
  readonly policy: PolicyTable;
  readonly ran: readonly string[];
  /** The current time in all parts of the bank, in milliseconds since 1970. */
  readonly clock: { now: number };
  /** All log entries. */
  logged(): string;
  events(): Promise<readonly LedgerEvent[]>;
  /** Restarts the bank at the same address, optionally with other settings. */
  again(options?: BankOptions): Promise<Bank>;
  close(): Promise<void>;
}

/** Settings that tests may change. */
export interface BankOptions
  extends Partial<
    Pick<
      AgentAuthServerOptions,
      | "public"
      | "rate"
      | "introspection"
      | "body"
      | "timeout"
      | "mostRunning"
      | "publicUrl"
      | "trustedProxies"
      | "verificationUrl"
    >
  > {
  readonly settings?: PartySettings;
  /** Names of skills that the bank no longer offers. */
  readonly without?: readonly string[];
  /** The file of an SQLite database, or the URL of a PostgreSQL database; a new SQLite file unless given. */
  readonly place?: string;
  /** Maximum number of one-time ids that are remembered at once, for strangers and for all other parties each. */
  readonly mostUsed?: number;
}

interface Kept {
  /** The file or the URL of the database. */
  readonly file: string;
  readonly keys: Keyring;
  readonly clock: { now: number };
  /** The port to listen on; any free port unless given. */
  readonly port?: number;
}

const NOW = Date.parse("2026-05-04T12:00:00Z");

/** Opens a bank, which is closed at the end of the test. */
export async function bank(options: BankOptions = {}): Promise<Bank> {
  const clock = { now: NOW };
  const { place: file = join(temporaryFolder(), "proviso.db") } = options;
  const keys = createKeyring({ clock: () => clock.now });
  await (await createStores(file, { reserve: 0 })).close();
  return open({ file, keys, clock }, options);
}

async function open(kept: Kept, options: BankOptions): Promise<Bank> {
  const { settings, without = [], place: _, mostUsed, ...serving } = options;
  const { keys } = kept;
  const clock = (): number => kept.clock.now;
  const database = await openStores(kept.file);
  const revocations = await openRevocations(database, { clock, refreshEvery: 1000 });
  const ledger = openLedger(database, { clock });
  const ran: string[] = [];
  const offered = skills(ran).filter(({ id }) => !without.includes(id));
  const operations = offered.map(({ operation }) => operation);
  const grants = GRANTS.map((grant) => ({
    ...grant,
    operations: grant.operations.filter((operation) => operations.includes(operation)),
  }));
  const known = expandGrants(grants, offered);
  const issuer = createIssuer({ name: "bank", keys, revocations, grants: known, clock });
  const policy = new PolicyTable(POLICY);
  const terms = capabilityTerms(
    new Map(known.map((grant) => [grant.id, grant])),
    new Map(offered.map((skill) => [skill.id, skill])),
    offered.some(({ id }) => id === "print_report") ? { print_report: REPORTS } : {},
  );
  const parties = new Parties({
    store: openParties(database, { mostUsed }),
    revocations,
    clock,
    terms,
    policy,
    settings: { defaults: DEFAULTS, ...settings },
  });
  const agent = await createIssuingAgent({
    issuer,
    revocations,
    ledger,
    policy,
    parties,
    clock,
    skills: offered,
  });
  const lines: string[] = [];
  const say = (fields: object, message: string): void => {
    lines.push(`${message} ${JSON.stringify(fields)}`);
  };
  const server = await serveAgentAuth(
    {
      agent,
      parties,
      policy,
      ledger,
      clock,
      provider: { name: "Example Bank", description: "A bank that agents can use" },
      log: { info: say, warn: say, error: say },
      ...serving,
    },
    kept.port === undefined ? {} : { port: kept.port },
  );
  let closed: Promise<void> | undefined;
  const close = (): Promise<void> => {
    closed ??= server.close().finally(async () => {
      await ledger.close();
      await database.close();
    });
    return closed;
  };
  onTestFinished(close);
  return {
    url: server.url,
    server,
    agent,
    parties,
    revocations,
    issuer,
    keys,
    policy,
    ran,
    clock: kept.clock,
    close,
    logged: () => lines.join("\n"),
    events: () => ledger.list(),
    again: async (more = {}) => {
      await close();
      return open({ ...kept, port: Number(new URL(server.url).port) }, { ...options, ...more });
    },
  };
}
