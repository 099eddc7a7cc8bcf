import type { RegistryDraft } from "../registry/registry-store.js";
import type { Approval, ApprovalKind } from "./approval.js";
import type { Actor } from "./approval-events.js";

/** What becomes of an approval of one kind once it is settled, in the same change. */
export interface ApprovalEffect {
  /**
   * Finds out what takes time, such as what the policy allows, before the change that settles it.
   *
   * @param settled - As it will be; the change may find it changed.
   */
  prepare(settled: Approval): Promise<unknown>;
  /**
   * @param settled - Approved, denied, expired or cancelled.
   * @param facts - `prepare`'s; only if approved.
   * @param by - Who settled it; nothing where its time is over.
   */
  apply(
    draft: RegistryDraft,
    settled: Approval,
    now: number,
    facts: unknown,
    by: Actor,
  ): Promise<void>;
}

/** By kind; without one, an approval waits to be collected. */
export type ApprovalEffects = { readonly [Kind in ApprovalKind]?: ApprovalEffect };
