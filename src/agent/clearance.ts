import type { Json } from "../bytes/json.js";
import type { VerifiedCapability } from "../capability/authorize.js";
import type { AuthorityKind } from "./ledger.js";
import type { AuthenticCapability, Presented } from "./presented.js";
import type { AgentDenials, Denied } from "./refusal.js";
import type { Operation, Skill, SkillCall } from "./skill.js";

/** The rule for calls without a capability: the agent only offers capabilities, prefers them, or requires them. */
export type Mode = "advertise" | "prefer" | "require";

/** The treatment of calls that use ambient authority without declaring it. */
export type UndeclaredAmbient = "accepted" | "refused";

/** The properties that all calls have. */
interface Asked {
  readonly arguments: SkillCall["arguments"];
  readonly capabilities: readonly Presented[];
  /** True if the caller declares that it uses ambient authority; `capabilities` is then empty. */
  readonly declared?: boolean;
}

/** A call of a skill. */
export interface SkillInvocation extends Asked {
  readonly skill: string;
}

/** A call of an operation that no skill has. Code outside the agent runs the operation. */
export interface OperationInvocation extends Asked {
  readonly operation: string;
  /**
   * True for a call that only lists what can be called. Such a call may omit arguments: limits on missing
   * arguments do not deny it. The calling code must show only what the capabilities allow.
   */
  readonly listing?: boolean;
}

/** The permission for one call, with the resources that the call may use. Only the cleared call may run. */
export interface Clearance<Of extends Operation = Skill>
  extends Pick<SkillCall, "arguments" | "principal" | "resources"> {
  readonly allowed: true;
  /** The called skill or operation. */
  readonly asked: Of;
  readonly authority: AuthorityKind;
  /** Absent if authority is ambient. */
  readonly capability?: VerifiedCapability;
  /** The capability as presented, which can be narrowed further. */
  readonly presented?: AuthenticCapability;
  /** True if the caller has declared ambient authority; absent if a capability allows the call. */
  readonly declared?: boolean;
  /** The handles in the arguments. */
  readonly handles: readonly string[];
  /**
   * Returns the reasons why the capability is no longer valid; `undefined` while the capability is valid.
   * Absent for ambient authority.
   */
  readonly lost?: () => AgentDenials | undefined;
}

/** A refusal. If several capabilities were presented, `capability` is the authentic one with the fewest denials. */
export interface Refusal {
  readonly allowed: false;
  readonly denials: AgentDenials;
  /** The called skill or operation; absent if it is unknown. */
  readonly asked?: Operation;
  readonly capability?: Judged;
  /** The handles in the arguments. */
  readonly handles?: readonly string[];
}

/** A capability whose signatures are valid, whether or not it allows the call. */
export type Judged = Pick<VerifiedCapability, "id" | "grant" | "principal" | "revocationIds">;

/** The answer to a call. */
export type InvocationOutcome =
  | (Pick<Clearance, "authority" | "declared"> & {
      readonly ok: true;
      readonly result: Json;
      /** The id of the capability that allowed the call; absent if authority is ambient. */
      readonly capability?: string;
    })
  | Denied;

/** Thrown if a cleared call cannot run, because its capability was revoked or has expired since the clearance. */
export class ClearanceLostError extends Error {
  override readonly name = "ClearanceLostError";
  readonly denials: AgentDenials;

  constructor(denials: AgentDenials) {
    super(denials.map(({ code, message }) => `${code}: ${message}`).join("; "));
    this.denials = denials;
  }
}
