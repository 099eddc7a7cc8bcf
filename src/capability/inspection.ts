import type { Authority } from "../caveats/authority.js";
import type { Hop } from "../caveats/hop.js";
import type { HopProblem } from "../caveats/hop-rule.js";
import type { MacaroonFormat } from "../macaroon/read.js";
import type { Identifier } from "./identifier.js";

/** Bytes in base64url, and as text if they are UTF-8, else in hex. */
export interface RawBytes {
  readonly base64url: string;
  readonly text?: string;
  readonly hex?: string;
}

/** One unverified link of a chain. */
export interface InspectedLink {
  /** 1 for the first caveat. */
  readonly number: number;
  /** `hop`: readable. `unreadable`: a check would refuse it. `third-party`: needs a discharge. */
  readonly kind: "hop" | "unreadable" | "third-party";
  readonly hop?: Hop;
  readonly problems?: readonly HopProblem[];
  /** The caveat's own bytes, for links that are not hops. */
  readonly raw?: RawBytes;
  /** The location that a third-party caveat gives for its discharge. */
  readonly location?: string;
}

/** The unverified content of a macaroon. Never holds its signature. */
export interface InspectedMacaroon {
  readonly location?: string;
  /** The identifier's bytes. */
  readonly identifier: RawBytes;
  readonly links: readonly InspectedLink[];
}

/** The content of a token. Anyone can write a token that says anything: nothing here is verified. */
export interface Inspection extends InspectedMacaroon {
  readonly verified: false;
  readonly format: MacaroonFormat;
  /** Size of all macaroons in v2 binary form. */
  readonly bytes: number;
  /** The grant's id, such as `documents:read`; absent if this macaroon is not a capability. */
  readonly grant?: string;
  /** The content of the identifier; absent if this macaroon is not a capability. */
  readonly capability?: Identifier;
  /** The service whose key the token names; absent for a root key. */
  readonly service?: string;
  /** The authority that the readable hops together leave. */
  readonly authority: Authority;
  /** Revocation id of the last link: revoking it refuses this token and all that is narrowed from it. */
  readonly revocationId: string;
  readonly discharges: readonly InspectedMacaroon[];
  readonly warnings: readonly InspectionWarning[];
}

/** Something about a token that its holder should know. */
export interface InspectionWarning {
  readonly code:
    | "not_a_capability"
    | "unreadable_caveat"
    | "no_expiry"
    | "long_expiry"
    | "expired"
    | "not_yet_valid"
    | "no_operations"
    | "nothing_left"
    | "discharge_needed"
    | "over_limit";
  readonly message: string;
}
