/**
 * A server of Agent-Auth as the differential test sees it: where agents reach it, and its own surface for
 * what is no agent's business. The reference implementation and ours each have one.
 */
export interface AgentAuthServer {
  readonly name: "reference" | "ours";
  /** `http://127.0.0.1:PORT`: where the well-known document is. */
  readonly origin: string;
  /** What its JWTs are for, and what the paths of its endpoints begin with. */
  readonly issuer: string;
  /** Its time, in milliseconds since 1970. */
  readonly now: () => number;
  readonly alice: Approver;
  readonly bob: Approver;
  /** Lets an agent expire. */
  expire(agentId: string): Promise<void>;
  /** Stops offering a capability, or offers it again. */
  offer(capability: string, offered: boolean): Promise<void>;
  close(): Promise<void>;
}

/** What one asks a user about, as the agent got it. */
export interface AskedOfUser {
  readonly agentId: string;
  /** Absent where the approval is back-channel. */
  readonly userCode?: string;
}

/** A user at the server's own approval surface. */
export interface Approver {
  /** Where back-channel requests find the user. */
  readonly email: string;
  /** Approves all that is pending, or some of it. */
  approve(asked: AskedOfUser, capabilities?: readonly string[]): Promise<void>;
  deny(asked: AskedOfUser): Promise<void>;
  /** A one-time token with which a device enrols as a host of this user. */
  enrolmentToken(): Promise<string>;
}
