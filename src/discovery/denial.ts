import type { Json } from "../bytes/json.js";
import type { ClientError, ClientErrorCode } from "../client/client-error.js";

/** Stable codes of the reasons for refusing an agent before it is called. */
export type DiscoveryCode =
  /**
   * No interface with the required binding speaks the required protocol version, or the card's range excludes
   * that version.
   */
  | "version_incompatible"
  /** A required capability is not declared, or is declared as `false`. */
  | "capability_undeclared"
  /** A required capability is deprecated, and the caller does not allow deprecated capabilities. */
  | "capability_deprecated"
  /** A required capability is removed in the required protocol version. */
  | "capability_removed"
  | "grant_missing"
  | "grant_operation_missing"
  | "grant_not_attenuable"
  /** Only a legacy grant covers the requirement, and the caller does not allow legacy grants. */
  | "legacy_only"
  /** No interface has the required binding; if no binding is required, no interface has a binding of A2A 1.0. */
  | "interface_unsupported"
  /** The document is not a card, or contradicts itself. */
  | "card_malformed"
  /** A signature is malformed, or names a trusted key but was not made with that key. */
  | "signature_invalid"
  | "signature_missing"
  /** The card is signed, but not by a key that the caller trusts. */
  | "signature_untrusted"
  /**
   * The card does not name the agents to which its agent delegates, or names an agent whose card is not judged, such as
   * an agent outside the chain.
   */
  | "chain_unknown"
  | "chain_cycle"
  | "chain_too_deep"
  /** The previous agent's card does not name this delegate. */
  | "delegate_undeclared"
  | "card_unreachable"
  | "card_timeout"
  | "card_too_large"
  | "card_not_json"
  | "redirect_refused"
  | "address_invalid"
  | "address_refused";

/** The agent in a chain that a reason is about. */
export interface DiscoveryLink {
  /** 0 is the called agent, 1 the agent it delegates to, and so on. */
  readonly index: number;
  /** The agent's URL, if known. */
  readonly url?: string;
}

/** One reason for refusing an agent. */
export interface DiscoveryDenial {
  readonly code: DiscoveryCode;
  /** The requirement that is not met, such as `capabilities` or `binding`, or a more specific cause. */
  readonly rule: string;
  /** A sentence for people. Strings from the card are quoted and shortened. */
  readonly message: string;
  /** JSON Pointer (RFC 6901) to the part of the card that the reason is about; absent for the card as a whole. */
  readonly path?: string;
  readonly expected?: Json;
  /** The value in the card; absent if the card has none. */
  readonly actual?: Json;
  /** The value in the card that is most similar to the expected one. */
  readonly nearest?: string;
  /** In a chain, the agent that the reason is about. */
  readonly link?: DiscoveryLink;
}

/** A warning about an agent that may be used. */
export interface DiscoveryWarning extends Omit<DiscoveryDenial, "code"> {
  readonly code:
    | DiscoveryCode
    | "capability_unknown"
    | "legacy_grant"
    /** The card was found at the path used by A2A before 0.3. */
    | "card_at_older_place";
}

/** The result of judging a card by one kind of requirement. */
export interface Judgement {
  readonly denials: readonly DiscoveryDenial[];
  readonly warnings: readonly DiscoveryWarning[];
}

const CODES: { readonly [Code in ClientErrorCode]: DiscoveryCode } = {
  address_invalid: "address_invalid",
  address_insecure: "address_refused",
  address_refused: "address_refused",
  origin_foreign: "address_refused",
  unreachable: "card_unreachable",
  tls_failed: "card_unreachable",
  not_http: "card_unreachable",
  not_found: "card_unreachable",
  timed_out: "card_timeout",
  redirected: "redirect_refused",
  not_json: "card_not_json",
  answer_malformed: "card_malformed",
  answer_too_large: "card_too_large",
};

/** Returns the denial for a card that could not be fetched; `rule` has the specific cause, such as `tls_failed`. */
export function fetchDenial({ code, message }: ClientError): DiscoveryDenial {
  return { code: CODES[code], rule: code, message };
}

/** Returns whether an agent was refused because its card could not be fetched, rather than for its contents. */
export function isUnreached(denials: readonly DiscoveryDenial[]): boolean {
  return denials.some(({ code }) => UNREACHED.has(code));
}

const UNREACHED: ReadonlySet<DiscoveryCode> = new Set(["card_unreachable", "card_timeout"]);
