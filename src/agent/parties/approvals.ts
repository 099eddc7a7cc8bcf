import { randomBytes } from "../../bytes/random.js";
import { newCapabilityId } from "../../capability/mint.js";
import { assertMembers } from "../../checks/members.js";
import { digestOfText } from "../../macaroon/hmac.js";
import type { Approver, ApproverAnswer } from "./approval-decisions.js";
import {
  ApprovalOpening,
  type ApprovalRequest,
  type OpenedAlone,
  type OpenedApproval,
} from "./approval-requests.js";
import { isFromStranger } from "./approval-results.js";
import { type InForce, isVoid, mayDecide, NOTHING_IN_FORCE } from "./approval-rules.js";
import {
  type ApprovalEffects,
  ApprovalSettling,
  type DecisionOutcome,
} from "./approval-settlement.js";
import { type Actor, approvalEvent } from "./events.js";
import type { Approval, ApprovalState } from "./records.js";
import { everyRecord, MAX_FOUND, type PartyDraft, type PartyStore } from "./store.js";
import { hashOfUserCode } from "./user-codes.js";

export interface ApprovalsOptions {
  readonly store: PartyStore;
  /** Returns the current time in milliseconds since 1970; `Date.now` unless given. */
  readonly clock?: (() => number) | undefined;
  readonly random?: ((length: number) => Uint8Array) | undefined;
  readonly effects?: ApprovalEffects | undefined;
  /** The current rules and revocations, checked in addition to the stored records; none unless given. */
  readonly inForce?: InForce | undefined;
}

/** Number of a principal's latest requests that the history searches for requests without a decision. */
const UNDECIDED = 200;

/**
 * Opens, decides and settles approvals, in the same way for every protocol. With an approval, people decide
 * before something is granted.
 */
export class Approvals {
  readonly #store: PartyStore;
  readonly #clock: () => number;
  readonly #random: (length: number) => Uint8Array;
  readonly #inForce: InForce;
  readonly #opening: ApprovalOpening;
  readonly #settling: ApprovalSettling;

  /** @throws TypeError if an option is unknown. */
  constructor(options: ApprovalsOptions) {
    assertMembers(options, ["store", "clock", "random", "effects", "inForce"], "options");
    const { store, clock = Date.now, random = randomBytes, effects = {} } = options;
    const { inForce = NOTHING_IN_FORCE } = options;
    this.#store = store;
    this.#clock = clock;
    this.#random = random;
    this.#inForce = inForce;
    this.#opening = new ApprovalOpening(store, clock, random, (one) => this.current(one));
    this.#settling = new ApprovalSettling(store, clock, effects, inForce);
  }

  /**
   * Opens an approval within a transaction. A repeated request gets the existing approval, with a new user code
   * if this process no longer knows the old code.
   *
   * @throws RequestReusedError if the request's id was used for another request.
   */
  open(draft: PartyDraft, request: ApprovalRequest): Promise<OpenedApproval> {
    return this.#opening.open(draft, request);
  }

  /**
   * Opens an approval in its own transaction.
   *
   * @param most - Maximum number of approvals that this agent may have open for this user.
   * @throws RequestReusedError as {@link Approvals.open} does.
   */
  openAlone(request: ApprovalRequest, most: number): Promise<OpenedAlone> {
    return this.#opening.openAlone(request, most);
  }

  /** Returns an approval to its requester again, with its user code or with a new user code. */
  reopened(draft: PartyDraft, approval: Approval): Promise<OpenedApproval> {
    return this.#opening.reopened(draft, approval);
  }

  /** Returns the id under which a requester's own request id is stored. Different requesters never get the same id. */
  requestId(...asker: readonly string[]): string {
    return `request_${digestOfText(JSON.stringify(asker))}`;
  }

  /**
   * Marks an approval as used. Has an effect only once, and only on an approved approval.
   * @param places - The indexes of the grants that are handed out.
   */
  async use(id: string, places: readonly number[]): Promise<void> {
    await this.#store.change(async (draft) => {
      const approval = await draft.approvals.get(id);
      const now = this.#clock();
      if (approval === undefined || this.current(approval).state !== "approved") return;
      const collected = Object.fromEntries(
        places.map((place) => [place, newCapabilityId(this.#random)]),
      );
      await draft.put("approvals", { ...approval, state: "used", collected, updated: now });
      draft.note(approvalEvent(approval, "approval.collected", now));
    });
  }

  /**
   * Records a decision. Once enough approvers have decided, settles the approval and applies its effects.
   * Refused decisions are recorded too.
   *
   * @throws StorageError if the decision cannot be written; then nothing has changed.
   */
  decide(id: string, by: Approver, answer: ApproverAnswer): Promise<DecisionOutcome> {
    return this.#settling.decide(id, by, answer);
  }

  /** Returns the result that a decision would have now, without deciding or recording anything. */
  tryDecision(approval: Approval, by: Approver, answer: ApproverAnswer): DecisionOutcome {
    return this.#settling.tryDecision(approval, by, answer);
  }

  /**
   * Cancels an open approval.
   * @returns `true` if the approval was still open.
   */
  cancel(id: string, by: Actor): Promise<boolean> {
    return this.#settling.cancel(id, by);
  }

  /** Like {@link Approvals.cancel}, within a transaction. */
  cancelIn(draft: PartyDraft, current: Approval, by: Actor): Promise<boolean> {
    return this.#settling.cancelIn(draft, current, by);
  }

  /** Returns an approval in its current state, which may differ from the stored state, for example after its expiry. */
  current(approval: Approval): Approval {
    return this.#settling.current(approval);
  }

  /** Settles an approval that has ended without a decision, within a transaction. */
  settleIn(draft: PartyDraft, current: Approval): Promise<Approval> {
    return this.#settling.settleIn(draft, current);
  }

  /**
   * True if the principal's capabilities were revoked after the approval was opened or, if the principal became the
   * agent's user by a decision, after that decision. The approval's state does not matter.
   */
  isVoid(approval: Approval): boolean {
    return isVoid(approval, this.#inForce);
  }

  /** True if an authenticated principal may see and decide an approval. */
  mayDecide(approval: Approval, principal: string): boolean {
    return mayDecide(approval, principal, this.#inForce.rulesFor(approval.subject));
  }

  /**
   * Settles every expired approval, which denies the grants that wait for it.
   *
   * @returns The number of expired approvals.
   */
  expire(): Promise<number> {
    return this.#settling.expire();
  }

  /** Returns an approval. If the approval has ended without a decision, its new state is stored first. */
  get(id: string): Promise<Approval | undefined> {
    return this.#settling.get(id);
  }

  /** Returns the approval with a user code as typed; `undefined` if the code is unknown. */
  async byUserCode(typed: string): Promise<Approval | undefined> {
    const codeHash = hashOfUserCode(typed);
    if (codeHash === undefined) return undefined;
    const found = await this.#store.read((view) => view.approvals.find({ codeHash }));
    return this.#settling.settleIfOver(
      found.find(({ state }) => state === "pending") ?? found.at(-1),
    );
  }

  /** Returns the approval with a stored request id, as {@link Approvals.requestId} returns it. */
  async byRequest(request: string): Promise<Approval | undefined> {
    const [found] = await this.#store.read((view) => view.approvals.find({ request, limit: 1 }));
    return this.#settling.settleIfOver(found);
  }

  /**
   * Returns the pending requests that this principal may decide and has not decided yet. Requests of unlinked hosts
   * come last; within each group, the oldest come first.
   */
  async waitingFor(principal: string): Promise<readonly Approval[]> {
    const query = { approver: principal, state: "pending" } as const;
    // Read all pages: expired approvals are stored as pending until they are settled, and there may be many.
    const found = await this.#store.read((view) => everyRecord(view.approvals, query));
    const waiting = found.filter(
      (one) =>
        this.current(one).state === "pending" &&
        this.mayDecide(one, principal) &&
        !one.decisions.some(({ approver }) => approver === principal),
    );
    return [
      ...waiting.filter((one) => !isFromStranger(one)),
      ...waiting.filter((one) => isFromStranger(one)),
    ];
  }

  /**
   * Returns the settled requests that a principal could decide, latest first: up to 1,000 requests that somebody
   * decided, and those of the latest 200 requests that ended without a decision. Cancelled requests therefore never
   * displace decided requests. Undecided requests of unlinked hosts are omitted.
   */
  async history(principal: string): Promise<readonly Approval[]> {
    const last = { approver: principal, latestFirst: true, limit: UNDECIDED } as const;
    const found = await this.#store.read((view) => view.approvals.find(last));
    const undecided = found
      .map((one) => this.current(one))
      .filter((one) => one.decisions.length === 0 && !isFromStranger(one))
      .filter(({ state }) => state !== "pending");
    const decided = await this.decided(principal, MAX_FOUND);
    return [...decided, ...undecided].sort((a, b) => b.updated - a.updated);
  }

  /**
   * Reads the latest requests that have a decision, and returns the settled ones, latest first.
   *
   * @param among - Number of requests to read, 1 to 1,000.
   */
  async decided(principal: string, among: number): Promise<readonly Approval[]> {
    const query = { decidedFor: principal, latestFirst: true, limit: among } as const;
    const found = await this.#store.read((view) => view.approvals.find(query));
    const over = found.map((one) => this.current(one)).filter(({ state }) => state !== "pending");
    return over.sort((a, b) => b.updated - a.updated);
  }

  /**
   * Returns all approvals in the order of their creation, for an operator.
   *
   * @param page - `state` filters by the stored state.
   */
  async list(
    page: { readonly after?: string; readonly limit?: number; readonly state?: ApprovalState } = {},
  ): Promise<readonly Approval[]> {
    const found = await this.#store.read((view) => view.approvals.find(page));
    return found.map((one) => this.current(one));
  }

  /**
   * Waits until the approval is settled, by this or another process, or has expired.
   *
   * @throws The signal's reason when it is aborted.
   * @throws TypeError if there is no such approval.
   */
  waitUntilSettled(id: string, signal: AbortSignal): Promise<Approval> {
    return this.#settling.waitUntilSettled(id, signal);
  }
}
