import { join } from "node:path";
import { createIssuingAgent } from "../../../../src/agent/create-issuing-agent.js";
import { expandGrants } from "../../../../src/agent/grant.js";
import { Parties } from "../../../../src/agent/parties/parties.js";
import type { Approval } from "../../../../src/agent/parties/records.js";
import { capabilityTerms } from "../../../../src/agent/parties/terms.js";
import type { Policy } from "../../../../src/agent/policy.js";
import type { Skill } from "../../../../src/agent/skill.js";
import { createIssuer, createKeyring } from "../../../../src/issuer/index.js";
import { serveAgentAuth } from "../../../../src/protocols/agent-auth/index.js";
import {
  createStores,
  openLedger,
  openRevocations,
  openStores,
} from "../../../../src/stores/index.js";
import { openParties } from "../../../../src/stores/parties/party-store.js";
import { temporaryFolder } from "../../../support/temporary-folder.js";
import { type BankCapability, CAPABILITIES, DEFAULTS, LOCATION, runCapability } from "./bank.js";
import type { AgentAuthServer, Approver, AskedOfUser } from "./server.js";

const UNLIMITED = 1_000_000;

/** The policy allows every user and every autonomous agent everything, since the reference has no policy. */
const POLICY: Policy = {
  permissions: () => [{ operations: "*", resources: { collections: "*" } }],
};

const SILENT = { info: () => {}, warn: () => {}, error: () => {} };

/** Starts our server on loopback, with new stores and practically without rate limits. */
export async function startOurs(): Promise<AgentAuthServer> {
  const file = join(temporaryFolder(), "proviso.db");
  const clock = Date.now;
  const keys = createKeyring({ clock });
  await (await createStores(file, { reserve: 0 })).close();
  const database = await openStores(file);
  const revocations = await openRevocations(database, { clock, refreshEvery: 1000 });
  const ledger = openLedger(database, { clock });
  const skills = CAPABILITIES.map(skillOf);
  const operations = skills.map(({ operation }) => operation);
  const grants = expandGrants([{ id: "bank", description: "Use the bank", operations }], skills);
  const issuer = createIssuer({ name: "bank", keys, revocations, grants, clock });
  const known = capabilityTerms(grants, skills, { print_report: LOCATION });
  const terms = new Map(known);
  const store = openParties(database);
  const parties = new Parties({
    store,
    revocations,
    clock,
    terms,
    policy: POLICY,
    settings: {
      defaults: DEFAULTS,
      bounds: {
        pendingHosts: UNLIMITED,
        pendingHostsPerAddress: UNLIMITED,
        pendingHostsPerNetwork: UNLIMITED,
        agentsPerHost: UNLIMITED,
        grantsPerAgent: UNLIMITED,
        pendingPerAgent: UNLIMITED,
        pendingPerHost: UNLIMITED,
        pendingPerUser: UNLIMITED,
        hostsPerUser: UNLIMITED,
      },
    },
  });
  const agent = await createIssuingAgent({
    issuer,
    revocations,
    ledger,
    policy: POLICY,
    clock,
    skills,
    parties,
  });
  const server = await serveAgentAuth({
    agent,
    parties,
    policy: POLICY,
    ledger,
    clock,
    log: SILENT,
    public: "*",
    provider: { name: "bank", description: "A small bank" },
    rate: { requests: UNLIMITED, seconds: 1 },
    introspection: { requests: UNLIMITED, seconds: 1 },
  });
  const { url: origin } = server;
  const user = (name: string): Approver => approver(`${name}@example.com`, parties);
  return {
    name: "ours",
    origin,
    issuer: origin,
    now: clock,
    alice: user("alice"),
    bob: user("bob"),
    expire: (agentId) =>
      store.change(async (draft) => {
        const agent = await draft.agents.get(agentId);
        if (agent === undefined) throw new TypeError("there is no such agent");
        await draft.put("agents", { ...agent, expires: clock() });
      }),
    // Acts like a restart with other skills: the parties and the protocol look up names in `terms`.
    async offer(name, offered) {
      const term = known.get(name);
      if (offered && term !== undefined) terms.set(name, term);
      else terms.delete(name);
    },
    async close() {
      await server.close();
      await ledger.close();
      await database.close();
    },
  };
}

function skillOf({ name, description, input, output }: BankCapability): Skill {
  return {
    id: name,
    name,
    description,
    operation: name,
    reach: "none",
    effect: DEFAULTS.includes(name) ? "read" : "write",
    input: input ?? { type: "object" },
    output,
    run: async ({ arguments: given }) => runCapability(name, given),
  };
}

/** Returns a user who decides approvals like the approvals console and `proviso grants`. */
function approver(principal: string, parties: Parties): Approver {
  const decide = async (
    asked: AskedOfUser,
    answer: "approve" | "deny",
    names?: readonly string[],
  ): Promise<void> => {
    const { approvals } = parties;
    const approval = await askedFor(asked, principal, parties);
    const places = approval.subject.asked.flatMap(({ name = "" }, place) =>
      names === undefined || names.includes(name) ? [place] : [],
    );
    const outcome = await approvals.decide(
      approval.id,
      { principal, userCode: asked.userCode },
      { answer, digest: approval.digest, ...(names === undefined ? {} : { granted: places }) },
    );
    if (!outcome.ok) throw new Error(`our server: ${outcome.code}: ${outcome.message}`);
  };
  return {
    email: principal,
    approve: (asked, names) => decide(asked, "approve", names),
    deny: (asked) => decide(asked, "deny"),
    async enrolmentToken() {
      const made = await parties.createHost({ principal, name: "laptop" });
      if (!made.ok || made.enrolmentToken === undefined) throw new Error("no enrolment token");
      return made.enrolmentToken;
    },
  };
}

async function askedFor(
  { agentId, userCode }: AskedOfUser,
  principal: string,
  { approvals }: Parties,
): Promise<Approval> {
  const found =
    userCode === undefined
      ? (await approvals.waitingFor(principal)).find(({ subject }) => subject.agent.id === agentId)
      : await approvals.byUserCode(userCode);
  if (found === undefined) throw new Error("our server has no such request");
  return found;
}
