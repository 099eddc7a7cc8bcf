import { Party, type PartyAgent } from "../party.js";
import type { AgentAuthServer } from "../server.js";

/** The parties of generated requests. They are the same on every server, except for keys and ids. */
export interface World {
  readonly server: AgentAuthServer;
  /** A host that is linked to Alice. */
  readonly host: Party;
  /** A host that is linked to Bob. */
  readonly otherHost: Party;
  readonly agents: Readonly<Record<AgentRole, PartyAgent>>;
}

/**
 * The role of an agent. `acting` has more than the default capabilities, some of them with constraints. Generated
 * requests may end `spare`.
 */
export type AgentRole = "acting" | "spare" | "pending" | "rejected" | "revoked" | "foreign";

export const ROLES: readonly AgentRole[] = [
  "acting",
  "spare",
  "pending",
  "rejected",
  "revoked",
  "foreign",
];

export async function createWorld(server: AgentAuthServer): Promise<World> {
  const host = await Party.of(server);
  const otherHost = await Party.of(server);
  const agents = {
    acting: await host.agent(),
    spare: await host.agent(),
    pending: await host.agent(),
    rejected: await host.agent(),
    revoked: await host.agent(),
    foreign: await otherHost.agent(),
  };
  const { acting, spare, pending, rejected, revoked, foreign } = agents;
  await server.alice.approve(acting.asked(await host.register(acting)));
  const more = [
    { name: "transfer_funds", constraints: CONSTRAINTS },
    "delete_payee",
    "always_fails",
  ];
  await server.alice.approve(acting.asked(await acting.request(more)));
  await host.register(spare);
  await host.register(pending, { capabilities: ["print_report"] });
  const unwanted = { capabilities: ["old_statement"] };
  await server.alice.deny(rejected.asked(await host.register(rejected, unwanted)));
  await host.register(revoked);
  await host.send("POST", "/agent/revoke", { agent_id: revoked.id });
  await server.bob.approve(foreign.asked(await otherHost.register(foreign)));
  return { server, host, otherHost, agents };
}

const CONSTRAINTS = { amount: { min: 1, max: 100 }, currency: { in: ["USD", "EUR"] } };
