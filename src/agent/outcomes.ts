import type { Json } from "../bytes/json.js";
import type { GrantedCapability } from "./issuance.js";
import type { AuthorityKind } from "./ledger.js";
import type { Denied, RefusedGrant, RequestRefusal } from "./refusal.js";

/** The answer to a request for capabilities. */
export type RequestOutcome =
  | {
      readonly ok: true;
      readonly capabilities: readonly GrantedCapability[];
      /** Grants under which nothing was issued, though others gave something. */
      readonly refused: readonly RefusedGrant[];
      /** Why there are no capabilities, where the query matched nothing. */
      readonly reason?: string;
    }
  | RequestRefusal;

/** The answer to a call. */
export type InvocationOutcome =
  | {
      readonly ok: true;
      readonly result: Json;
      readonly authority: AuthorityKind;
      /** The capability that allowed it; absent where authority is ambient. */
      readonly capability?: string;
      /** Whether ambient authority was declared; absent where authority is not ambient. */
      readonly declared?: boolean;
    }
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
