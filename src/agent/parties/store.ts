// Where parties are kept: the store's interface, and the store that revokes before it ends a grant.

import { formatTime } from "../../caveats/time.js";
import { latestExpiry } from "../../issuer/token-revocation.js";
import type { RevocationSink } from "../../revocation/source.js";
import type { LedgerEvent } from "../ledger.js";
import { digestOfText } from "./digests.js";
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
  /** In the order of their creation, then their ids. At most {@link MAX_FOUND} unless `limit` says less. */
  find(query: Query & Page): Promise<readonly Kept[]>;
}

/** Most records that one query returns. */
export const MAX_FOUND = 1000;

/** A page of the results. */
export interface Page {
  /** The id of the last record of the page before. */
  readonly after?: string;
  readonly limit?: number;
  /** Newest first; oldest first unless given. */
  readonly latestFirst?: boolean;
}

/** An answered request, stored so that a repeat of it gets the same answer. */
export interface AnsweredRequest {
  /** A hash of asker and idempotency key. */
  readonly id: string;
  /** SHA-256 of the request, base64url; another request under the same id is refused. */
  readonly digest: string;
  /** Ids from which the answer is rebuilt. */
  readonly made: readonly string[];
  readonly created: number;
  readonly expires: number;
}

/** The records of hosts, agents, their grants, approvals and delegations. */
export interface PartyView {
  readonly hosts: Records<
    HostRecord,
    {
      /** Hosts that have the key, that had it when they were revoked, or that were given it and have not proven it. */
      readonly thumbprint?: string;
      /** The one host that has the key, has proven it, and is not revoked. */
      readonly held?: string;
      readonly principal?: string;
      /** Hosts that no user has taken on, revoked ones too, and that were made after this moment. */
      readonly unlinkedSince?: number;
      /** The addresses from which hosts without a user registered. */
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
      /** Only pending or approved ones that have expired at this moment. */
      readonly overAt?: number;
      readonly codeHash?: string;
      /** Only approvals that this principal may decide. */
      readonly approver?: string;
      /** Like `approver`, but only approvals with at least one decision. */
      readonly decidedFor?: string;
      readonly agent?: string;
      readonly state?: ApprovalState;
      /** Only those that end after this moment. */
      readonly openAt?: number;
    }
  >;
  readonly delegations: Records<
    DelegationRecord,
    {
      readonly delegator?: string;
      /** Only those that expire after this moment. */
      readonly aliveAt?: number;
    }
  >;
  readonly requests: Pick<Records<AnsweredRequest, object>, "get">;
}

/** Changes records: all of them are written, or none. */
export interface PartyDraft extends PartyView {
  /**
   * Makes or replaces a record. A decision also puts the records that it depends on, so that a concurrent
   * change of these is a conflict.
   */
  put<Kind extends keyof PartyRecords>(kind: Kind, record: PartyRecords[Kind]): Promise<void>;
  /** Removes a record that was read in this draft. */
  remove<Kind extends keyof PartyRecords>(kind: Kind, record: PartyRecords[Kind]): Promise<void>;
  /** Writes an event into the ledger with everything else. */
  note(event: LedgerEvent): void;
}

/** The kinds of records, by the names of their tables. */
export interface PartyRecords {
  readonly hosts: HostRecord;
  readonly agents: AgentRecord;
  readonly grants: AgentGrant;
  readonly approvals: Approval;
  readonly delegations: DelegationRecord;
  readonly requests: AnsweredRequest;
}

/** A use of something that is good once, such as a JWT by its `jti`. */
export interface SingleUse {
  /** Whose it is: the same id in another scope is something else. */
  readonly scope: string;
  readonly id: string;
  /** Milliseconds since 1970 until which the use is remembered. */
  readonly expires: number;
  /** Most uses of the scope remembered at once; no limit unless given. */
  readonly most?: number | undefined;
  /** True if anyone can make such uses: they have a room of their own, and fill no other. `false` unless given. */
  readonly stranger?: boolean | undefined;
}

/**
 * The outcome of a use: the first, or one that was before. `scope_full` and `full`: as many uses are remembered as may
 * be, of the scope or in its room. None that has not expired is forgotten for another, so this one is refused.
 */
export type UseOutcome = "first" | "used" | "scope_full" | "full";

/** Stores hosts, agents, grants, approvals and delegations in one place, so that a change of several is atomic. */
export interface PartyStore {
  /** @throws StorageError */
  read<T>(look: (view: PartyView) => Promise<T>): Promise<T>;
  /**
   * Changes records, all or nothing, crash-proof once fulfilled. After a conflict, `change` runs again. It must not wait
   * for another change of the same store: the other one waits for it, until a time limit ends it.
   *
   * @throws StorageError Then nothing has changed.
   */
  change<T>(change: (draft: PartyDraft) => Promise<T>): Promise<T>;
  /**
   * Records a use. The thing may be used only if the result is `first`.
   *
   * @param now - Milliseconds since 1970.
   * @throws StorageError
   */
  useOnce(use: SingleUse, now: number): Promise<UseOutcome>;
  /** Removes old data: used ids, answered requests, approvals, grants, agents, hosts. @returns The number removed. */
  prune(now: number): Promise<number>;
}

/** Returns all records that a query finds, page by page. */
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

/** Milliseconds for which a turn's record is kept after its last change. */
const TURN_KEPT = 24 * 60 * 60 * 1000;

/**
 * Makes concurrent changes that count the same records conflict, so that one of them runs again. Call it before the
 * count.
 *
 * @param whose - What is counted, and for which party.
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

/** Thrown out of a change: its revocations must be made before the change is recorded. */
class RevokeFirst extends Error {
  override readonly name = "RevokeFirst";
  readonly grants: readonly AgentGrant[];

  constructor(grants: readonly AgentGrant[]) {
    super("the capabilities of these grants are to be revoked first");
    this.grants = grants;
  }
}

/** Number of times that a change may find more to revoke. */
const MAX_RUNS = 16;

/** Ends no grant before its capability is revoked: a crash in between leaves dead tokens, never live ones. */
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

  /** Notes that the change ends a grant, so that its capability is revoked first. */
  ends(draft: PartyDraft, grant: AgentGrant): void {
    if (grant.status === "active") this.#ending.get(draft)?.push(grant);
  }

  /** Revokes all that was issued for a principal up to now, whatever it was. */
  async revokePrincipal(id: string): Promise<void> {
    const now = this.#clock();
    const times = { at: formatTime(now), until: latestExpiry(now) };
    // Tokens carry whole seconds: the next second is after every token issued so far.
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
    // No token of it outlives the grant.
    const until = expires === undefined ? {} : { until: formatTime(expires + 1000) };
    await this.#revocations.add({ kind: "capability", id, at, ...until });
  }
}
