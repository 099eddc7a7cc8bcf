import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { onTestFinished } from "vitest";
import type { IssuingAgentOptions } from "../../src/agent/agent-options.js";
import type { Caller } from "../../src/agent/caller.js";
import type { InvocationOutcome } from "../../src/agent/clearance.js";
import { createIssuingAgent } from "../../src/agent/create-issuing-agent.js";
import { expandGrants } from "../../src/agent/grant.js";
import type { GrantedCapability } from "../../src/agent/issuance.js";
import type { IssuingAgent } from "../../src/agent/issuing-agent.js";
import { type PolicyDefinition, PolicyTable } from "../../src/agent/policy-table.js";
import type { PresentedCapability } from "../../src/agent/presented.js";
import type { RequestDenial } from "../../src/agent/refusal.js";
import type { RequestOutcome } from "../../src/agent/requested-capabilities.js";
import {
  type ResourceNumbers,
  ResourceNumbersInMemory,
} from "../../src/agent/resources/resource-numbers.js";
import type { Operation } from "../../src/agent/skill.js";
import type { Json } from "../../src/bytes/json.js";
import type { Grant } from "../../src/issuer/grant.js";
import { createIssuer, type Issuer } from "../../src/issuer/issuer.js";
import { createKeyring, type Keyring } from "../../src/issuer/keyring.js";
import { RevocationList } from "../../src/revocation/list.js";
import { openFolder } from "../../src/sources/folder.js";
import type { ResourceFolder } from "../../src/sources/resource-folder.js";
import { createStores, type StoreDatabase } from "../../src/stores/database.js";
import { LedgerStore } from "../../src/stores/ledger/ledger-store.js";
import { NOW } from "../caveats/support.js";
import { temporaryFolder } from "../support/temporary-folder.js";
import { documentSkills, GRANTS, POLICY, writeDocuments } from "./documents.js";

export { misuse, NOW } from "../caveats/support.js";

export const ALICE: Caller = { principal: "alice", invoker: "assistant" };
export const BOB: Caller = { principal: "bob", invoker: "assistant" };

/** An issuing agent of real parts, with the parts that tests change. */
export interface World {
  readonly agent: IssuingAgent;
  readonly issuer: Issuer;
  readonly policy: PolicyTable;
  readonly revocations: RevocationList;
  readonly ledger: LedgerStore;
  readonly database: StoreDatabase;
  readonly folder: ResourceFolder;
  /** The folder of documents. */
  readonly root: string;
  /** The skills that have run, in order. */
  readonly ran: string[];
  /** The current time of every part, in milliseconds since 1970. */
  readonly clock: { now: number };
  readonly keys: { ring: Keyring };
  readonly resourceNumbers: ResourceNumbers;
  /** Opens the same parts under other options, like a restart with another configuration. */
  again(options: AgentChoices): Promise<IssuingAgent>;
}

interface AgentChoices extends Partial<IssuingAgentOptions> {
  /** The agent's grants; those of the documents unless given. The issuer gets the same grants. */
  readonly grants?: readonly Grant[];
}

export interface WorldOptions extends AgentChoices {
  readonly rules?: PolicyDefinition;
  /** Bytes that must be free on the ledger's disk; 0 unless given. */
  readonly reserve?: number;
  /** A database of either kind; an SQLite file unless given. */
  readonly place?: string;
}

export async function world({
  rules = POLICY,
  reserve = 0,
  place,
  ...options
}: WorldOptions = {}): Promise<World> {
  const directory = temporaryFolder();
  const root = join(directory, "documents");
  mkdirSync(root);
  writeDocuments(root);
  const clock = { now: NOW };
  const now = (): number => clock.now;
  const keys = { ring: createKeyring({ clock: now }) };
  const revocations = new RevocationList();
  const database = await createStores(place ?? join(directory, "proviso.db"), { reserve });
  onTestFinished(() => database.close());
  const ledger = new LedgerStore(database, { clock: now });
  // Closing fails if the reserve exceeds the free space, since the remaining ledger events cannot be written.
  onTestFinished(() => (reserve === 0 ? ledger.close() : ledger.close().catch(() => {})));
  const folder = await openFolder(root);
  const resourceNumbers = new ResourceNumbersInMemory();
  const policy = new PolicyTable(rules);
  const ran: string[] = [];
  const issuerOf = (grants: readonly Grant[], known: readonly Operation[]): Issuer =>
    createIssuer({
      name: "documents-agent",
      keys: () => keys.ring,
      revocations,
      clock: now,
      grants: expandGrants(grants, known),
    });
  const { grants = GRANTS, skills = documentSkills(folder, ran), ...others } = options;
  const { operations = [] } = others;
  const issuer = issuerOf(grants, [...skills, ...operations]);
  const parts: IssuingAgentOptions = {
    issuer,
    revocations,
    ledger,
    policy,
    resources: folder,
    clock: now,
    skills,
    resourceNumbers,
    ...others,
  };
  const again = ({ grants: present, ...more }: AgentChoices): Promise<IssuingAgent> =>
    createIssuingAgent({
      ...parts,
      ...(present === undefined ? {} : { issuer: issuerOf(present, more.skills ?? skills) }),
      ...more,
    });
  const agent = await again({});
  return {
    agent,
    issuer,
    policy,
    revocations,
    ledger,
    database,
    folder,
    root,
    ran,
    clock,
    keys,
    again,
    resourceNumbers,
  };
}

/** Makes a request that must succeed. */
export async function granted(
  agent: IssuingAgent,
  params: Json,
  caller: Caller = ALICE,
): Promise<readonly GrantedCapability[]> {
  const outcome = await agent.request(caller, params);
  if (!outcome.ok) throw new Error(`${outcome.denial.code}: ${outcome.denial.message}`);
  return outcome.capabilities;
}

/** Returns the capability of a request that must issue exactly one. */
export async function grantedOne(
  agent: IssuingAgent,
  params: Json,
  caller: Caller = ALICE,
): Promise<GrantedCapability> {
  const [one, ...others] = await granted(agent, params, caller);
  if (one === undefined || others.length > 0) throw new Error("there is not just one capability");
  return one;
}

/** Requests to read the open reports, as most tests do. */
export const REPORTS: Json = {
  grants: ["documents:read"],
  resourceQuery: { collection: "reports" },
};

/** Returns the handle of the resource with this display name. */
export function handleOf({ resourceHandles = [] }: GrantedCapability, displayName: string): string {
  const found = resourceHandles.find((one) => one.displayName === displayName);
  if (found === undefined) throw new Error(`there is no ${displayName} in the capability`);
  return found.handle;
}

export function denialOf(outcome: RequestOutcome): RequestDenial {
  if (outcome.ok) throw new Error("it was granted");
  return outcome.denial;
}

/** Calls a skill with the presented capabilities. */
export function call(
  agent: IssuingAgent,
  skill: string,
  given: { readonly [name: string]: Json },
  capabilities: readonly PresentedCapability[] = [],
  caller: Caller = ALICE,
): Promise<InvocationOutcome> {
  return agent.invoke(caller, { skill, arguments: given, capabilities });
}

/** Returns the codes of a refusal, or `["allowed"]`. */
export function codes(outcome: InvocationOutcome): string[] {
  return outcome.ok ? ["allowed"] : outcome.denials.map(({ code }) => code);
}

export function result(outcome: InvocationOutcome): Json {
  if (outcome.ok) return outcome.result;
  throw new Error(outcome.denials.map(({ message }) => message).join("; "));
}

/** Makes a world and Alice's capability to read its open reports. */
export async function reading(): Promise<
  World & { readonly one: GrantedCapability; readonly q1: string }
> {
  const parts = await world();
  const one = await grantedOne(parts.agent, REPORTS);
  return { ...parts, one, q1: handleOf(one, "First quarter") };
}
