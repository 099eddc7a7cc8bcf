import type { Hop } from "../caveats/hop.js";

/** `approval`: opened, decided, expired, collected. `registration`: of hosts, agents and their grants. */
export type LedgerEventKind =
  | "issuance"
  | "invocation"
  | "revocation"
  | "approval"
  | "registration";

/** A capability, one of a legacy grant, or what the policy allows the principal (`ambient`). */
export type AuthorityKind = "capability" | "legacy" | "ambient";

/** One line of the ledger. It never holds a token or a signature. */
export interface LedgerEvent {
  readonly kind: LedgerEventKind;
  /** `YYYY-MM-DDTHH:MM:SS.mmmZ`. */
  readonly at: string;
  readonly decision: "allowed" | "refused";
  /** The user on whose behalf, as authenticated. */
  readonly principal?: string;
  /** True if an operator of this installation did it, not the user or the agent that it concerns. */
  readonly operator?: true;
  /** The agent that called, as authenticated. */
  readonly invoker?: string;
  /** The reason, in the caller's own words. */
  readonly purpose?: string;
  /** The capability's id; absent if the call had no capability, or its signatures did not hold. */
  readonly capability?: string;
  readonly grant?: string;
  readonly authority?: AuthorityKind;
  /** True if the caller had declared ambient authority; absent where authority is not ambient. */
  readonly declared?: boolean;
  readonly skill?: string;
  readonly operation?: string;
  /** The change, such as `agent.activated`, `grant.revoked` or `approval.approved`. */
  readonly change?: string;
  /** The id of the host, agent, agent grant or approval that changed. */
  readonly record?: string;
  /** As callers know them. */
  readonly handles?: readonly string[];
  /** Denial codes, or what else a refusal is called; empty if allowed. */
  readonly codes?: readonly string[];
  /** The hop and the rule of each denial, of a refused call; at most 32. */
  readonly denials?: readonly LedgerDenial[];
  /** The hops of the presented token. */
  readonly path?: readonly LedgerHop[];
  /** Values of the arguments that the operator named in `recordValues`. */
  readonly values?: { readonly [argument: string]: unknown };
}

/** One reason of a refused call. It holds no value of the call. */
export interface LedgerDenial {
  readonly code: string;
  /** The link of the token: 0 is the identifier, 1 the issuer's hop. Absent if no link is concerned. */
  readonly hop?: number;
  /** The rule that refuses, such as `operationConstraints.read_file.path.path`. */
  readonly rule?: string;
}

/** One hop of a presented token. */
export interface LedgerHop {
  readonly revocationId: string;
  /** Absent for a third-party caveat. */
  readonly hop?: Hop;
}

/** An issued capability as it is kept: all that is needed to make its token again with the root key. */
export interface IssuedCapability {
  readonly id: string;
  /** The canonical JSON of its identifier. */
  readonly identifier: string;
  /** The canonical JSON of the issuer's hop. */
  readonly hop: string;
  /** The canonical JSON of each hop that it was issued with after the issuer's own; absent for none. */
  readonly further?: readonly string[];
  /** The user on whose behalf it was issued. */
  readonly principal: string;
  readonly invoker: string;
  /** `YYYY-MM-DDTHH:MM:SSZ`. */
  readonly expires: string;
  /** The JSON of the resource query that it was issued by; absent if it names no resources of one. */
  readonly query?: string;
}

/** One decision, for metrics: it holds nothing that a caller wrote. */
export interface Observation extends Pick<LedgerEvent, "kind" | "decision" | "authority"> {
  /** The first code of a refusal. */
  readonly code?: string;
  /** Duration of the decision. */
  readonly seconds: number;
}

/** Which lines of the ledger. All that is given must hold. */
export interface LedgerQuery
  extends Partial<Pick<LedgerEvent, "principal" | "invoker" | "capability" | "decision" | "kind">> {
  /** From this moment on: `YYYY-MM-DDTHH:MM:SSZ`. */
  readonly since?: string;
  /** The latest so many; all unless given. */
  readonly limit?: number;
}

/** Records the decisions of an issuing agent. */
export interface Ledger {
  /** Written in batches, within a fraction of a second, which a crash may lose. */
  note(event: LedgerEvent): void;
  /**
   * Writes an event, with the capabilities that it issued. Fulfilled once not even a crash loses it.
   *
   * @param options.urgent - Writes it even when the disk is nearly full: for revocations alone.
   * @throws StorageError if it cannot write the event: what the event records must not happen then.
   */
  commit(
    event: LedgerEvent,
    issued?: readonly IssuedCapability[],
    options?: { readonly urgent?: boolean },
  ): Promise<void>;
  /** An issued capability that has not expired. */
  issued(id: string): Promise<IssuedCapability | undefined>;
  /** Events, oldest first, among them all that were noted before. */
  list(query?: LedgerQuery): Promise<readonly LedgerEvent[]>;
  /** Writes the remaining events, and accepts no more. */
  close(): Promise<void>;
}
