import { randomBytes } from "../../bytes/random.js";
import { newCapabilityId } from "../../capability/mint.js";
import { assertMembers } from "../../caveats/known-members.js";
import type { RegistryDraft, RegistryStore, RegistryView } from "../registry/registry-store.js";
import type { Approval, ApprovalState } from "./approval.js";
import type { ApprovalEffect, ApprovalEffects } from "./approval-effects.js";
import { type Actor, approvalEvent } from "./approval-events.js";
import {
  type Approver,
  type ApproverAnswer,
  type DecisionRefusal,
  decideOn,
  mayDecide,
} from "./deciding.js";
import { digestOfText } from "./digest.js";
import {
  ApprovalOpening,
  type ApprovalRequest,
  type OpenedAlone,
  type OpenedApproval,
} from "./opening.js";
import { hashOfUserCode } from "./user-code.js";
import { Waiting } from "./waiting.js";

export interface ApprovalsOptions {
  readonly store: RegistryStore;
  /** Milliseconds since 1970; `Date.now` unless given. */
  readonly clock?: (() => number) | undefined;
  readonly random?: ((length: number) => Uint8Array) | undefined;
  readonly effects?: ApprovalEffects | undefined;
}

/** The outcome of a decision. */
export type DecisionOutcome = { readonly ok: true; readonly approval: Approval } | DecisionRefusal;

const MAX_ATTEMPTS = 16;

/** What people decide before something is granted, for every protocol. Works on the store alone. */
export class Approvals {
  readonly #store: RegistryStore;
  readonly #clock: () => number;
  readonly #random: (length: number) => Uint8Array;
  readonly #effects: ApprovalEffects;
  readonly #opening: ApprovalOpening;
  readonly #waiting: Waiting;

  /** @throws TypeError for an option that is not known. */
  constructor(options: ApprovalsOptions) {
    assertMembers(options, ["store", "clock", "random", "effects"], "options");
    const { store, clock = Date.now, random = randomBytes, effects = {} } = options;
    this.#store = store;
    this.#clock = clock;
    this.#random = random;
    this.#effects = effects;
    this.#opening = new ApprovalOpening(store, clock, random);
    this.#waiting = new Waiting((id) => this.get(id));
  }

  /**
   * Opens an approval in a change. A repeated request gets the same, with a new user code unless this process
   * still knows the old one.
   *
   * @throws RequestReusedError if the request's id was used for another request.
   */
  open(draft: RegistryDraft, request: ApprovalRequest): Promise<OpenedApproval> {
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
  reopened(draft: RegistryDraft, approval: Approval): Promise<OpenedApproval> {
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
      if (approval?.state !== "approved" || approval.expires <= now) return;
      const collected = Object.fromEntries(
        places.map((place) => [place, newCapabilityId(this.#random)]),
      );
      await draft.put("approvals", { ...approval, state: "used", collected, updated: now });
      draft.note(approvalEvent(approval, "approval.collected", now));
    });
  }

  /**
   * Decides, and settles the approval where that is enough, with what depends on it. Refusals are recorded.
   *
   * @throws StorageError if it cannot be written; then nothing has changed.
   */
  async decide(id: string, by: Approver, answer: ApproverAnswer): Promise<DecisionOutcome> {
    for (let attempt = 1; ; attempt++) {
      const seen = await this.get(id);
      if (seen === undefined) return unknown();
      const tentative = decideOn(seen, by, answer, this.#clock());
      if (!tentative.ok) return this.#refused(seen, by, tentative);
      const { approval: expected } = tentative;
      const effect = this.#effectOf(expected);
      const facts = expected.state === "approved" ? await effect?.prepare(expected) : undefined;
      const outcome = await this.#store.change(async (draft) => {
        const now = this.#clock();
        const current = await draft.approvals.get(id);
        if (current === undefined) return unknown();
        const decided = decideOn(current, by, answer, now);
        if (!decided.ok) return decided;
        // Another approver came between, and what was prepared may not fit any more.
        if (decided.approval.state !== expected.state && attempt < MAX_ATTEMPTS) return undefined;
        return this.#settle(draft, decided.approval, by, now, facts);
      });
      if (outcome === undefined) continue;
      if (!outcome.ok) return this.#refused(seen, by, outcome);
      this.#waiting.wake(id);
      return outcome;
    }
  }

  #effectOf({ subject: { kind } }: Approval): ApprovalEffect | undefined {
    const effect = this.#effects[kind];
    // Decided about here, an agent would wait for ever for what was approved.
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
    if (decided.state !== "pending") await effect?.apply(draft, decided, now, facts);
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

  /** An approval; one whose time is over has been denied by that. */
  async get(id: string): Promise<Approval | undefined> {
    return this.#looked(await this.#store.read((view) => view.approvals.get(id)));
  }

  /** The approval that a user code, as it was typed, is of; `undefined` for an unknown code. */
  async byUserCode(typed: string): Promise<Approval | undefined> {
    const codeHash = hashOfUserCode(typed);
    if (codeHash === undefined) return undefined;
    const found = await this.#store.read((view) => view.approvals.find({ codeHash }));
    return this.#looked(found.find(({ state }) => state === "pending") ?? found.at(-1));
  }

  /** The approval of a request. */
  async byRequest(request: string): Promise<Approval | undefined> {
    const [found] = await this.#store.read((view) => view.approvals.find({ request, limit: 1 }));
    return this.#looked(found);
  }

  /** What waits for this principal to decide, oldest first. */
  async waitingFor(principal: string): Promise<readonly Approval[]> {
    const query = { approver: principal, state: "pending" } as const;
    // Every page: those whose time is over are pending until they are looked at, and may be many.
    const found = await this.#store.read((view) => everyOne(view, query));
    return found.filter(
      (one) =>
        one.expires > this.#clock() &&
        mayDecide(one, principal) &&
        !one.decisions.some(({ approver }) => approver === principal),
    );
  }

  /** Latest first. @param among - Of how many of the last requests: 1 to 1,000; 1,000 unless given. */
  async history(principal: string, among: number = PAGE): Promise<readonly Approval[]> {
    const query = { approver: principal, latestFirst: true, limit: among };
    const found = [...(await this.#store.read((view) => view.approvals.find(query)))];
    const now = this.#clock();
    const over = found.filter(({ state, expires }) => state !== "pending" || expires <= now);
    const seen = over.map((one) =>
      isOver(one, now) ? { ...one, state: "expired" as const } : one,
    );
    return seen.sort((a, b) => b.updated - a.updated);
  }

  /** All of them, in the order of their making; for an operator. */
  list(
    page: { readonly after?: string; readonly limit?: number; readonly state?: ApprovalState } = {},
  ): Promise<readonly Approval[]> {
    return this.#store.read((view) => view.approvals.find(page));
  }

  /**
   * Fulfilled once the approval is settled, also by another process, or its time is over.
   *
   * @throws The signal's reason once it is aborted.
   * @throws TypeError if there is no such approval.
   */
  settled(id: string, signal: AbortSignal): Promise<Approval> {
    return this.#waiting.settled(id, signal);
  }

  /** Takes an approval back that is not settled. @returns Whether it was still open. */
  async cancel(id: string, by: Actor): Promise<boolean> {
    const cancelled = await this.#store.change(async (draft) => {
      const current = await draft.approvals.get(id);
      if (current === undefined) return false;
      return this.cancelIn(draft, current, by);
    });
    if (cancelled) this.#waiting.wake(id);
    return cancelled;
  }

  /** As {@link Approvals.cancel}, in a change under way. */
  async cancelIn(draft: RegistryDraft, current: Approval, by: Actor): Promise<boolean> {
    if (current.state !== "pending" && current.state !== "approved") return false;
    const now = this.#clock();
    await this.#settle(draft, { ...current, state: "cancelled", updated: now }, by, now, undefined);
    return true;
  }

  /** Settles an approval whose time is over, in a change under way. */
  async expireIn(draft: RegistryDraft, current: Approval): Promise<Approval> {
    const now = this.#clock();
    if (!isOver(current, now)) return current;
    const over: Approval = { ...current, state: "expired", updated: now };
    return (await this.#settle(draft, over, {}, now, undefined)).approval;
  }

  /** Settles each approval whose time is over, which denies what waits for it. @returns How many. */
  async expire(): Promise<number> {
    let settled = 0;
    for (let after: string | undefined; ; ) {
      const query = { overAt: this.#clock(), limit: AT_ONCE, ...(after ? { after } : {}) };
      const page = await this.#store.read((view) => view.approvals.find(query));
      for (const one of page) {
        if ((await this.#looked(one))?.state === "expired") settled++;
      }
      if (page.length < AT_ONCE) return settled;
      after = page.at(-1)?.id;
    }
  }

  async #looked(seen: Approval | undefined): Promise<Approval | undefined> {
    if (seen === undefined || !isOver(seen, this.#clock())) return seen;
    const now = await this.#store.change(async (draft) => {
      const current = await draft.approvals.get(seen.id);
      return current === undefined ? undefined : this.expireIn(draft, current);
    });
    this.#waiting.wake(seen.id);
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

function isOver({ state, expires }: Approval, now: number): boolean {
  return (state === "pending" || state === "approved") && expires <= now;
}

function unknown(): DecisionRefusal {
  return { ok: false, code: "approval_unknown", message: "there is no such approval" };
}

async function everyOne(
  view: RegistryView,
  query: { readonly approver: string; readonly state?: ApprovalState },
): Promise<Approval[]> {
  const all: Approval[] = [];
  for (let after: string | undefined; ; after = all.at(-1)?.id) {
    const page = await view.approvals.find({ ...query, ...(after === undefined ? {} : { after }) });
    all.push(...page);
    if (page.length < PAGE) return all;
  }
}

const PAGE = 1000;
/** Approvals that are read at once, to be settled one by one. */
const AT_ONCE = 100;
