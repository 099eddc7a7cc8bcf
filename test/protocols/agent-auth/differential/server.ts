/**
 * A server of Agent-Auth in the differential test: the address for agents, and operations that agents cannot do. There
 * is one implementation for the reference and one for our server.
 */
export interface AgentAuthServer {
  readonly name: "reference" | "ours";
  /** `http://127.0.0.1:PORT`: the origin of the well-known document. */
  readonly origin: string;
  /** The audience of JWTs, and the prefix of the endpoints. */
  readonly issuer: string;
  /** The server's time, in milliseconds since 1970. */
  readonly now: () => number;
  readonly alice: Approver;
  readonly bob: Approver;
  /** Makes an agent expire. */
  expire(agentId: string): Promise<void>;
  /** Offers a capability, or stops offering it. */
  offer(capability: string, offered: boolean): Promise<void>;
  close(): Promise<void>;
}

/** An approval that a user can decide, in the form in which the agent got it. */
export interface AskedOfUser {
  readonly agentId: string;
  /** Absent for a back-channel approval. */
  readonly userCode?: string;
}

/** A user who decides at the server's own approval page. */
export interface Approver {
  /** The user's identifier in back-channel requests. */
  readonly email: string;
  /** Approves the named capabilities; all pending capabilities unless given. */
  approve(asked: AskedOfUser, capabilities?: readonly string[]): Promise<void>;
  deny(asked: AskedOfUser): Promise<void>;
  /** Returns a one-time token with which a device enrols as a host of this user. */
  enrolmentToken(): Promise<string>;
}
