import type { Authority } from "../caveats/authority.js";
import type { Hop } from "../caveats/hop.js";
import type { HopProblem } from "../caveats/hop-rule.js";
import type { MacaroonFormat } from "../macaroon/read.js";
import type { Identifier } from "./identifier.js";

/** Bytes as they are: as text where they are UTF-8, else in hex. */
export interface RawBytes {
  readonly base64url: string;
  readonly text?: string;
  readonly hex?: string;
}

/** One link of a chain as it reads; nothing of it has been verified. */
export interface InspectedLink {
  /** 1 for the first caveat. */
  readonly number: number;
  /** `hop`: readable. `unreadable`: a check would refuse it. `third-party`: needs a discharge. */
  readonly kind: "hop" | "unreadable" | "third-party";
  readonly hop?: Hop;
  readonly problems?: readonly HopProblem[];
  /** The caveat's own bytes, for links that are not hops. */
  readonly raw?: RawBytes;
  /** Where a third-party caveat says to ask for a discharge. */
  readonly location?: string;
}

/** What a macaroon says about itself, unverified. Never holds its signature. */
export interface InspectedMacaroon {
  readonly location?: string;
  /** The identifier's bytes. */
  readonly identifier: RawBytes;
  readonly links: readonly InspectedLink[];
}

/** What a token says. Anyone can write a token that says anything: nothing here is verified. */
export interface Inspection extends InspectedMacaroon {
  readonly verified: false;
  readonly format: MacaroonFormat;
  /** Size of all macaroons in v2 binary form. */
  readonly bytes: number;
  /** The grant's id, such as `documents:read`; absent if this macaroon is not a capability. */
  readonly grant?: string;
  /** What the identifier says; absent if this macaroon is not a capability. */
  readonly capability?: Identifier;
  /** The one service that it was made for, if it names the key of one. */
  readonly service?: string;
  /** What the readable hops leave together. */
  readonly authority: Authority;
  /** Of the last link: revoking it refuses this token and all that is narrowed from it. */
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
