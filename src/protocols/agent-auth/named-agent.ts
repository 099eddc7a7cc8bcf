import type { Parties } from "../../agent/parties/parties.js";
import type { AgentRecord, HostRecord } from "../../agent/parties/records.js";
import { type Fault, fault } from "./errors.js";
import { type AgentParty, type HostParty, hostFault, type SigningHost } from "./party.js";

// Finds the host that signed a request, and the agent that the request is about. Several hosts may have been
// given the same key, still unproven, at rotation or enrolment. A request signed with it that names an agent
// identifies one host, and proves its key.

/** An agent, and the party that makes a permitted request about it. */
interface NamedAgent {
  readonly ok: true;
  readonly agent: AgentRecord;
  readonly party: HostParty | AgentParty;
}

/**
 * Returns the agent that a request is about: the asking agent, or an agent of the asking host.
 *
 * @param id - The request's `agent_id`; optional if an agent asks.
 * @param how - Whether a host that waits for its first approval may ask, and whether the request proves the
 *   host's key. It does unless the request may be about a stranger's agent.
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
  // Read the record again: this call has been recorded as its latest use.
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
 * Returns the host that asks about itself: the one that has proven the key, or else the only one that was given
 * it.
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
