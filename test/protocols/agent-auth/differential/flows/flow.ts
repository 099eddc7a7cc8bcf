import { type Observation, observed } from "../observation.js";
import { type Answer, Party, type PartyAgent, send } from "../party.js";
import type { AgentAuthServer } from "../server.js";

/** A sequence of requests for any server of Agent-Auth. */
export interface Flow {
  readonly name: string;
  readonly run: (stage: Stage) => Promise<void>;
}

/** Runs flows with one server, and records the answers. */
export class Stage {
  readonly server: AgentAuthServer;
  readonly seen: Observation[] = [];
  #flow = "";

  constructor(server: AgentAuthServer) {
    this.server = server;
  }

  async run(flow: Flow): Promise<void> {
    this.#flow = flow.name;
    await flow.run(this);
  }

  /** Records an answer under the name of a step. The name must be unique in the flow. */
  async see(step: string, asked: Promise<Answer>): Promise<Answer> {
    const answer = await asked;
    this.seen.push(observed(`${this.#flow}: ${step}`, answer, this.server.issuer));
    return answer;
  }

  party(): Promise<Party> {
    return Party.of(this.server);
  }

  /** Introspects a new JWT of an agent, as a resource server does. */
  async introspect(agent: PartyAgent): Promise<Answer> {
    const body = { token: await agent.token() };
    return send(this.server, "POST", "/agent/introspect", { body });
  }

  /** Makes a host that is linked to Alice, and an agent that has the default capabilities. */
  async linked(): Promise<{ host: Party; agent: PartyAgent }> {
    const host = await this.party();
    const agent = await host.agent();
    const answer = await host.register(agent);
    await this.server.alice.approve(agent.asked(answer));
    return { host, agent };
  }

  /** Makes an active agent of a linked host. The agent has these capabilities in addition to the defaults. */
  async granted(...capabilities: unknown[]): Promise<{ host: Party; agent: PartyAgent }> {
    const party = await this.linked();
    const answer = await party.agent.request(capabilities);
    await this.server.alice.approve(party.agent.asked(answer));
    return party;
  }
}

/** A public key on a curve that no server accepts. */
export const P256 = {
  kty: "EC",
  crv: "P-256",
  x: "MKBCTNIcKUSDii11ySs3526iDZ8AiTo7Tu6KPAqv7D4",
  y: "4Etl6SRW2YiLUrN5vfvVHuhp7x8PxltmWWlbbM4IFyM",
} as const;
