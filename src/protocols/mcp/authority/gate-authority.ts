// src/protocols/mcp/authority: decides which calls the tokens allow. This file has the interface that the gate uses;
// token-authority.ts implements it with an issuer and a ledger.

import type { AgentDenial, AgentDenials } from "../../../agent/refusal.js";
import type { JsonObject } from "../../../bytes/json.js";
import type { AuthenticToken } from "../../../capability/authentic-token.js";
import type { VerifiedCapability } from "../../../capability/verified-capability.js";
import type { Hop } from "../../../caveats/hop.js";

/** One call, as the gate judges it. */
export interface GateCall {
  /** The operation, such as `read_file`, `files/read_file` or `resources:read`. */
  readonly operation: string;
  readonly arguments: JsonObject;
  /**
   * For a `file:` URI with percent-escapes: the path that a server opens if it does not decode them; otherwise
   * `undefined`.
   */
  readonly undecodedPath?: string | undefined;
  /** The MCP method, such as `tools/call`. */
  readonly method: string;
  /** The name of the server; `undefined` for a gate's only server. */
  readonly server?: string | undefined;
}

/**
 * The tokens that apply to a message, or the reasons why they cannot be judged. The gate allows a call only if every
 * token allows it.
 */
export type Presented =
  | { readonly ok: true; readonly tokens: readonly [AuthenticToken, ...AuthenticToken[]] }
  | { readonly ok: false; readonly denials: AgentDenials };

export type GateDecision =
  | {
      readonly allowed: true;
      /** The capability of each token that was presented. */
      readonly capabilities: readonly [VerifiedCapability, ...VerifiedCapability[]];
    }
  | GateRefusal;

export interface GateRefusal {
  readonly allowed: false;
  /**
   * Every reason of every token that refuses the call. If a call has several tokens, the property `capability` of a
   * denial is the index of its token. A `remedy` changes an argument of a tool; all remedies together make the call
   * allowed.
   */
  readonly denials: AgentDenials;
  /** Remedies that change no argument; `undefined` if there are none. */
  readonly remedies?: readonly GateRemedy[];
}

/** A remedy for a refused call that changes no argument of the call. */
export type GateRemedy =
  | {
      /** The host can present one of its tokens alone. */
      readonly kind: "use_token";
      /** The capability id of the token to present alone. */
      readonly capability: string;
    }
  | {
      /** The host can request a capability for exactly this call from an issuer. */
      readonly kind: "request";
      /** A request in the form that an issuing agent reads (docs/a2a.md, section 6). */
      readonly request: JsonObject;
    };

/**
 * The only reason in the refusal of a call whose operation a token lacks, and of a call of something that does not
 * exist. The two have the same refusal, so that a host cannot find out what is hidden from it.
 */
export const UNAVAILABLE: AgentDenial = {
  code: "operation_denied",
  rule: "operations",
  message:
    "there is no such tool, prompt or resource here, or it may not be used; " +
    "the lists, such as tools/list, show what may be used",
};

/** Decides, by the tokens that a host presents, which calls the gate passes on. */
export interface GateAuthority {
  /**
   * Authenticates the tokens that apply to a message: the gate's own tokens, then the tokens that came with the
   * message. If one token is not authentic, the result is not ok; the gate never ignores a token.
   *
   * @param given - Tokens that came with the message, in its headers or its `_meta`.
   */
  present(given: readonly string[]): Presented;
  /**
   * Returns the tokens that apply to a message as strings, without authenticating them. While the gate's own tokens
   * cannot be read, returns `given` alone.
   */
  texts(given: readonly string[]): readonly string[];
  /**
   * Returns the reasons why tokens are not valid at present, whatever they allow: for example, a token is expired,
   * revoked, or for another audience or grant. `undefined` if all tokens are valid. Does not write to the ledger.
   */
  standing(presented: Presented): Promise<AgentDenials | undefined>;
  /**
   * Judges a call, and records the decision in the ledger with all reasons. If `presented` is not ok, records its
   * denials.
   *
   * The returned reasons disclose no more than the host may know. If the tokens are not valid, they are those of
   * {@link standing}. If the tokens are valid but one lacks the operation, the only reason is {@link UNAVAILABLE}.
   */
  decide(presented: Presented, call: GateCall): Promise<GateDecision>;
  /** Records a refusal that the gate itself has decided, for example because it cannot judge a URI. */
  refuse(presented: Presented, call: GateCall, denials: AgentDenials): GateRefusal;
  /**
   * Reads new revocations, unless that has just been done. Call this before {@link holds}, which refuses every token
   * while the list of revocations is too old: for example, after this machine was asleep.
   */
  catchUp(): Promise<void>;
  /**
   * Returns whether every token allows the operation with at least some arguments. Lists use this method. Does not
   * write to the ledger.
   */
  holds(presented: Presented, operation: string): boolean;
  /**
   * Returns the hops of all tokens and of their discharges, by which schemas are narrowed. The order has no meaning.
   */
  hops(presented: Presented): readonly Hop[];
  /** Returns the earliest expiry of the tokens, in milliseconds since 1970; `undefined` if `presented` is not ok. */
  expiresAt(presented: Presented): number | undefined;
  /**
   * Returns a string that identifies the party that presents the tokens: the revocation id of each token's last link. A
   * token and a token narrowed from it thus have different holders. Tasks and request states are bound to this string.
   */
  holder(presented: Presented): string;
  /**
   * Calls the listener when the entries that a list shows may have changed: a token was revoked, or the gate's own
   * token was replaced or has expired.
   *
   * @returns A function that removes the listener.
   */
  onChange(listener: () => void): () => void;
  /** Removes all listeners. The issuer and the ledger stay open. */
  close(): Promise<void>;
}
