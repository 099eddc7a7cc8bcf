import { join } from "node:path";
import { onTestFinished } from "vitest";
import type { Caller } from "../../../src/agent/caller.js";
import { expandGrants } from "../../../src/agent/grant.js";
import {
  createIssuingAgent,
  createPolicyTable,
  type IssuingAgent,
  type Skill,
} from "../../../src/agent/index.js";
import type { GrantedCapability } from "../../../src/agent/issuance.js";
import type { AgentRecord } from "../../../src/agent/parties/records.js";
import type { PartyStore } from "../../../src/agent/parties/store.js";
import { createFixedTokens } from "../../../src/auth/index.js";
import { isJsonObject, type Json, type JsonObject } from "../../../src/bytes/json.js";
import type { Grant } from "../../../src/issuer/grant.js";
import {
  createIssuer,
  createKeyring,
  type Issuer,
  type Keyring,
} from "../../../src/issuer/index.js";
import {
  type DelegationServer,
  type OwnDelegationServerOptions,
  serveDelegation,
} from "../../../src/protocols/delegation/index.js";
import {
  createStores,
  type LedgerStore,
  openLedger,
  openRevocations,
  type RevocationStore,
} from "../../../src/stores/index.js";
import { openParties } from "../../../src/stores/parties/party-store.js";
import { NOW } from "../../caveats/support.js";
import { temporaryFolder } from "../../support/temporary-folder.js";

export { NOW } from "../../caveats/support.js";

/** Ids of listed agents. */
export const AGENTS = {
  orchestrator: "a1b2c3d4-e5f6-7890-abcd-ef1234567890",
  summarizer: "b2c3d4e5-f6a7-8901-bcde-f12345678901",
  archiver: "c3d4e5f6-a7b8-9012-cdef-123456789012",
  stranger: "d4e5f6a7-b8c9-0123-def0-123456789abc",
} as const;

/** Access tokens. Each belongs to a principal and an agent that acts for the principal. */
export const ACCESS = {
  orchestrator: "access-of-alice-through-orchestrator",
  summarizer: "access-of-alice-through-summarizer",
  archiver: "access-of-alice-through-archiver",
  stranger: "access-of-alice-through-stranger",
  unlisted: "access-of-alice-through-unlisted",
  bob: "access-of-bob-through-orchestrator",
} as const;

const ALICE: Caller = { principal: "alice", invoker: "orchestrator" };

const GRANTS: readonly Grant[] = [
  { id: "agents", description: "Agents", operations: ["read", "write", "delete"] },
  { id: "documents:read", description: "Documents", operations: ["retrieve", "list"] },
  { id: "sealed", description: "Not narrowed", operations: ["open", "shut"], attenuable: false },
];

/** Returns a skill without effect that has the given operation. */
function skillFor(operation: string): Skill {
  return {
    id: `do_${operation}`,
    name: operation,
    description: operation,
    operation,
    reach: "none",
    input: { type: "object" },
    run: async () => ({ done: operation }),
  };
}

/** A delegation server with real stores, a real ledger and real HTTP. */
export interface World {
  readonly server: DelegationServer;
  readonly agent: IssuingAgent;
  readonly issuer: Issuer;
  readonly keys: Keyring;
  readonly parties: PartyStore;
  readonly revocations: RevocationStore;
  readonly ledger: LedgerStore;
  /** The time that every part uses, in milliseconds since 1970. */
  readonly clock: { now: number };
  /** All log entries. */
  readonly logged: string[];
}

export type WorldOptions = Partial<Omit<OwnDelegationServerOptions, "log">> & {
  /** The database; a new SQLite file unless given. */
  readonly place?: string;
};

export async function world({ place, ...options }: WorldOptions = {}): Promise<World> {
  const clock = { now: NOW };
  const now = (): number => clock.now;
  const database = await createStores(place ?? join(temporaryFolder(), "proviso.db"), {
    reserve: 0,
  });
  onTestFinished(() => database.close());
  const revocations = await openRevocations(database, { clock: now });
  const ledger = openLedger(database, { clock: now });
  onTestFinished(() => ledger.close());
  const parties = openParties(database);
  const skills = GRANTS.flatMap(({ operations }) => operations).map(skillFor);
  const keys = createKeyring({ clock: now });
  const issuer = createIssuer({
    name: "documents-agent",
    keys,
    revocations,
    clock: now,
    grants: expandGrants(GRANTS, skills),
  });
  const policy = createPolicyTable({
    rules: ["alice", "bob"].map((principal) => ({ principal, grant: "*", operations: "*" })),
  });
  const parts = { issuer, revocations, ledger };
  const agent = await createIssuingAgent({
    ...parts,
    policy,
    skills,
    clock: now,
    lifetime: 24 * 60 * 60,
  });
  const fixed = Object.entries(ACCESS).map(([name, token]) =>
    name === "bob"
      ? { token, principal: "bob", invoker: "orchestrator" }
      : { token, principal: "alice", invoker: name },
  );
  const logged: string[] = [];
  const say = (fields: object, message: string): void => {
    logged.push(JSON.stringify({ ...fields, message }));
  };
  const server = await serveDelegation({
    agent,
    parties,
    revocations,
    ledger,
    clock: now,
    authenticator: createFixedTokens(fixed, { development: true, announce: () => {} }),
    log: { info: say, warn: say, error: say },
    agents: Object.entries(AGENTS).map(([invoker, id]) => ({
      id,
      invoker,
      ...(invoker === "stranger" ? { tenant: "other" } : {}),
    })),
    ...options,
  });
  onTestFinished(() => server.close());
  return { server, agent, issuer, keys, parties, revocations, ledger, clock, logged };
}

/** Issues a capability to a party. It is for three operations, unless the request says otherwise. */
export async function issued(
  { agent }: World,
  request: JsonObject = {},
  caller: Caller = ALICE,
): Promise<GrantedCapability> {
  const outcome = await agent.request(caller, { grants: ["agents"], purpose: "test", ...request });
  if (!outcome.ok) throw new Error(outcome.denial.message);
  const [one] = outcome.capabilities;
  if (one === undefined) throw new Error("nothing was granted");
  return one;
}

/** Stores the record of a registered agent. */
export async function register(
  { parties }: World,
  id: string,
  more: Partial<AgentRecord> = {},
): Promise<void> {
  await parties.change(async (draft) => {
    await draft.agents.get(id);
    await draft.put("agents", {
      id,
      host: "host",
      tenant: "default",
      name: id,
      mode: "delegated",
      status: "active",
      key: {},
      thumbprint: `thumb-${id}`,
      created: NOW,
      updated: NOW,
      ...more,
    });
  });
}

/** An answer over HTTP. */
export interface Answer {
  readonly status: number;
  readonly body: JsonObject;
  readonly headers: Headers;
}

/** Sends a request with a Bearer token. */
export async function send(
  { server }: Pick<World, "server">,
  method: string,
  path: string,
  bearer: string | undefined,
  body?: unknown,
  headers: Readonly<Record<string, string>> = {},
): Promise<Answer> {
  const response = await fetch(`${server.url}${path}`, {
    method,
    headers: {
      ...(bearer === undefined ? {} : { Authorization: `Bearer ${bearer}` }),
      ...(body === undefined ? {} : { "Content-Type": "application/json" }),
      ...headers,
    },
    ...(body === undefined ? {} : { body: typeof body === "string" ? body : JSON.stringify(body) }),
  });
  const text = await response.text();
  const json: Json = text === "" ? {} : JSON.parse(text);
  if (!isJsonObject(json)) throw new Error(`this is not an object: ${text}`);
  return { status: response.status, body: json, headers: response.headers };
}

const DELEGATION = {
  delegateeAgentId: AGENTS.summarizer,
  scopes: ["agents:read"],
  ttlSeconds: 600,
};

export function delegate(
  world: World,
  bearer: string,
  body: JsonObject = {},
  headers: Readonly<Record<string, string>> = {},
): Promise<Answer> {
  const asked = { ...DELEGATION, ...body };
  return send(world, "POST", "/oauth2/token/delegate", bearer, asked, headers);
}

export async function verify(
  world: World,
  delegationToken: Json | undefined,
  bearer: string = ACCESS.summarizer,
): Promise<JsonObject> {
  const path = "/oauth2/token/verify-delegation";
  const { status, body } = await send(world, "POST", path, bearer, { delegationToken });
  if (status !== 200) throw new Error(`${status} ${JSON.stringify(body)}`);
  return body;
}

export function revoke(world: World, bearer: string, chainId: Json | undefined): Promise<Answer> {
  return send(world, "DELETE", `/oauth2/token/delegate/${chainId}`, bearer);
}

/** Formats the status, the code, the field and the reason of an answer as one line. */
export function summary({ status, body }: Answer): string {
  const { code, details = {} } = body;
  const { field = "-", reason = "-" } = isJsonObject(details) ? details : {};
  return [status, code, field, reason].join(" ");
}
