import type { RegistryDraft, RegistryStore } from "../registry/registry-store.js";
import type { Approval } from "./approval.js";
import {
  type Actor,
  type ApprovalEffect,
  type ApprovalEffects,
  approvalEvent,
} from "./approval-events.js";
import { principalOf } from "./approval-result.js";
import {
  type Approver,
  type ApproverAnswer,
  type DecisionRefusal,
  decideOn,
  refuseDecision,
} from "./deciding.js";
import { type InForce, standing } from "./standing.js";

/** The outcome of a decision. */
export type DecisionOutcome = { readonly ok: true; readonly approval: Approval } | DecisionRefusal;

const MAX_ATTEMPTS = 16;
/** Approvals that are read at once, to be settled one by one. */
const AT_ONCE = 100;

/** Settles approvals: by decisions, by taking them back, and by time. */
export class ApprovalSettling {
  readonly #store: RegistryStore;
  readonly #clock: () => number;
  readonly #effects: ApprovalEffects;
  readonly #inForce: InForce;
  readonly #waiting = new Waiting((id) => this.get(id));

  constructor(
    store: RegistryStore,
    clock: () => number,
    effects: ApprovalEffects,
    inForce: InForce,
  ) {
    this.#store = store;
    this.#clock = clock;
    this.#effects = effects;
    this.#inForce = inForce;
  }

  /** @see Approvals.seen */
  seen(approval: Approval): Approval {
    return standing(approval, this.#inForce, this.#clock());
  }

  /** @see Approvals.get */
  async get(id: string): Promise<Approval | undefined> {
    return this.looked(await this.#store.read((view) => view.approvals.get(id)));
  }

  /** @see Approvals.settled */
  settled(id: string, signal: AbortSignal): Promise<Approval> {
    return this.#waiting.settled(id, signal);
  }

  /** @see Approvals.decide */
  async decide(id: string, by: Approver, answer: ApproverAnswer): Promise<DecisionOutcome> {
    for (let attempt = 1; ; attempt++) {
      await this.#inForce.catchUp();
      const seen = await this.get(id);
      if (seen === undefined) return unknown();
      const tentative = this.tried(seen, by, answer);
      if (!tentative.ok) return this.#refused(seen, by, tentative);
      const { approval: expected } = tentative;
      const effect = this.#effectOf(expected);
      const facts = expected.state === "approved" ? await effect?.prepare(expected) : undefined;
      const outcome = await this.#store.change(async (draft) => {
        const current = await draft.approvals.get(id);
        if (current === undefined) return unknown();
        const decided = this.tried(current, by, answer);
        if (!decided.ok) return decided;
        // Another approver decided meanwhile, so the prepared decision may no longer fit.
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

  /** @see Approvals.tried */
  tried(approval: Approval, by: Approver, answer: ApproverAnswer): DecisionOutcome {
    const now = this.#clock();
    const current = standing(approval, this.#inForce, now);
    const rules = this.#inForce.rulesFor(current.subject);
    const outcome = decideOn(current, by, answer, now, rules);
    if (!outcome.ok) return outcome;
    return { ok: true, approval: standing(outcome.approval, this.#inForce, now) };
  }

  #effectOf({ subject: { kind } }: Approval): ApprovalEffect | undefined {
    const effect = this.#effects[kind];
    // Deciding here would make an agent wait for ever for its approved grants.
    if (effect !== undefined || kind === "capabilities") return effect;
    throw new TypeError(
      "what agents of a registry ask for is decided through that registry's approvals",
    );
  }

  async #settle(
    draft: RegistryDraft,
    decided: Approval,
    by: Actor,
    now: number,
    facts: unknown,
  ): Promise<{ readonly ok: true; readonly approval: Approval }> {
    const effect = this.#effectOf(decided);
    const approval = settled(decided, effect !== undefined, now);
    await draft.put("approvals", approval);
    draft.note(approvalEvent(decided, changeOf(decided), now, by));
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
  async cancelIn(draft: RegistryDraft, current: Approval, by: Actor): Promise<boolean> {
    if (current.state !== "pending" && current.state !== "approved") return false;
    const now = this.#clock();
    await this.#settle(draft, { ...current, state: "cancelled", updated: now }, by, now, undefined);
    return true;
  }

  /** @see Approvals.settleIn */
  async settleIn(draft: RegistryDraft, current: Approval): Promise<Approval> {
    const seen = this.seen(current);
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
        if ((await this.looked(one))?.state === "expired") settled++;
      }
      if (page.length < AT_ONCE) return settled;
      after = page.at(-1)?.id;
    }
  }

  /** An approval that was read, as it is now: one that has ended without a decision is settled by that. */
  async looked(read: Approval | undefined): Promise<Approval | undefined> {
    if (read === undefined || this.seen(read) === read) return read;
    const now = await this.#store.change(async (draft) => {
      const current = await draft.approvals.get(read.id);
      return current === undefined ? undefined : this.settleIn(draft, current);
    });
    this.#waiting.wake(read.id);
    return now;
  }
}

/** An approval with effects is used by them; others wait to be collected, as long again as for a decision. */
function settled(decided: Approval, hasEffect: boolean, now: number): Approval {
  if (decided.state !== "approved") return decided;
  if (hasEffect) return { ...decided, state: "used" };
  return { ...decided, expires: now + (decided.expires - decided.created) };
}

function changeOf({ state, decisions }: Approval): string {
  if (state !== "pending") return `approval.${state}`;
  return decisions.length === 0 ? "approval.opened" : "approval.supported";
}

function unknown(): DecisionRefusal {
  return refuseDecision("approval_unknown", "there is no such approval");
}

/** Milliseconds between two looks: another process may decide. */
const INTERVAL = 1000;

class Waiting {
  readonly #look: (id: string) => Promise<Approval | undefined>;
  readonly #waiting = new Map<string, Set<() => void>>();

  constructor(look: (id: string) => Promise<Approval | undefined>) {
    this.#look = look;
  }

  /** Lets those look again that wait for an approval. */
  wake(id: string): void {
    for (const wake of this.#waiting.get(id) ?? []) wake();
  }

  async settled(id: string, signal: AbortSignal): Promise<Approval> {
    for (;;) {
      signal.throwIfAborted();
      // Woken while it looks, it looks again.
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
