import { isOfUser } from "../../agent/registry/looking.js";
import type { AgentRecord, HostRecord } from "../../agent/registry/records.js";
import { type Fault, fault } from "./errors.js";
import type { VerifiedJwt } from "./jwt.js";
import type { ReadKey } from "./keys.js";

/** Who makes a request, as its JWT shows. */
export type Party = Anonymous | HostParty | SigningHost | AgentParty | NewHost;

/** A host that may make the request. */
export interface HostParty {
  readonly kind: "host";
  readonly host: HostRecord;
  readonly jwt: VerifiedJwt;
}

/**
 * A host that has signed, before it is known which: several may have been given the same unproven key. The agent that
 * the request names decides.
 */
export interface SigningHost {
  readonly kind: "signer";
  readonly thumbprint: string;
  /** The host that has proven the key; of any standing. */
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
  /** Hosts that nothing is known of, or that wait for their first approval, too. */
  readonly "new-host": HostParty | NewHost;
  readonly agent: AgentParty;
  /** An agent that executes a capability. */
  readonly executing: AgentParty;
  /** A host, about itself. */
  readonly "host-itself": SigningHost;
  /** A host, about an agent of it. */
  readonly "host-of-agent": SigningHost;
  /** The same, or the agent itself. */
  readonly "host-or-agent": SigningHost | AgentParty;
  /** Active agents, by a JWT in the body of a request, made for this server or for a location. */
  readonly introspected: AgentParty;
}

/** Who may make a request of an endpoint. */
export type Allowed = keyof Parties;

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

export function isAllowed<By extends Allowed>(party: Party, by: By): party is Parties[By] {
  return KINDS[by].includes(party.kind);
}

/** The host that a party is or belongs to, as far as its credentials alone say. */
export function hostIn(party: Party): HostRecord | undefined {
  if (party.kind === "signer") return party.holder;
  return party.kind === "host" || party.kind === "agent" ? party.host : undefined;
}

/** True if anyone can make such a party: no user has taken on a host that is known by its key. */
export function isStranger(party: Party): boolean {
  const host = hostIn(party);
  return host === undefined || !isOfUser(host);
}

/** Whether JWTs of a type are taken for a request. */
export function isTaken(type: VerifiedJwt["type"], by: Allowed): boolean {
  return KINDS[by].some(
    (kind) => kind !== "anonymous" && (kind === "agent") === (type === "agent+jwt"),
  );
}

/** Why a party may not make this request, though it is known. */
export function statusFault(party: Exclude<Party, Anonymous>, allowed: Allowed): Fault | undefined {
  if (party.kind === "agent") return hostFault(party.host, true) ?? agentFault(party.agent);
  return party.kind === "host" ? hostFault(party.host, allowed === "new-host") : undefined;
}

/** Why a host may do nothing now. @param waiting - Whether it may while it waits for its first approval. */
export function hostFault({ status }: HostRecord, waiting: boolean): Fault | undefined {
  if (status === "revoked") return fault("host_revoked", "the host was revoked");
  if (status === "active" || waiting) return undefined;
  return fault("host_pending", "the host waits for its first approval");
}

/** Why an agent may do nothing now. */
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
