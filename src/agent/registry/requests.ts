import type { Json, JsonObject } from "../../bytes/json.js";
import type { Approval } from "../approvals/approval.js";
import type { Actor } from "../approvals/approval-events.js";
import type { OpenedApproval } from "../approvals/opening.js";
import type { AgentAnswer } from "./outcomes.js";
import type { AgentMode, Origin, PublicKey } from "./records.js";

/** A capability as an agent asks for it. */
export interface AskedCapability {
  readonly name: string;
  /** As it came over the network: argument to exact value, or to `{min, max, in, not_in}`. */
  readonly constraints?: Json | undefined;
}

/** How a user is asked, and the subject. */
export interface AskingOptions {
  /** The reason, in the agent's words. */
  readonly purpose?: string | undefined;
  /** A text that agent and user both see, by which the user knows the request. */
  readonly bindingMessage?: string | undefined;
  /**
   * The user that is to decide, where the host is linked to none: it finds the request in its list. Where that has
   * no room for more of strangers, it is as if none were named: the user enters the code.
   */
  readonly loginHint?: string | undefined;
  /** `user_code` unless given. Without a user that is known or named, it is that in any case. */
  readonly method?: Approval["method"] | undefined;
  /**
   * The same key and the same request get the same answer again, for a day; from a host that no user has taken on,
   * only a request that made something.
   */
  readonly idempotencyKey?: string | undefined;
}

/** A host, as it has proved to be. */
export interface HostProof {
  /** Its public key as a JWK. */
  readonly hostKey: JsonObject;
  /** The key's thumbprint (RFC 7638). */
  readonly hostThumbprint: string;
  readonly hostName?: string | undefined;
  /** The origin of the request; a new host takes a share of its address and network. */
  readonly from?: Origin | undefined;
}

/** A public key that a host or an agent is given. */
export interface NewKey extends PublicKey {
  /** True if the caller has verified a signature under the key that names the party. */
  readonly proven: boolean;
}

/** A host that a user makes, or an operator of this installation in the user's place. */
export interface HostCreation {
  readonly principal: string;
  readonly name?: string | undefined;
  readonly key?: PublicKey | undefined;
  readonly defaults?: readonly string[] | undefined;
  readonly operator?: boolean | undefined;
}

/** A host that gives its key, by its enrolment token. */
export interface HostEnrolment extends NewKey {
  readonly token: string;
  readonly name?: string | undefined;
}

/** A request of a host to register an agent. */
export interface Registration extends HostProof, AskingOptions {
  readonly agentKey: JsonObject;
  readonly agentThumbprint: string;
  readonly name: string;
  readonly mode: AgentMode;
  /** None unless given. */
  readonly capabilities?: readonly AskedCapability[] | undefined;
}

/** A request of an agent for more than it has. */
export interface GrantRequest extends AskingOptions {
  readonly capabilities: readonly AskedCapability[];
}

/** A request of an autonomous agent, or of its host, that a user takes the agent over. */
export interface Claim extends Omit<AskingOptions, "idempotencyKey"> {
  readonly agent: string;
  /** The party that has proved to ask: the agent, or its host. Any other is refused. */
  readonly by: Pick<Actor, "agent" | "host">;
}

/** An agent's current grants, and the request to be decided first. */
export interface AskedAnswer extends AgentAnswer, Partial<OpenedApproval> {}
