import { isUsersHost } from "../../agent/parties/hosts.js";
import type { AgentRecord, HostRecord } from "../../agent/parties/records.js";
import { type Fault, fault } from "./errors.js";
import type { VerifiedJwt } from "./jwt.js";
import type { ReadKey } from "./keys.js";

/** The party of a request, as shown by its JWT. */
export type Party = Anonymous | HostParty | SigningHost | AgentParty | NewHost;

/** A host that may make the request. */
export interface HostParty {
  readonly kind: "host";
  readonly host: HostRecord;
  readonly jwt: VerifiedJwt;
}

/**
 * A host that has signed with a key that several hosts may have been given unproven. The agent named in the
 * request identifies the host.
 */
export interface SigningHost {
  readonly kind: "signer";
  readonly thumbprint: string;
  /** The host that has proven the key, in any state. */
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

/** An unknown host, which has proven possession of the key in its JWT. */
export interface NewHost {
  readonly kind: "newcomer";
  readonly ready: ReadKey;
  readonly jwt: VerifiedJwt;
}

/** A caller without credentials. */
export interface Anonymous {
  readonly kind: "anonymous";
}

/** Which parties may call an endpoint. */
export interface AllowedParties {
  /** Any caller; credentials are not read. */
  readonly any: Anonymous;
  /** Any caller; its credentials decide what it may see. */
  readonly optional: Anonymous | HostParty | AgentParty;
  /** Hosts, including unknown ones and those that wait for their first approval. */
  readonly "new-host": HostParty | NewHost;
  readonly agent: AgentParty;
  /** An agent that executes a capability. */
  readonly executing: AgentParty;
  /** A host, about itself. */
  readonly "host-itself": SigningHost;
  /** A host, about one of its agents. */
  readonly "host-of-agent": SigningHost;
  /** A host about one of its agents, or the agent about itself. */
  readonly "host-or-agent": SigningHost | AgentParty;
  /** Active agents, by a JWT in the body of the request, made for this server or for a location. */
  readonly introspected: AgentParty;
}

/** Which parties may call an endpoint. */
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

/** Returns the host of a party, as far as its credentials alone identify it. */
export function hostIn(party: Party): HostRecord | undefined {
  if (party.kind === "signer") return party.holder;
  return party.kind === "host" || party.kind === "agent" ? party.host : undefined;
}

/** Returns true if anyone can make such a party: its key identifies no host that a user has taken on. */
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

/** Returns why a known party may not make this request. */
export function statusFault(party: Exclude<Party, Anonymous>, allowed: Allowed): Fault | undefined {
  if (party.kind === "agent") return hostFault(party.host, true) ?? agentFault(party.agent);
  return party.kind === "host" ? hostFault(party.host, allowed === "new-host") : undefined;
}

/**
 * Returns why a host may do nothing now. @param waiting - Whether it may call while it waits for its first
 * approval.
 */
export function hostFault({ status }: HostRecord, waiting: boolean): Fault | undefined {
  if (status === "revoked") return fault("host_revoked", "the host was revoked");
  if (status === "active" || waiting) return undefined;
  return fault("host_pending", "the host waits for its first approval");
}

/** Returns why an agent may do nothing now. */
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
