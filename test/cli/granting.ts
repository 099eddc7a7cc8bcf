import { expandGrants } from "../../src/agent/grant.js";
import { createSkill } from "../../src/agent/index.js";
import { Parties } from "../../src/agent/parties/parties.js";
import type { AgentGrant, AgentRecord, Approval } from "../../src/agent/parties/records.js";
import type { PartySettings } from "../../src/agent/parties/settings.js";
import { capabilityTerms } from "../../src/agent/parties/terms.js";
import { type Home, openHome } from "../../src/home/index.js";

// Parties on the home of a bench, such as a payments agent has, for the tests of `proviso grants`.

const SKILLS = [
  createSkill({
    id: "transfer_funds",
    name: "Transfer funds",
    operation: "transfer",
    reach: "none",
    description: "Transfer money to a payee",
    effect: "write",
    input: {
      type: "object",
      properties: { amount: { type: "number" }, payee: { type: "string" } },
      required: ["amount", "payee"],
    },
    run: async () => ({}),
  }),
  createSkill({
    id: "list_payments",
    name: "List payments",
    operation: "list",
    reach: "none",
    description: "List payments",
    effect: "read",
    input: { type: "object" },
    run: async () => ({}),
  }),
];

const GRANTS = expandGrants(
  [
    { id: "payments:send", description: "Send money", operations: ["transfer"] },
    { id: "payments:read", description: "See payments", operations: ["list"] },
  ],
  SKILLS,
);

/** Opens the parties of a payments agent on an open home. */
export async function partiesOn(
  folder: string,
  settings: PartySettings = {},
): Promise<{ readonly home: Home; readonly parties: Parties }> {
  const home = await openHome({ folder });
  const terms = capabilityTerms(
    new Map(GRANTS.map((grant) => [grant.id, grant])),
    new Map(SKILLS.map((skill) => [skill.id, skill])),
  );
  const { partyStore: store, revocations } = home;
  return { home, parties: new Parties({ store, revocations, terms, settings }) };
}

let keys = 0;

interface TestKey {
  readonly key: { readonly kty: string; readonly crv: string; readonly x: string };
  readonly thumbprint: string;
}

/** Returns a new public key with its thumbprint. */
export function newKey(): TestKey {
  const thumbprint = `thumbprint-${++keys}`;
  return { key: { kty: "OKP", crv: "Ed25519", x: thumbprint }, thumbprint };
}

/** Creates a host of a user, by default Alice's. */
export async function hostOf(parties: Parties, principal = "alice"): Promise<TestKey> {
  const key = newKey();
  const made = await parties.createHost({ principal, name: "Alice's laptop", key });
  if (!made.ok) throw new Error(made.message);
  return key;
}

interface Asked {
  readonly approval: Approval;
  readonly agent: AgentRecord;
  readonly grants: readonly AgentGrant[];
}

/** Creates an agent that requests capabilities. Returns it with its pending approval. */
export async function asking(
  parties: Parties,
  host: TestKey,
  asked: {
    readonly name?: string;
    readonly purpose?: string;
    readonly capabilities?: readonly string[];
  } = {},
): Promise<Asked> {
  const own = newKey();
  const { name = "Payments agent", purpose = "pay the rent" } = asked;
  const { capabilities = ["transfer_funds"] } = asked;
  const answer = await parties.register({
    hostKey: host.key,
    hostThumbprint: host.thumbprint,
    agentKey: own.key,
    agentThumbprint: own.thumbprint,
    name,
    mode: "delegated",
    purpose,
    capabilities: capabilities.map((one) => ({ name: one })),
    method: "backchannel",
  });
  if (!answer.ok) throw new Error(answer.message);
  const { approval, agent, grants } = answer;
  if (approval === undefined) throw new Error("nothing waits");
  return { approval, agent, grants };
}
