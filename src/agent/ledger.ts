import type { Hop } from "../caveats/hop.js";

/**
 * `approval`: an approval was opened, decided, cancelled or collected, or has expired. `registration`: a host, an agent
 * or an agent's grants changed.
 */
export type LedgerEventKind =
  | "issuance"
  | "invocation"
  | "revocation"
  | "approval"
  | "registration";

/** The authority for a call: a capability, a capability of a legacy grant, or the policy alone (`ambient`). */
export type AuthorityKind = "capability" | "legacy" | "ambient";

/** One event of the ledger. It never contains a token or a signature. */
export interface LedgerEvent {
  readonly kind: LedgerEventKind;
  /** `YYYY-MM-DDTHH:MM:SS.mmmZ`. */
  readonly at: string;
  readonly decision: "allowed" | "refused";
  /** The user on whose behalf the call was made, as authenticated, or else the capability's principal. */
  readonly principal?: string;
  /** True if an operator of this installation acted in place of the user or agent. */
  readonly operator?: true;
  /** The calling agent, as authenticated. */
  readonly invoker?: string;
  /** The reason, in the caller's own words. */
  readonly purpose?: string;
  /** The capability's id; absent if the call had no capability, or its signatures were invalid. */
  readonly capability?: string;
  readonly grant?: string;
  readonly authority?: AuthorityKind;
  /** True if the caller had declared ambient authority; absent if the authority is not ambient. */
  readonly declared?: boolean;
  readonly skill?: string;
  readonly operation?: string;
  /** The change, such as `agent.activated`, `grant.revoked` or `approval.approved`. */
  readonly change?: string;
  /** The id of the host, agent, agent grant or approval that changed. */
  readonly record?: string;
  /** The handles in the arguments of a call, or of an issued capability. */
  readonly handles?: readonly string[];
  /** Denial codes, or other codes for the reason of a refusal; empty or absent if allowed. */
  readonly codes?: readonly string[];
  /** The code, hop and rule of each denial of a refused call; at most 32 denials. */
  readonly denials?: readonly LedgerDenial[];
  /** The hops of the presented token. */
  readonly path?: readonly LedgerHop[];
  /** Values of the arguments that the operator named in `recordValues`. */
  readonly values?: { readonly [argument: string]: unknown };
}

/** One reason for refusing a call. It contains no value from the call. */
export interface LedgerDenial {
  readonly code: string;
  /**
   * The index of the link of the token that refuses the call: 0 is the identifier, 1 the issuer's hop. Absent
   * if the reason is not about one link.
   */
  readonly hop?: number;
  /** The rule that refuses, such as `operationConstraints.read_file.path.path`. */
  readonly rule?: string;
}

/** One hop of a presented token. */
export interface LedgerHop {
  readonly revocationId: string;
  /**
   * The contents of the hop; absent if they are not recorded. The ledger has no contents of third-party caveats, of
   * hops that contain a token, and of hops that only refused calls have presented.
   */
  readonly hop?: Hop;
}

/** An issued capability as it is stored: together with the root key, everything needed to make its token again. */
export interface IssuedCapability {
  readonly id: string;
  /** The canonical JSON of the capability's identifier. */
  readonly identifier: string;
  /** The canonical JSON of the issuer's hop. */
  readonly hop: string;
  /** The canonical JSON of each hop that was issued after the issuer's hop; absent if there are none. */
  readonly further?: readonly string[];
  /** The user on whose behalf the capability was issued. */
  readonly principal: string;
  readonly invoker: string;
  /** `YYYY-MM-DDTHH:MM:SSZ`. */
  readonly expires: string;
  /** The JSON of the resource query by which the capability was issued; absent if there was none. */
  readonly query?: string;
}

/** One decision, for metrics. It contains nothing that a caller wrote. */
export interface Observation extends Pick<LedgerEvent, "kind" | "decision" | "authority"> {
  /** The first denial code of a refusal. */
  readonly code?: string;
  /** Duration of the decision, in seconds. */
  readonly seconds: number;
}

/** Selects events of the ledger. All given conditions must hold. */
export interface LedgerQuery
  extends Partial<Pick<LedgerEvent, "principal" | "invoker" | "capability" | "decision" | "kind">> {
  /** Selects only events at this time or later: `YYYY-MM-DDTHH:MM:SSZ`. */
  readonly since?: string;
  /** Maximum number of events; the latest are returned. All unless given. */
  readonly limit?: number;
}

/** Records the decisions of an issuing agent. */
export interface Ledger {
  /**
   * Records an event. The event is written in a batch within a fraction of a second; a crash before the write
   * loses it.
   */
  note(event: LedgerEvent): void;
  /**
   * Writes an event and the capabilities that it issued. The promise is fulfilled once both are durable.
   *
   * @param options.urgent - `true` to write even if the disk is nearly full. Only for revocations.
   * @throws StorageError if the event cannot be written; the recorded action must then not happen.
   */
  commit(
    event: LedgerEvent,
    issued?: readonly IssuedCapability[],
    options?: { readonly urgent?: boolean },
  ): Promise<void>;
  /** Returns an issued capability that has not expired. */
  issued(id: string): Promise<IssuedCapability | undefined>;
  /** Returns events, oldest first, including all those passed to `note` before. */
  list(query?: LedgerQuery): Promise<readonly LedgerEvent[]>;
  /** Writes the remaining events. The ledger accepts no events afterwards. */
  close(): Promise<void>;
}
