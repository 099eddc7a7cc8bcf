import type { Parties } from "../../agent/parties/parties.js";
import type { AgentRecord, HostRecord } from "../../agent/parties/records.js";
import { type Fault, fault } from "./errors.js";
import { type AgentParty, type HostParty, hostFault, type SigningHost } from "./party.js";

// Finds the host that signed a request, and the agent that the request names. Several hosts can have the same unproven
// key, from a rotation or an enrolment. If a request that is signed with such a key names an agent, the agent's host is
// the signer, and the request proves the host's key.

/** An agent, and the party that may make the request about the agent. */
interface NamedAgent {
  readonly ok: true;
  readonly agent: AgentRecord;
  readonly party: HostParty | AgentParty;
}

/**
 * Returns the agent that a request names: the asking agent itself, or an agent of the asking host.
 *
 * @param id - The request's `agent_id`; optional if an agent asks.
 * @param how - `waiting` allows hosts that wait for their first approval. `proves` says whether a request that names
 *   the agent proves the host's key. It is `false` if other parties may know the agent's id.
 * @throws StorageError
 */
export async function namedAgent(
  id: unknown,
  party: SigningHost | AgentParty,
  parties: Parties,
  {
    waiting = false,
    proves = true,
  }: { readonly waiting?: boolean; readonly proves?: boolean } = {},
): Promise<NamedAgent | Fault> {
  const named = party.kind === "agent" && id === undefined ? party.agent.id : id;
  if (typeof named !== "string" || named === "" || named.length > 128) {
    return fault("invalid_request", "agent_id: must be the id of an agent");
  }
  // Read the agent's record again: authentication has recorded this request as the agent's latest use.
  const agent = await parties.agent(named);
  if (agent === undefined) return fault("agent_not_found", "there is no agent of this id");
  const foreign = fault("unauthorized", "the agent is another party's");
  if (party.kind === "agent") {
    return agent.id === party.agent.id ? { ok: true, agent, party } : foreign;
  }
  const host = proves
    ? await parties.hostProved(agent.host, party.thumbprint)
    : await parties.host(agent.host);
  if (host === undefined || (!proves && host.thumbprint !== party.thumbprint)) return foreign;
  return hostFault(host, waiting) ?? { ok: true, agent, party: settled(party, host) };
}

/**
 * Returns the host that makes a request about itself: the host that has proven the key or, if there is none, the only
 * host that was given the key.
 *
 * @throws StorageError
 */
export async function signingHost(
  party: SigningHost,
  parties: Parties,
): Promise<HostParty | Fault> {
  const { thumbprint, holder } = party;
  const given = holder === undefined ? await parties.hostsGiven(thumbprint) : [holder];
  const [host, other] = given;
  if (host === undefined || other !== undefined) {
    const message = "several hosts were given this key: ask for the status of an agent first";
    return fault("host_not_found", message);
  }
  return hostFault(host, false) ?? settled(party, host);
}

function settled({ jwt }: SigningHost, host: HostRecord): HostParty {
  return { kind: "host", host, jwt };
}
