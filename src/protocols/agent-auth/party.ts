import type { AgentRecord, HostRecord } from "../../agent/registry/records.js";
import type { ReadKey } from "./jwk.js";
import type { VerifiedJwt } from "./jwt.js";

/** Who makes a request, as its JWT shows. */
export type Party = Anonymous | HostParty | AgentParty | NewHost;

/** A registered host. */
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

/** Whether a party is one that an endpoint is for. */
export function isAdmitted<By extends Admission>(party: Party, by: By): party is Parties[By] {
  return KINDS[by].includes(party.kind);
}
