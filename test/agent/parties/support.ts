import { join } from "node:path";
import { onTestFinished } from "vitest";
import { createIssuingAgent } from "../../../src/agent/create-issuing-agent.js";
import { expandGrants } from "../../../src/agent/grant.js";
import type { IssuingAgent } from "../../../src/agent/issuing-agent.js";
import type { ApproverAnswer } from "../../../src/agent/parties/approval-decisions.js";
import type { DecisionOutcome } from "../../../src/agent/parties/approval-settlement.js";
import { Parties } from "../../../src/agent/parties/parties.js";
import type { Approval } from "../../../src/agent/parties/records.js";
import type { Outcome, PartyRefusal } from "../../../src/agent/parties/refusals.js";
import type { AskedAnswer, NewKey, Registration } from "../../../src/agent/parties/requests.js";
import type { PartySettings } from "../../../src/agent/parties/settings.js";
import { capabilityTerms } from "../../../src/agent/parties/terms.js";
import { type PolicyDefinition, PolicyTable } from "../../../src/agent/policy-table.js";
import type { Skill } from "../../../src/agent/skill.js";
import type { Grant } from "../../../src/issuer/grant.js";
import { createIssuer, type Issuer } from "../../../src/issuer/issuer.js";
import { createKeyring, type Keyring } from "../../../src/issuer/keyring.js";
import { RevocationList } from "../../../src/revocation/list.js";
import { createStores, type StoreDatabase } from "../../../src/stores/database.js";
import { LedgerStore } from "../../../src/stores/ledger/ledger-store.js";
import { openParties } from "../../../src/stores/parties/party-store.js";
import { NOW } from "../../caveats/support.js";
import { temporaryFolder } from "../../support/temporary-folder.js";

export { NOW } from "../../caveats/support.js";

export const LOCATION = "https://reports.example/agent/execute";

const INPUT = { type: "object" } as const;

function skill(id: string, operation: string, effect: Skill["effect"], ran: string[]): Skill {
  return {
    id,
    name: id,
    description: `Does ${id}`,
    operation,
    reach: "none",
    input: INPUT,
    effect,
    run: async (call) => {
      ran.push(id);
      return { ran: id, principal: call.principal };
    },
  };
}

const GRANTS: readonly Grant[] = [
  { id: "accounts:read", description: "Look", operations: ["balance", "payees"] },
  { id: "payments:write", description: "Pay", operations: ["transfer", "remove"] },
  { id: "reports:print", description: "Print", operations: ["print"] },
];

const RULES: PolicyDefinition = {
  groups: { users: ["alice", "bob", "carol", "dave"] },
  rules: [{ group: "users", grant: "*", operations: "*" }],
};

export interface BankOptions {
  readonly settings?: PartySettings;
  readonly grants?: readonly Grant[];
  readonly rules?: PolicyDefinition;
  /** Principals to whom the policy also permits everything, such as hosts without a user. */
  readonly anyone?: boolean;
  /** A database of either kind; an SQLite file unless given. */
  readonly place?: string;
  /** Capabilities that are no longer offered. */
  readonly without?: readonly string[];
}

/** A bank's agent with its parties, made of real parts. */
export interface Bank {
  readonly parties: Parties;
  readonly agent: IssuingAgent;
  readonly issuer: Issuer;
  readonly ledger: LedgerStore;
  readonly database: StoreDatabase;
  readonly revocations: RevocationList;
  readonly policy: PolicyTable;
  readonly keys: Keyring;
  readonly clock: { now: number };
  readonly ran: string[];
  /** Opens the same stores under another configuration. */
  again(options: BankOptions): Promise<Bank>;
}

export async function bank(options: BankOptions = {}): Promise<Bank> {
  const clock = { now: NOW };
  const now = (): number => clock.now;
  const { place = join(temporaryFolder(), "proviso.db") } = options;
  const database = await createStores(place, { reserve: 0, patience: 20_000 });
  onTestFinished(() => database.close());
  const ledger = new LedgerStore(database, { clock: now });
  onTestFinished(() => ledger.close());
  const revocations = new RevocationList();
  const keys = createKeyring({ clock: now });
  const store = openParties(database);
  const ran: string[] = [];
  const again = async ({
    settings = { defaults: ["check_balance", "list_payees"] },
    grants = GRANTS,
    rules = RULES,
    anyone = false,
    without = [],
  }: BankOptions): Promise<Bank> => {
    const skills = [
      skill("check_balance", "balance", "read", ran),
      skill("list_payees", "payees", "read", ran),
      skill("transfer_funds", "transfer", "write", ran),
      skill("delete_payee", "remove", "delete", ran),
      skill("print_report", "print", undefined, ran),
    ].filter(({ id }) => !without.includes(id));
    const operations = skills.map(({ operation }) => operation);
    const offered = grants
      .map((grant) => ({
        ...grant,
        operations: grant.operations.filter((one) => operations.includes(one)),
      }))
      .filter((grant) => grant.operations.length > 0);
    const expanded = expandGrants(offered, skills);
    const table = new PolicyTable(rules);
    const policy = anyone
      ? { permissions: () => [{ operations: "*", resources: { collections: "*" } } as const] }
      : table;
    const locations: Record<string, string> = without.includes("print_report")
      ? {}
      : { print_report: LOCATION };
    const terms = capabilityTerms(expanded, skills, locations);
    const parties = new Parties({
      store,
      revocations,
      clock: now,
      terms,
      policy,
      settings,
    });
    const issuer = createIssuer({
      name: "bank-agent",
      keys,
      revocations,
      clock: now,
      grants: expanded,
    });
    const agent = await createIssuingAgent({
      issuer,
      revocations,
      ledger,
      policy,
      skills,
      parties,
      clock: now,
    });
    return {
      parties,
      agent,
      issuer,
      ledger,
      database,
      revocations,
      policy: table,
      keys,
      clock,
      ran,
      again,
    };
  };
  return again(options);
}

/** Returns a fake key whose thumbprint is its name. */
export function keyOf(name: string): { kty: string; crv: string; x: string } {
  return { kty: "OKP", crv: "Ed25519", x: name };
}

/** Returns the key in the form in which hosts and agents are registered. */
export function newKey(name: string, proven = true): NewKey {
  return { key: keyOf(name), thumbprint: name, proven };
}

export function registration(more: Partial<Registration> = {}): Registration {
  const { hostThumbprint = "laptop", agentThumbprint = "agent-key" } = more;
  return {
    hostKey: keyOf(hostThumbprint),
    hostThumbprint,
    agentKey: keyOf(agentThumbprint),
    agentThumbprint,
    name: "Payments",
    mode: "delegated",
    capabilities: [{ name: "check_balance" }, { name: "list_payees" }],
    ...more,
  };
}

/** Returns the answer; fails the test if the call was refused. */
export function done<Answer>(outcome: Outcome<Answer>): Answer {
  if (outcome.ok) return outcome;
  throw new Error(`${outcome.code}: ${outcome.message}`);
}

/** Returns the refusal; fails the test if the call was not refused. */
export function refusalOf(outcome: Outcome<object>): PartyRefusal {
  if (outcome.ok) throw new Error("it was not refused");
  return outcome;
}

/** Makes a host linked to alice, by its key. */
export async function linkedHost({ parties }: Bank, thumbprint = "laptop"): Promise<string> {
  const key = { key: keyOf(thumbprint), thumbprint };
  return done(await parties.createHost({ principal: "alice", name: "Laptop", key })).host.id;
}

/** Makes an active agent of a linked host, with the defaults. */
export async function activeAgent(
  given: Bank,
  more: Partial<Registration> = {},
): Promise<AskedAnswer> {
  await linkedHost(given);
  const capabilities = given.parties.settings.defaults.map((name) => ({ name }));
  return done(await given.parties.register(registration({ capabilities, ...more })));
}

/** Approves as `alice`, with the digest that the approval shows. */
export function approve(
  { parties }: Bank,
  approval: Approval | undefined,
  more: Partial<ApproverAnswer> & { readonly as?: string; readonly userCode?: string } = {},
): Promise<DecisionOutcome> {
  const { as = "alice", userCode, ...rest } = more;
  const { id = "", digest = "" } = approval ?? {};
  const answer = { answer: "approve" as const, digest, ...rest };
  return parties.approvals.decide(id, { principal: as, userCode }, answer);
}

/** Returns the statuses of grants, by capability. */
export function statuses(grants: AskedAnswer["grants"]): { readonly [name: string]: string } {
  return Object.fromEntries(grants.map(({ capability, status }) => [capability, status]));
}

/** Returns the changes recorded in the ledger, oldest first. */
export async function changes({ ledger }: Bank): Promise<readonly string[]> {
  const events = await ledger.list();
  return events.flatMap(({ change, decision, codes = [] }) =>
    change === undefined
      ? []
      : [decision === "refused" ? `${change} ${codes.join()}`.trim() : change],
  );
}
