import { randomBytes } from "../../bytes/random.js";
import { newCapabilityId } from "../../capability/mint.js";
import { assertMembers } from "../../checks/members.js";
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
import { digestOfText } from "./digests.js";
import { type Actor, approvalEvent } from "./events.js";
import type { Approval, ApprovalState } from "./records.js";
import { everyRecord, MAX_FOUND, type PartyDraft, type PartyStore } from "./store.js";
import { hashOfUserCode } from "./user-codes.js";

export interface ApprovalsOptions {
  readonly store: PartyStore;
  /** Milliseconds since 1970; `Date.now` unless given. */
  readonly clock?: (() => number) | undefined;
  readonly random?: ((length: number) => Uint8Array) | undefined;
  readonly effects?: ApprovalEffects | undefined;
  /** The present rules and revocations, which count besides the stored records; none unless given. */
  readonly inForce?: InForce | undefined;
}

/** Requests of a principal among which the history shows those that ended without a decision. */
const UNDECIDED = 200;

/** Approvals: people decide before something is granted, for every protocol. Uses only the store. */
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
   * Opens an approval in a change. A repeated request gets the same, with a new user code unless this process
   * still knows the old one.
   *
   * @throws RequestReusedError if the request's id was used for another request.
   */
  open(draft: PartyDraft, request: ApprovalRequest): Promise<OpenedApproval> {
    return this.#opening.open(draft, request);
  }

  /**
   * Opens an approval by a change of its own.
   *
   * @param most - How many this agent may have open for this user.
   * @throws RequestReusedError as {@link Approvals.open}.
   */
  openAlone(request: ApprovalRequest, most: number): Promise<OpenedAlone> {
    return this.#opening.openAlone(request, most);
  }

  /** An approval that its asker asks for again: with its user code, or a new one. */
  reopened(draft: PartyDraft, approval: Approval): Promise<OpenedApproval> {
    return this.#opening.reopened(draft, approval);
  }

  /** The id under which an asker's own request id is kept: no two askers share one. */
  requestId(...asker: readonly string[]): string {
    return `request_${digestOfText(JSON.stringify(asker))}`;
  }

  /** Uses an approval up, once. @param places - Of the grants asked for that are handed out. */
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
   * Records a decision, and settles the approval and its effects once there are enough. Refusals are recorded
   * too.
   *
   * @throws StorageError if it cannot be written; then nothing has changed.
   */
  decide(id: string, by: Approver, answer: ApproverAnswer): Promise<DecisionOutcome> {
    return this.#settling.decide(id, by, answer);
  }

  /** Returns the outcome that a decision would have now, without deciding or recording anything. */
  tryDecision(approval: Approval, by: Approver, answer: ApproverAnswer): DecisionOutcome {
    return this.#settling.tryDecision(approval, by, answer);
  }

  /** Takes an approval back that is not settled. @returns Whether it was still open. */
  cancel(id: string, by: Actor): Promise<boolean> {
    return this.#settling.cancel(id, by);
  }

  /** As {@link Approvals.cancel}, in a change under way. */
  cancelIn(draft: PartyDraft, current: Approval, by: Actor): Promise<boolean> {
    return this.#settling.cancelIn(draft, current, by);
  }

  /** An approval as it stands now, which may not be stored yet: its time may be over, for example. */
  current(approval: Approval): Approval {
    return this.#settling.current(approval);
  }

  /** Settles an approval that has ended without a decision, in a change under way. */
  settleIn(draft: PartyDraft, current: Approval): Promise<Approval> {
    return this.#settling.settleIn(draft, current);
  }

  /** True if its principal's capabilities were revoked after it was opened, whatever has become of it. */
  isVoid(approval: Approval): boolean {
    return isVoid(approval, this.#inForce);
  }

  /** True if a principal, as authenticated, may see an approval and decide about it. */
  mayDecide(approval: Approval, principal: string): boolean {
    return mayDecide(approval, principal, this.#inForce.rulesFor(approval.subject));
  }

  /** Settles each approval whose time is over, which denies what waits for it. @returns How many. */
  expire(): Promise<number> {
    return this.#settling.expire();
  }

  /** Returns an approval; if its time is over without a decision, first stores that end. */
  get(id: string): Promise<Approval | undefined> {
    return this.#settling.get(id);
  }

  /** The approval that a user code, as it was typed, is of; `undefined` for an unknown code. */
  async byUserCode(typed: string): Promise<Approval | undefined> {
    const codeHash = hashOfUserCode(typed);
    if (codeHash === undefined) return undefined;
    const found = await this.#store.read((view) => view.approvals.find({ codeHash }));
    return this.#settling.settleIfOver(
      found.find(({ state }) => state === "pending") ?? found.at(-1),
    );
  }

  /** The approval of a request. */
  async byRequest(request: string): Promise<Approval | undefined> {
    const [found] = await this.#store.read((view) => view.approvals.find({ request, limit: 1 }));
    return this.#settling.settleIfOver(found);
  }

  /** Returns the requests that wait for this principal: those of strangers last, each kind oldest first. */
  async waitingFor(principal: string): Promise<readonly Approval[]> {
    const query = { approver: principal, state: "pending" } as const;
    // Every page: those whose time is over are pending until they are looked at, and may be many.
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
   * The last requests of a principal that are over, latest first: up to 1,000 about which somebody has decided, and
   * of the last 200 requests those that ended otherwise. However much is asked and taken back, decisions
   * stay. What strangers asked for, and nobody decided about, is left out.
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
   * Returns the settled ones among the last decided requests, latest first.
   *
   * @param among - How many are looked at: 1 to 1,000.
   */
  async decided(principal: string, among: number): Promise<readonly Approval[]> {
    const query = { decidedFor: principal, latestFirst: true, limit: among } as const;
    const found = await this.#store.read((view) => view.approvals.find(query));
    const over = found.map((one) => this.current(one)).filter(({ state }) => state !== "pending");
    return over.sort((a, b) => b.updated - a.updated);
  }

  /** Returns all approvals, in the order in which they were made, for an operator. @param page - `state`: as stored. */
  async list(
    page: { readonly after?: string; readonly limit?: number; readonly state?: ApprovalState } = {},
  ): Promise<readonly Approval[]> {
    const found = await this.#store.read((view) => view.approvals.find(page));
    return found.map((one) => this.current(one));
  }

  /**
   * Fulfilled once the approval is settled, also by another process, or its time is over.
   *
   * @throws The signal's reason once it is aborted.
   * @throws TypeError if there is no such approval.
   */
  waitUntilSettled(id: string, signal: AbortSignal): Promise<Approval> {
    return this.#settling.waitUntilSettled(id, signal);
  }
}
