import { isUsersHost } from "../../agent/parties/hosts.js";
import type { AgentRecord, HostRecord } from "../../agent/parties/records.js";
import { type Fault, fault } from "./errors.js";
import type { VerifiedJwt } from "./jwt.js";
import type { ReadKey } from "./keys.js";

/** The party that makes a request, according to its JWT. */
export type Party = Anonymous | HostParty | SigningHost | AgentParty | NewHost;

/** A known host. */
export interface HostParty {
  readonly kind: "host";
  readonly host: HostRecord;
  readonly jwt: VerifiedJwt;
}

/**
 * A host identified only by its key. Several hosts can have the same unproven key; the agent that the request names
 * then identifies the host.
 */
export interface SigningHost {
  readonly kind: "signer";
  readonly thumbprint: string;
  /** The host that has proven the key, whatever its status. */
  readonly holder?: HostRecord;
  readonly jwt: VerifiedJwt;
}

/** An active agent. */
export interface AgentParty {
  readonly kind: "agent";
  readonly agent: AgentRecord;
  readonly host: HostRecord;
  readonly jwt: VerifiedJwt;
}

/** An unknown host that has proven possession of the key in its JWT. */
export interface NewHost {
  readonly kind: "newcomer";
  readonly ready: ReadKey;
  readonly jwt: VerifiedJwt;
}

/** A client without credentials. */
export interface Anonymous {
  readonly kind: "anonymous";
}

/** The parties that may call an endpoint, by the kind of the endpoint. */
export interface AllowedParties {
  /** Any client. Credentials are not read. */
  readonly any: Anonymous;
  /** Any client. The credentials determine what the client may see. */
  readonly optional: Anonymous | HostParty | AgentParty;
  /** Hosts, including unknown hosts and hosts that wait for their first approval. */
  readonly "new-host": HostParty | NewHost;
  readonly agent: AgentParty;
  /** An agent that executes a capability. */
  readonly executing: AgentParty;
  /** A host that makes a request about itself. */
  readonly "host-itself": SigningHost;
  /** A host that makes a request about one of its agents. */
  readonly "host-of-agent": SigningHost;
  /** A host that makes a request about one of its agents, or an agent that makes a request about itself. */
  readonly "host-or-agent": SigningHost | AgentParty;
  /** An active agent whose JWT is in the body of the request. Its JWT is for this server or a capability's location. */
  readonly introspected: AgentParty;
}

/** The kind of an endpoint; see {@link AllowedParties}. */
export type Allowed = keyof AllowedParties;

const KINDS: { readonly [By in Allowed]: readonly Party["kind"][] } = {
  any: ["anonymous"],
  optional: ["anonymous", "host", "agent"],
  "new-host": ["host", "newcomer"],
  agent: ["agent"],
  executing: ["agent"],
  "host-itself": ["signer"],
  "host-of-agent": ["signer"],
  "host-or-agent": ["signer", "agent"],
  introspected: ["agent"],
};

export function isAllowed<By extends Allowed>(party: Party, by: By): party is AllowedParties[By] {
  return KINDS[by].includes(party.kind);
}

/** Returns the host of a party, if its credentials alone identify one. */
export function hostIn(party: Party): HostRecord | undefined {
  if (party.kind === "signer") return party.holder;
  return party.kind === "host" || party.kind === "agent" ? party.host : undefined;
}

/** Returns whether a party is a stranger: its key identifies no linked host, so anyone can become such a party. */
export function isStranger(party: Party): boolean {
  const host = hostIn(party);
  return host === undefined || !isUsersHost(host);
}

/** Returns whether an endpoint accepts JWTs of a type. */
export function isTaken(type: VerifiedJwt["type"], by: Allowed): boolean {
  return KINDS[by].some(
    (kind) => kind !== "anonymous" && (kind === "agent") === (type === "agent+jwt"),
  );
}

/** Returns the fault if a known party may not make this request. */
export function statusFault(party: Exclude<Party, Anonymous>, allowed: Allowed): Fault | undefined {
  if (party.kind === "agent") return hostFault(party.host, true) ?? agentFault(party.agent);
  return party.kind === "host" ? hostFault(party.host, allowed === "new-host") : undefined;
}

/**
 * Returns the fault if a host may not act at present.
 *
 * @param waiting - True if a host that waits for its first approval may act.
 */
export function hostFault({ status }: HostRecord, waiting: boolean): Fault | undefined {
  if (status === "revoked") return fault("host_revoked", "the host was revoked");
  if (status === "active" || waiting) return undefined;
  return fault("host_pending", "the host waits for its first approval");
}

/** Returns the fault if an agent may not act at present. */
function agentFault({ status, denial }: AgentRecord): Fault | undefined {
  switch (status) {
    case "active":
      return undefined;
    case "pending":
      return fault(
        "agent_pending",
        "the agent waits for an approval; ask for its status as its host",
      );
    case "expired":
      return fault("agent_expired", "the agent has expired; its host can reactivate it");
    case "revoked":
      return fault("agent_revoked", "the agent was revoked");
    case "claimed":
      return fault("agent_claimed", "a user has taken the agent over; register a new one");
    case "rejected": {
      const more = denial === undefined ? {} : { more: { reason: denial } };
      return fault("agent_rejected", "the agent's registration was denied", more);
    }
  }
}
