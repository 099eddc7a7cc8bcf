// The ends of approvals: decisions, cancellation and expiry.

import {
  type Approver,
  type ApproverAnswer,
  type DecisionRefusal,
  refuseDecision,
  withDecision,
} from "./approval-decisions.js";
import { principalOf } from "./approval-results.js";
import { currentApproval, type InForce } from "./approval-rules.js";
import { type Actor, approvalEvent } from "./events.js";
import type { Approval, ApprovalKind } from "./records.js";
import type { PartyDraft, PartyStore } from "./store.js";

/** The effect of settling approvals of one kind. It is applied in the transaction that settles the approval. */
export interface ApprovalEffect {
  /**
   * Determines facts that take time to get, such as the policy's permissions, before the transaction that
   * settles the approval.
   *
   * @param settled - The expected approval; a concurrent change may still lead to another result.
   */
  prepare(settled: Approval): Promise<unknown>;
  /**
   * Refuses an approving decision that can no longer have an effect; the approval stays unchanged.
   *
   * @param decided - The approval, including the decision.
   */
  objection(draft: PartyDraft, decided: Approval): Promise<DecisionRefusal | undefined>;
  /**
   * @param settled - In state `approved`, `denied`, `expired` or `cancelled`.
   * @param facts - The result of `prepare`; set only if approved.
   * @param by - The actor who settled the approval; empty if it expired.
   */
  apply(
    draft: PartyDraft,
    settled: Approval,
    now: number,
    facts: unknown,
    by: Actor,
  ): Promise<void>;
}

/**
 * Effects by kind of approval. If a kind has no effect, its approved approvals wait until the requester
 * collects them.
 */
export type ApprovalEffects = { readonly [Kind in ApprovalKind]?: ApprovalEffect };

/** The result of a decision. */
export type DecisionOutcome = { readonly ok: true; readonly approval: Approval } | DecisionRefusal;

const MAX_ATTEMPTS = 16;

/** Maximum number of expired approvals that one query reads. */
const AT_ONCE = 100;

/** Settles approvals: by decisions, by cancellation, and by expiry. */
export class ApprovalSettling {
  readonly #store: PartyStore;
  readonly #clock: () => number;
  readonly #effects: ApprovalEffects;
  readonly #inForce: InForce;
  readonly #waiting = new SettlementWaiters((id) => this.get(id));

  constructor(store: PartyStore, clock: () => number, effects: ApprovalEffects, inForce: InForce) {
    this.#store = store;
    this.#clock = clock;
    this.#effects = effects;
    this.#inForce = inForce;
  }

  /** @see Approvals.current */
  current(approval: Approval): Approval {
    return currentApproval(approval, this.#inForce, this.#clock());
  }

  /** @see Approvals.get */
  async get(id: string): Promise<Approval | undefined> {
    return this.settleIfOver(await this.#store.read((view) => view.approvals.get(id)));
  }

  /** @see Approvals.waitUntilSettled */
  waitUntilSettled(id: string, signal: AbortSignal): Promise<Approval> {
    return this.#waiting.settled(id, signal);
  }

  /** @see Approvals.decide */
  async decide(id: string, by: Approver, answer: ApproverAnswer): Promise<DecisionOutcome> {
    for (let attempt = 1; ; attempt++) {
      await this.#inForce.catchUp();
      const seen = await this.get(id);
      if (seen === undefined) return unknownApproval();
      const tentative = this.tryDecision(seen, by, answer);
      if (!tentative.ok) return this.#refused(seen, by, tentative);
      const { approval: expected } = tentative;
      const effect = this.#effectOf(expected);
      const facts = expected.state === "approved" ? await effect?.prepare(expected) : undefined;
      const outcome = await this.#store.change(async (draft) => {
        const current = await draft.approvals.get(id);
        if (current === undefined) return unknownApproval();
        const decided = this.tryDecision(current, by, answer);
        if (!decided.ok) return decided;
        // If another approver has decided in the meantime, the prepared facts may no longer be right.
        const { approval } = decided;
        if (approval.state !== expected.state) return undefined;
        if (principalOf(approval) !== principalOf(expected)) return undefined;
        const objection =
          answer.answer === "approve" ? await effect?.objection(draft, approval) : undefined;
        if (objection !== undefined) return objection;
        return this.#settle(draft, approval, by, approval.updated, facts);
      });
      if (outcome === undefined) {
        if (attempt < MAX_ATTEMPTS) continue;
        throw new Error(`others have decided about ${id} at the same time, ${attempt} times`);
      }
      if (!outcome.ok) return this.#refused(seen, by, outcome);
      this.#waiting.wake(id);
      return outcome;
    }
  }

  /** @see Approvals.tryDecision */
  tryDecision(approval: Approval, by: Approver, answer: ApproverAnswer): DecisionOutcome {
    const now = this.#clock();
    const current = currentApproval(approval, this.#inForce, now);
    const rules = this.#inForce.rulesFor(current.subject);
    const outcome = withDecision(current, by, answer, now, rules);
    if (!outcome.ok) return outcome;
    return { ok: true, approval: currentApproval(outcome.approval, this.#inForce, now) };
  }

  #effectOf({ subject: { kind } }: Approval): ApprovalEffect | undefined {
    const effect = this.#effects[kind];
    // Without the kind's effect, a decision would never activate the grants.
    if (effect !== undefined || kind === "capabilities") return effect;
    throw new TypeError(
      "what registered agents ask for is decided through the approvals of their parties",
    );
  }

  async #settle(
    draft: PartyDraft,
    decided: Approval,
    by: Actor,
    now: number,
    facts: unknown,
  ): Promise<{ readonly ok: true; readonly approval: Approval }> {
    const effect = this.#effectOf(decided);
    const approval = settledApproval(decided, effect !== undefined, now);
    await draft.put("approvals", approval);
    draft.note(approvalEvent(decided, changeName(decided), now, by));
    if (decided.state !== "pending") await effect?.apply(draft, decided, now, facts, by);
    return { ok: true, approval };
  }

  async #refused(
    { subject, id }: Approval,
    by: Approver,
    refusal: DecisionRefusal,
  ): Promise<DecisionRefusal> {
    const event = approvalEvent({ subject, id }, "approval.refused", this.#clock(), by);
    await this.#store.change(async (draft) => {
      draft.note({ ...event, decision: "refused", codes: [refusal.code] });
    });
    return refusal;
  }

  /** @see Approvals.cancel */
  async cancel(id: string, by: Actor): Promise<boolean> {
    const cancelled = await this.#store.change(async (draft) => {
      const current = await draft.approvals.get(id);
      if (current === undefined) return false;
      return this.cancelIn(draft, current, by);
    });
    if (cancelled) this.#waiting.wake(id);
    return cancelled;
  }

  /** @see Approvals.cancelIn */
  async cancelIn(draft: PartyDraft, current: Approval, by: Actor): Promise<boolean> {
    if (current.state !== "pending" && current.state !== "approved") return false;
    const now = this.#clock();
    await this.#settle(draft, { ...current, state: "cancelled", updated: now }, by, now, undefined);
    return true;
  }

  /** @see Approvals.settleIn */
  async settleIn(draft: PartyDraft, current: Approval): Promise<Approval> {
    const seen = this.current(current);
    if (seen === current) return current;
    const now = this.#clock();
    return (await this.#settle(draft, { ...seen, updated: now }, {}, now, undefined)).approval;
  }

  /** @see Approvals.expire */
  async expire(): Promise<number> {
    let settled = 0;
    for (let after: string | undefined; ; ) {
      const query = { overAt: this.#clock(), limit: AT_ONCE, ...(after ? { after } : {}) };
      const page = await this.#store.read((view) => view.approvals.find(query));
      for (const one of page) {
        if ((await this.settleIfOver(one))?.state === "expired") settled++;
      }
      if (page.length < AT_ONCE) return settled;
      after = page.at(-1)?.id;
    }
  }

  /**
   * Settles an approval that has ended without a decision.
   *
   * @returns The current approval.
   */
  async settleIfOver(read: Approval | undefined): Promise<Approval | undefined> {
    if (read === undefined || this.current(read) === read) return read;
    const now = await this.#store.change(async (draft) => {
      const current = await draft.approvals.get(read.id);
      return current === undefined ? undefined : this.settleIn(draft, current);
    });
    this.#waiting.wake(read.id);
    return now;
  }
}

/**
 * Returns an approved approval in its stored state. With an effect, the approval becomes `used` immediately. Without an
 * effect, the requester can collect it for as long as approvers had time to decide.
 */
function settledApproval(decided: Approval, hasEffect: boolean, now: number): Approval {
  if (decided.state !== "approved") return decided;
  if (hasEffect) return { ...decided, state: "used" };
  return { ...decided, expires: now + (decided.expires - decided.created) };
}

function changeName({ state, decisions }: Approval): string {
  if (state !== "pending") return `approval.${state}`;
  return decisions.length === 0 ? "approval.opened" : "approval.supported";
}

function unknownApproval(): DecisionRefusal {
  return refuseDecision("approval_unknown", "there is no such approval");
}

/** Milliseconds between two reads of an approval that another process may have settled. */
const INTERVAL = 1000;

class SettlementWaiters {
  readonly #look: (id: string) => Promise<Approval | undefined>;
  readonly #waiting = new Map<string, Set<() => void>>();

  constructor(look: (id: string) => Promise<Approval | undefined>) {
    this.#look = look;
  }

  /** Makes pending `settled` calls read this approval again. */
  wake(id: string): void {
    for (const wake of this.#waiting.get(id) ?? []) wake();
  }

  async settled(id: string, signal: AbortSignal): Promise<Approval> {
    for (;;) {
      signal.throwIfAborted();
      // Start waiting before the read, so that a change during the read is not missed.
      const woken = this.#pause(id, signal);
      try {
        const approval = await this.#look(id);
        if (approval === undefined) throw new TypeError("there is no such approval");
        if (approval.state !== "pending") return approval;
        await woken.done;
      } finally {
        woken.stop();
      }
    }
  }

  #pause(
    id: string,
    signal: AbortSignal,
  ): { readonly done: Promise<void>; readonly stop: () => void } {
    const others = this.#waiting.get(id) ?? new Set();
    this.#waiting.set(id, others);
    let wake: () => void = () => {};
    const done = new Promise<void>((resolve) => {
      wake = resolve;
    });
    const timer = setTimeout(wake, INTERVAL);
    others.add(wake);
    signal.addEventListener("abort", wake);
    const stop = (): void => {
      clearTimeout(timer);
      signal.removeEventListener("abort", wake);
      others.delete(wake);
      if (others.size === 0 && this.#waiting.get(id) === others) this.#waiting.delete(id);
    };
    return { done, stop };
  }
}
