import type { Json } from "../bytes/json.js";
import type { OpenedApproval } from "./approvals/opening.js";
import type { Clearance } from "./clearance.js";
import type { GrantedCapability } from "./issuance.js";
import type { AgentDenials, Denied, RefusedGrant, RequestRefusal } from "./refusal.js";

/** The answer to a request for capabilities. */
export type RequestOutcome =
  | {
      readonly ok: true;
      readonly capabilities: readonly GrantedCapability[];
      /** Grants under which nothing was issued, though others gave something. */
      readonly refused: readonly RefusedGrant[];
      /** Why there are no capabilities, where the query matched nothing. */
      readonly reason?: string;
      /** What waits for an approval: {@link IssuingAgent.collect} gives it once it is approved. */
      readonly pending?: OpenedApproval;
    }
  | RequestRefusal;

/** The answer to a call. */
export type InvocationOutcome =
  | (Pick<Clearance, "authority" | "declared"> & {
      readonly ok: true;
      readonly result: Json;
      /** The capability that allowed it; absent where authority is ambient. */
      readonly capability?: string;
    })
  | Denied;

/** The answer to a revocation. */
export type RevocationOutcome =
  | {
      readonly ok: true;
      readonly capability: string;
      readonly revocationId: string;
      /** Why there was nothing to do. */
      readonly needless?: "revoked" | "expired";
    }
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
