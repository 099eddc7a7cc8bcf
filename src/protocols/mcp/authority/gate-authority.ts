// src/protocols/mcp/authority: what tokens allow at the gate. This file has the types by which the gate asks;
// token-authority.ts answers them with an issuer and a ledger.

import type { AgentDenials } from "../../../agent/refusal.js";
import type { JsonObject } from "../../../bytes/json.js";
import type { AuthenticToken } from "../../../capability/authentic-token.js";
import type { VerifiedCapability } from "../../../capability/verified-capability.js";
import type { Hop } from "../../../caveats/hop.js";

/** One call, as the gate judges it. */
export interface GateCall {
  /** The operation, such as `read_file`, `files/read_file` or `resources:read`. */
  readonly operation: string;
  readonly arguments: JsonObject;
  /** The path that a server opens if it does not decode the escapes of a URI; `undefined` if there are none. */
  readonly undecodedPath?: string | undefined;
  /** The method of MCP, such as `tools/call`. */
  readonly method: string;
  /** The name of the server; `undefined` for a gate's only server. */
  readonly server?: string | undefined;
}

/** The tokens that apply to a message, all of which must allow a call; or the reasons why none is judged. */
export type Presented =
  | { readonly ok: true; readonly tokens: readonly [AuthenticToken, ...AuthenticToken[]] }
  | { readonly ok: false; readonly denials: AgentDenials };

/** The decision on a call. */
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
   * Every reason of every token that refuses; of several tokens, each says which by `capability`. A `remedy` is about
   * the arguments of a tool, and all of them together make the call allowed.
   */
  readonly denials: AgentDenials;
  /** Ways to an allowed call that change no argument; none if absent. */
  readonly remedies?: readonly GateRemedy[];
}

/** A way to an allowed call that changes no argument. */
export type GateRemedy =
  | {
      /** Presents this token alone. */
      readonly kind: "use_token";
      /** The id of the capability of the token to present alone. */
      readonly capability: string;
    }
  | {
      /** Requests a capability for this very call from whoever issues them. */
      readonly kind: "request";
      /** A request for capabilities, as an issuing agent reads it (docs/a2a.md, section 6). */
      readonly request: JsonObject;
    };

/** Judges what the gate is asked to pass on, by the tokens that its caller presents. */
export interface GateAuthority {
  /**
   * Returns the tokens that apply to a message: the gate's own, then those that came with it. A token that is not
   * authentic is a refusal, so that no token is passed over.
   *
   * @param given - Tokens that came with the message: in headers, or in its `_meta`.
   */
  present(given: readonly string[]): Presented;
  /** Returns the tokens that apply to a message as texts; without the gate's own while they cannot be read. */
  texts(given: readonly string[]): readonly string[];
  /**
   * Returns why tokens are not in force, whatever they allow: one is expired, revoked or for another audience.
   * `undefined` if all are in force. Records nothing.
   */
  standing(presented: Presented): Promise<AgentDenials | undefined>;
  /** Judges a call, and records the decision in the ledger. A refused {@link Presented} is recorded too. */
  decide(presented: Presented, call: GateCall): Promise<GateDecision>;
  /** Records a refusal for reasons of the gate's own, such as a URI that cannot be judged. */
  refuse(presented: Presented, call: GateCall, denials: AgentDenials): GateRefusal;
  /** Returns whether each token has an operation, whatever the arguments: for lists. Records nothing. */
  holds(presented: Presented, operation: string): boolean;
  /** Returns the hops of all tokens, those of discharges included, in no order that matters: for narrowed schemas. */
  hops(presented: Presented): readonly Hop[];
  /** Returns when the first of the tokens expires, in milliseconds since 1970; `undefined` if none is authentic. */
  expiresAt(presented: Presented): number | undefined;
  /**
   * Returns who presents: the revocation id of each token's last link, so that a token and one narrowed from it have
   * different holders. Binds a task or a request's state to its party.
   */
  holder(presented: Presented): string;
  /**
   * Calls the listener when what a list shows may have changed: something was revoked, the gate's own token was
   * replaced or has expired.
   *
   * @returns A function that ends this.
   */
  onChange(listener: () => void): () => void;
  /** Ends all listening. The issuer and the ledger stay open. */
  close(): Promise<void>;
}
