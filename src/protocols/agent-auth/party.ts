import type { AgentRecord, HostRecord } from "../../agent/registry/records.js";
import { type Fault, refuse } from "./errors.js";
import type { ReadKey, VerifiedJwt } from "./jwt.js";

/** Who makes a request, as its JWT shows. */
export type Party = Anonymous | HostParty | AgentParty | NewHost;

export interface HostParty {
  readonly kind: "host";
  readonly host: HostRecord;
  readonly jwt: VerifiedJwt;
}

/** An active agent. */
export interface AgentParty {
  readonly kind: "agent";
  readonly agent: AgentRecord;
  readonly host: HostRecord;
  readonly jwt: VerifiedJwt;
}

/** A host that is not known yet: it has shown that it has the key that it brings. */
export interface NewHost {
  readonly kind: "newcomer";
  readonly ready: ReadKey;
  readonly jwt: VerifiedJwt;
}

/** A caller that shows nothing of itself. */
export interface Anonymous {
  readonly kind: "anonymous";
}

/** Who may make a request of an endpoint, by the word for it. */
export interface Parties {
  /** Any caller: credentials are not read. */
  readonly any: Anonymous;
  /** Any caller, and what a request may see depends on its credentials. */
  readonly optional: Anonymous | HostParty | AgentParty;
  readonly host: HostParty;
  /** Hosts that nothing is known of, or that wait for their first approval, too. */
  readonly "new-host": HostParty | NewHost;
  readonly agent: AgentParty;
  readonly "host-or-agent": HostParty | AgentParty;
  /** Hosts that wait for their first approval too. */
  readonly "waiting-host-or-agent": HostParty | AgentParty;
  /** Active agents, by a JWT in the body of a request, made for this server or for a location. */
  readonly introspected: AgentParty;
}

/** Who may make a request of an endpoint. */
export type Admission = keyof Parties;

const KINDS: { readonly [By in Admission]: readonly Party["kind"][] } = {
  any: ["anonymous"],
  optional: ["anonymous", "host", "agent"],
  host: ["host"],
  "new-host": ["host", "newcomer"],
  agent: ["agent"],
  "host-or-agent": ["host", "agent"],
  "waiting-host-or-agent": ["host", "agent"],
  introspected: ["agent"],
};

export function isAdmitted<By extends Admission>(party: Party, by: By): party is Parties[By] {
  return KINDS[by].includes(party.kind);
}

const WAITING: readonly Admission[] = ["waiting-host-or-agent", "new-host"];

/** Why a party may not make this request, though it is known. */
export function standingFault(
  party: Exclude<Party, Anonymous>,
  admitted: Admission,
): Fault | undefined {
  if (!isAdmitted(party, admitted)) {
    const needed = admitted === "agent" || admitted === "introspected" ? "an agent" : "a host";
    return refuse("unauthorized", `this needs the JWT of ${needed}`, { status: 401 });
  }
  if (party.kind === "newcomer") return undefined;
  if (party.host.status === "revoked") return refuse("host_revoked", "the host was revoked");
  if (party.kind === "agent") return agentFault(party.agent);
  if (party.host.status === "active" || WAITING.includes(admitted)) return undefined;
  return refuse("host_pending", "the host waits for its first approval");
}

/** Why an agent may do nothing now. */
function agentFault({ status, denial }: AgentRecord): Fault | undefined {
  switch (status) {
    case "active":
      return undefined;
    case "pending":
      return refuse(
        "agent_pending",
        "the agent waits for an approval; ask for its status as its host",
      );
    case "expired":
      return refuse("agent_expired", "the agent has expired; its host can reactivate it");
    case "revoked":
      return refuse("agent_revoked", "the agent was revoked");
    case "claimed":
      return refuse("agent_claimed", "a user has taken the agent over; register a new one");
    case "rejected": {
      const more = denial === undefined ? {} : { more: { reason: denial } };
      return refuse("agent_rejected", "the agent's registration was denied", more);
    }
  }
}
