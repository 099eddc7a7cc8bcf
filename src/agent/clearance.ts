import type { Json } from "../bytes/json.js";
import type { VerifiedCapability } from "../capability/authorize.js";
import type { Issuer } from "../issuer/issuer.js";
import type { ArgumentCheck } from "./arguments.js";
import type { KnownGrant } from "./grant.js";
import type { AuthorityKind, Ledger } from "./ledger.js";
import type { Policy } from "./policy.js";
import type { PresentedCapability } from "./presented.js";
import {
  type AgentDenial,
  type AgentDenials,
  missingCapability,
  undeclaredAuthority,
} from "./refusal.js";
import type { Resource, ResourceSource } from "./resources/resource.js";
import type { ResourceHandles } from "./resources/resource-handles.js";
import type { Skill } from "./skill.js";

/** Whether callers need capabilities: offered only, preferred, or required. */
export type Mode = "advertise" | "prefer" | "require";

/** Whether calls that use ambient authority without declaring it are let through. */
export type UndeclaredAmbient = "accepted" | "refused";

/** A call of a skill. */
export interface SkillInvocation {
  readonly skill: string;
  readonly arguments: { readonly [name: string]: Json };
  readonly capabilities: readonly PresentedCapability[];
  /** Whether the caller declares that it uses ambient authority; it presents no capability then. */
  readonly declared?: boolean;
}

/** Leave to run a skill, with all that it may reach. */
export interface Clearance {
  readonly allowed: true;
  readonly skill: Skill;
  readonly authority: AuthorityKind;
  readonly principal: string;
  /** Absent where authority is ambient. */
  readonly capability?: VerifiedCapability;
  /** Whether the caller has declared ambient authority; absent where authority is not ambient. */
  readonly declared?: boolean;
  readonly handles: readonly string[];
  readonly resources: ReadonlyMap<string, Resource>;
  /** What was cleared; nothing else may run. */
  readonly arguments: SkillInvocation["arguments"];
}

/** A refusal, with what is known of the capability that had the fewest denials. */
export interface Refusal {
  readonly allowed: false;
  readonly denials: AgentDenials;
  readonly skill?: Skill;
  readonly capability?: Judged;
  /** The handles in the arguments. */
  readonly handles?: readonly string[];
}

/** A capability whose signatures hold, allowed or not. */
export type Judged = Pick<VerifiedCapability, "id" | "grant" | "revocationIds">;

/** What the gate rests on. */
export interface GateContext {
  readonly issuer: Issuer;
  readonly audience: string;
  readonly mode: Mode;
  readonly undeclaredAmbient: UndeclaredAmbient;
  readonly grants: ReadonlyMap<string, KnownGrant>;
  readonly skills: ReadonlyMap<string, Skill>;
  readonly checks: ReadonlyMap<string, ArgumentCheck>;
  readonly policy: Policy;
  readonly resources?: ResourceSource | undefined;
  readonly handles: ResourceHandles;
  readonly ledger: Ledger;
}

/** Denies a call without a capability where the agent's mode does not accept it. */
export function ambientDenial(
  declared: boolean,
  { mode, undeclaredAmbient }: Pick<GateContext, "mode" | "undeclaredAmbient">,
): AgentDenial | undefined {
  if (mode === "require") return missingCapability();
  return declared || undeclaredAmbient === "accepted" ? undefined : undeclaredAuthority();
}
