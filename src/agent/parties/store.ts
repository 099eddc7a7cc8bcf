// Storage of parties: the store's interface, and the store that revokes capabilities before it ends their
// grants.

import { formatTime } from "../../caveats/time.js";
import { latestExpiry } from "../../issuer/token-revocation.js";
import { digestOfText } from "../../macaroon/hmac.js";
import type { RevocationSink } from "../../revocation/source.js";
import type { LedgerEvent } from "../ledger.js";
import type {
  AgentGrant,
  AgentRecord,
  Approval,
  ApprovalState,
  DelegationRecord,
  HostRecord,
} from "./records.js";

/** Reads records of one kind, by id and by indexed properties. All conditions of a query must hold. */
export interface Records<Kept, Query> {
  get(id: string): Promise<Kept | undefined>;
  /**
   * Returns records in the order of their creation time, then id: at most {@link MAX_FOUND}, or `limit` if that
   * is smaller.
   */
  find(query: Query & Page): Promise<readonly Kept[]>;
}

/** Maximum number of records that one query returns. */
export const MAX_FOUND = 1000;

/** A page of the results. */
export interface Page {
  /** The id of the previous page's last record. */
  readonly after?: string;
  readonly limit?: number;
  /** Newest first if true; otherwise oldest first. */
  readonly latestFirst?: boolean;
}

/** An answered request, stored so that a repetition gets the same answer. */
export interface AnsweredRequest {
  /** A hash of the sender and the idempotency key. */
  readonly id: string;
  /** SHA-256 of the request as base64url. A different request under the same id is refused. */
  readonly digest: string;
  /** Ids from which the answer is rebuilt. */
  readonly made: readonly string[];
  readonly created: number;
  readonly expires: number;
}

/** Read access to hosts, agents, grants, approvals and delegations. */
export interface PartyView {
  readonly hosts: Records<
    HostRecord,
    {
      /** Hosts that have proven this key, were revoked with it, or were given it and have not proven it yet. */
      readonly thumbprint?: string;
      /** The host that has proven this key and is not revoked. */
      readonly held?: string;
      readonly principal?: string;
      /** Unlinked hosts created after this moment, including revoked ones. */
      readonly unlinkedSince?: number;
      /** Unlinked hosts that registered from this address. */
      readonly address?: string;
      readonly network?: string;
    }
  >;
  readonly agents: Records<
    AgentRecord,
    { readonly host?: string; readonly thumbprint?: string; readonly principal?: string }
  >;
  readonly grants: Records<
    AgentGrant,
    { readonly agent?: string; readonly host?: string; readonly approval?: string }
  >;
  readonly approvals: Records<
    Approval,
    {
      readonly request?: string;
      /** Only pending or approved approvals that have expired by this moment. */
      readonly overAt?: number;
      readonly codeHash?: string;
      /** Only approvals that this principal may decide. */
      readonly approver?: string;
      /** Like `approver`, but only approvals with at least one decision. */
      readonly decidedFor?: string;
      readonly agent?: string;
      readonly state?: ApprovalState;
      /** Only approvals that expire after this moment. */
      readonly openAt?: number;
    }
  >;
  readonly delegations: Records<
    DelegationRecord,
    {
      readonly delegator?: string;
      /** Only delegations that expire after this moment. */
      readonly aliveAt?: number;
    }
  >;
  readonly requests: Pick<Records<AnsweredRequest, object>, "get">;
}

/** Read and write access within a transaction: all changes are written, or none. */
export interface PartyDraft extends PartyView {
  /**
   * Inserts or replaces a record. A transaction that decides something must also put every record on which the
   * decision depends. A concurrent change of such a record then causes a conflict.
   */
  put<Kind extends keyof PartyRecords>(kind: Kind, record: PartyRecords[Kind]): Promise<void>;
  /** Removes a record that was read in this transaction. */
  remove<Kind extends keyof PartyRecords>(kind: Kind, record: PartyRecords[Kind]): Promise<void>;
  /** Writes a ledger event in this transaction. */
  note(event: LedgerEvent): void;
}

/** The kinds of records, by table name. */
export interface PartyRecords {
  readonly hosts: HostRecord;
  readonly agents: AgentRecord;
  readonly grants: AgentGrant;
  readonly approvals: Approval;
  readonly delegations: DelegationRecord;
  readonly requests: AnsweredRequest;
}

/** A use of a one-time value, such as a JWT by its `jti`. */
export interface SingleUse {
  /** The owner of the value; equal ids in different scopes are different values. */
  readonly scope: string;
  readonly id: string;
  /** Milliseconds since 1970 until which the use is remembered. */
  readonly expires: number;
  /** Maximum number of uses that are remembered at once for the scope; no limit unless given. */
  readonly most?: number | undefined;
  /**
   * True if anyone can produce values of this kind. Their uses are counted separately, so that they cannot use up the
   * limit of other uses. `false` unless given.
   */
  readonly stranger?: boolean | undefined;
}

/**
 * The result of a use. `first`: the value is new. `used`: the value was used before. `scope_full` and `full`:
 * the use is refused, because the scope or the store already remembers the maximum number of uses. An unexpired
 * use is never forgotten for a new use.
 */
export type UseOutcome = "first" | "used" | "scope_full" | "full";

/** Stores hosts, agents, grants, approvals and delegations together, so that several records can change atomically. */
export interface PartyStore {
  /** @throws StorageError */
  read<T>(look: (view: PartyView) => Promise<T>): Promise<T>;
  /**
   * Runs a transaction: all its changes are written, or none. They are durable once the promise is fulfilled.
   * After a conflict, `change` runs again. `change` must not wait for another transaction of the same store:
   * both would wait for each other until a timeout.
   *
   * @throws StorageError; then nothing has changed.
   */
  change<T>(change: (draft: PartyDraft) => Promise<T>): Promise<T>;
  /**
   * Records a use of a one-time value. Accept the value only if the result is `first`.
   *
   * @param now - Milliseconds since 1970.
   * @throws StorageError
   */
  useOnce(use: SingleUse, now: number): Promise<UseOutcome>;
  /**
   * Removes old data: used ids, answered requests, approvals, grants, agents, hosts, delegations.
   * @returns The number removed.
   */
  prune(now: number): Promise<number>;
}

/** Returns all records that match a query, read page by page. */
export async function everyRecord<Kept extends { readonly id: string }, Query>(
  records: Records<Kept, Query>,
  query: Query,
): Promise<readonly Kept[]> {
  const all: Kept[] = [];
  for (;;) {
    const after = all.at(-1)?.id;
    const page = await records.find({ ...query, ...(after === undefined ? {} : { after }) });
    all.push(...page);
    if (page.length < MAX_FOUND) return all;
  }
}

/** Milliseconds for which the record that `takeTurn` writes is kept after its last change. */
const TURN_KEPT = 24 * 60 * 60 * 1000;

/**
 * Causes a conflict between concurrent transactions that count the same records, so that one of them runs
 * again. Call this function before counting.
 *
 * @param whose - The kind of records that are counted, and the party whose records are counted.
 * @param now - Milliseconds since 1970.
 */
export async function takeTurn(
  draft: PartyDraft,
  whose: readonly string[],
  now: number,
): Promise<void> {
  const id = `turn_${digestOfText(JSON.stringify(whose))}`;
  const { created = now } = (await draft.requests.get(id)) ?? {};
  await draft.put("requests", { id, digest: id, made: [], created, expires: now + TURN_KEPT });
}

/**
 * Aborts a transaction that ends grants, so that their capabilities can be revoked first. The transaction then
 * runs again.
 */
class RevokeFirst extends Error {
  override readonly name = "RevokeFirst";
  readonly grants: readonly AgentGrant[];

  constructor(grants: readonly AgentGrant[]) {
    super("the capabilities of these grants are to be revoked first");
    this.grants = grants;
  }
}

/** Maximum number of runs of a transaction that ends further grants in each run. */
const MAX_RUNS = 16;

/**
 * Revokes the capability of a grant before the grant ends. After a crash in between, the tokens are already
 * invalid.
 */
export class RevokingStore implements PartyStore {
  readonly #store: PartyStore;
  readonly #revocations: RevocationSink;
  readonly #clock: () => number;
  readonly #ending = new WeakMap<PartyDraft, AgentGrant[]>();

  constructor(store: PartyStore, revocations: RevocationSink, clock: () => number) {
    this.#store = store;
    this.#revocations = revocations;
    this.#clock = clock;
  }

  read<T>(look: (view: PartyView) => Promise<T>): Promise<T> {
    return this.#store.read(look);
  }

  async change<T>(change: (draft: PartyDraft) => Promise<T>): Promise<T> {
    const revoked = new Set<string>();
    for (let run = 1; ; run++) {
      try {
        return await this.#store.change(async (draft) => {
          const ending: AgentGrant[] = [];
          this.#ending.set(draft, ending);
          const result = await change(draft);
          const alive = ending.filter(({ capabilityId }) => !revoked.has(capabilityId));
          if (alive.length > 0) throw new RevokeFirst(alive);
          return result;
        });
      } catch (error) {
        if (!(error instanceof RevokeFirst) || run === MAX_RUNS) throw error;
        for (const grant of error.grants) {
          await this.#revoke(grant);
          revoked.add(grant.capabilityId);
        }
      }
    }
  }

  /** Notes that the transaction ends a grant, so that its capability is revoked first. */
  ends(draft: PartyDraft, grant: AgentGrant): void {
    if (grant.status === "active") this.#ending.get(draft)?.push(grant);
  }

  /** Revokes everything issued for a principal up to now. */
  async revokePrincipal(id: string): Promise<void> {
    const now = this.#clock();
    const times = { at: formatTime(now), until: latestExpiry(now) };
    // Timestamps in tokens are whole seconds; the next second is later than every token issued so far.
    const before = formatTime(now + 1000);
    await this.#revocations.add({ kind: "principal", id, before, ...times });
  }

  useOnce(use: SingleUse, now: number): Promise<UseOutcome> {
    return this.#store.useOnce(use, now);
  }

  prune(now: number): Promise<number> {
    return this.#store.prune(now);
  }

  async #revoke({ capabilityId: id, expires }: AgentGrant): Promise<void> {
    const at = formatTime(this.#clock());
    // No token outlives its grant.
    const until = expires === undefined ? {} : { until: formatTime(expires + 1000) };
    await this.#revocations.add({ kind: "capability", id, at, ...until });
  }
}
