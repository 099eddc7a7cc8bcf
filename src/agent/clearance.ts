import type { Json } from "../bytes/json.js";
import type { VerifiedCapability } from "../capability/authorize.js";
import type { AuthorityKind } from "./ledger.js";
import type { AuthenticCapability, Presented } from "./presented.js";
import type { AgentDenials, Denied } from "./refusal.js";
import type { Operation, Skill, SkillCall } from "./skill.js";

/** The need of capabilities: they are offered only, preferred, or required. */
export type Mode = "advertise" | "prefer" | "require";

/** The answer to calls that use ambient authority without declaring it. */
export type UndeclaredAmbient = "accepted" | "refused";

/** The context in which a call is judged. */
interface Asked {
  readonly arguments: SkillCall["arguments"];
  readonly capabilities: readonly Presented[];
  /** True if the caller declares that it uses ambient authority; it presents no capability then. */
  readonly declared?: boolean;
}

/** A call of a skill. */
export interface SkillInvocation extends Asked {
  readonly skill: string;
}

/** A call of an operation that no skill has: code outside the agent runs it. */
export interface OperationInvocation extends Asked {
  readonly operation: string;
  /**
   * True if it lists what may be called, which names nothing: a limit on an argument that it does not give is
   * no reason against it. What is shown must be what the capabilities leave.
   */
  readonly listing?: boolean;
}

/** The permission for one call, with everything that it may reach. Only the cleared call may run. */
export interface Clearance<Of extends Operation = Skill>
  extends Pick<SkillCall, "arguments" | "principal" | "resources"> {
  readonly allowed: true;
  /** The skill, or the operation. */
  readonly asked: Of;
  readonly authority: AuthorityKind;
  /** Absent where authority is ambient. */
  readonly capability?: VerifiedCapability;
  /** The capability as presented, which can be narrowed further. */
  readonly presented?: AuthenticCapability;
  /** True if the caller has declared ambient authority; absent where authority is not ambient. */
  readonly declared?: boolean;
  /** The handles in the arguments. */
  readonly handles: readonly string[];
  /** The reason why the capability is no longer valid; absent for ambient authority. */
  readonly lost?: () => AgentDenials | undefined;
}

/** A refusal, with the capability that had the fewest denials, as far as it is known. */
export interface Refusal {
  readonly allowed: false;
  readonly denials: AgentDenials;
  /** Absent if unknown. */
  readonly asked?: Operation;
  readonly capability?: Judged;
  /** The handles in the arguments. */
  readonly handles?: readonly string[];
}

/** A capability whose signatures hold, allowed or not. */
export type Judged = Pick<VerifiedCapability, "id" | "grant" | "principal" | "revocationIds">;

/** The answer to a call. */
export type InvocationOutcome =
  | (Pick<Clearance, "authority" | "declared"> & {
      readonly ok: true;
      readonly result: Json;
      /** The capability that allowed it; absent where authority is ambient. */
      readonly capability?: string;
    })
  | Denied;

/** A skill that was cleared does not run: its capability was revoked, or expired, before it began. */
export class ClearanceLostError extends Error {
  override readonly name = "ClearanceLostError";
  readonly denials: AgentDenials;

  constructor(denials: AgentDenials) {
    super(denials.map(({ code, message }) => `${code}: ${message}`).join("; "));
    this.denials = denials;
  }
}
