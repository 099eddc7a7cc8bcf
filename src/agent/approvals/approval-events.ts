import type { LedgerEvent } from "../ledger.js";
import type { RegistryDraft } from "../registry/registry-store.js";
import type { Approval, ApprovalKind } from "./approval.js";
import type { DecisionRefusal } from "./deciding.js";

/** The acting party: a user, the agent, its host, or an operator of this installation. */
export interface Actor {
  readonly principal?: string | undefined;
  readonly agent?: string | undefined;
  readonly host?: string | undefined;
  readonly operator?: boolean | undefined;
}

/** An event of an approval, as it stands in the ledger. */
export function approvalEvent(
  { id, subject, cause }: Pick<Approval, "id" | "subject" | "cause">,
  change: string,
  now: number,
  { principal = subject.principal, operator }: Actor = {},
): LedgerEvent {
  const { agent, purpose, asked } = subject;
  const [only, ...more] = asked;
  return {
    kind: "approval",
    at: new Date(now).toISOString(),
    change,
    record: id,
    decision: /denied|expired|cancelled/.test(change) ? "refused" : "allowed",
    invoker: agent.id,
    ...(principal === undefined ? {} : { principal }),
    ...(operator === true ? { operator } : {}),
    ...(purpose === undefined ? {} : { purpose }),
    ...(cause === undefined ? {} : { codes: [cause] }),
    ...(only !== undefined && more.length === 0 ? { grant: only.grant } : {}),
  };
}

/** Applies the effects of an approval of one kind once it is settled, in the same change. */
export interface ApprovalEffect {
  /**
   * Finds out what takes time, such as what the policy allows, before the change that settles it.
   *
   * @param settled - As it will be; the change may find it changed.
   */
  prepare(settled: Approval): Promise<unknown>;
  /**
   * Refuses an approving decision that could have no effect any more; the approval then stays as it was.
   *
   * @param decided - The approval with that decision.
   */
  objection(draft: RegistryDraft, decided: Approval): Promise<DecisionRefusal | undefined>;
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
