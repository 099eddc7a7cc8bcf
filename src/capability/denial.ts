import type { Json } from "../bytes/json.js";
import type { TokenErrorCode } from "../bytes/token-error.js";
import type { ArgumentRemedy } from "../caveats/argument-remedies.js";
import type { RuleCode } from "../caveats/hop-rule.js";

/** Every reason for refusing a capability; stable, and part of the specification. */
export type DenialCode =
  | "token_malformed"
  | "token_truncated"
  | "token_too_large"
  | "foreign_issuer"
  | "unknown_key"
  | "signature_mismatch"
  | "discharge_missing"
  | "discharge_invalid"
  | "revoked"
  | "revocation_stale"
  | "grant_denied"
  | "caveat_malformed"
  | "caveat_unknown"
  | "expiry_missing"
  | RuleCode;

/** One reason for a refusal. */
export interface Denial {
  readonly code: DenialCode;
  /** The index of the link that refuses: 0 is the identifier, 1 the issuer's hop, and so on. */
  readonly hop?: number;
  /** The discharge that contains the link, counted from 1; absent for the token itself. */
  readonly discharge?: number;
  /**
   * The rule that refuses, such as a key or a limit of a hop. For a token that is not authentic, a code that is more
   * precise than `code`.
   */
  readonly rule?: string;
  /** The value that the rule requires. */
  readonly expected?: Json;
  /**
   * The value in the invocation or the token; absent if there is none. If the argument would be inside a value that
   * is not an object, `actual` is that value.
   */
  readonly actual?: unknown;
  /** The nearest value that would have been allowed. */
  readonly nearest?: Json;
  /** Number of further denials with the same hop and key that are left out; set only on the last denial in the list. */
  readonly more?: number;
  /**
   * A change of the call's arguments. The call is allowed once the remedies of all denials have been applied, in the
   * order of the denials. Either every denial of a decision has a remedy, or none has.
   */
  readonly remedy?: ArgumentRemedy;
  /** A sentence for people. */
  readonly message: string;
}

const TOO_LARGE: readonly TokenErrorCode[] = [
  "too_large",
  "too_many_caveats",
  "caveat_too_large",
  "too_many_discharges",
  "too_many_members",
  "too_deep",
];

/** Returns the denial code for a token that could not be read. */
export function tokenDenialCode(code: TokenErrorCode): DenialCode {
  if (code === "truncated") return "token_truncated";
  return TOO_LARGE.includes(code) ? "token_too_large" : "token_malformed";
}
