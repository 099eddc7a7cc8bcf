import type { Caller } from "../caller.js";
import type { LedgerEvent } from "../ledger.js";
import type { DelegationRecord } from "../parties/records.js";
import { takeTurn } from "../parties/store.js";
import type { DelegationContext } from "./options.js";
import type { DelegationRefusal } from "./refusal.js";

/** The ledger's names for changes of a delegation. */
export type ChainChange = "delegation.made" | "delegation.seen" | "delegation.revoked";

/**
 * Stores a new delegation and its event in one transaction.
 *
 * @param narrowed - The revocation id of the last link of the presented capability, if that capability was
 *   narrowed.
 * @returns `false` if nothing was stored, because the delegator already has the maximum number of live delegations. The
 *   maximum is halved for a delegation that was only seen, or was made with a narrowed capability.
 * @throws StorageError
 */
export async function keepChain(
  record: DelegationRecord,
  caller: Caller,
  change: ChainChange,
  context: Pick<DelegationContext, "parties" | "maxDelegations" | "clock" | "observe">,
  narrowed?: string,
): Promise<boolean> {
  const { parties, maxDelegations, clock } = context;
  const isOwn = change === "delegation.made" && narrowed === undefined;
  const most = mostChains(maxDelegations, !isOwn);
  const { delegator } = record;
  const isKept = await parties.change(async (draft) => {
    await takeTurn(draft, ["delegations", delegator], clock());
    if ((await draft.delegations.get(record.id)) !== undefined) return true;
    const alive = await draft.delegations.find({ delegator, aliveAt: clock(), limit: most });
    if (alive.length >= most) return false;
    await draft.put("delegations", record);
    draft.note(chainEvent("registration", record, caller, change, context, narrowed));
    return true;
  });
  if (isKept) context.observe({ kind: "registration", decision: "allowed", seconds: 0 });
  return isKept;
}

/**
 * Returns a party's limit: `most` for the party's own actions, and half of `most`, rounded up, for actions of others
 * who hold a copy of its capability. Unless `most` is 1, the others can then never use up the party's limit.
 */
export function mostChains(most: number, isByOthers: boolean): number {
  return isByOthers ? Math.ceil(most / 2) : most;
}

/**
 * Returns the ledger event for a change of a delegation.
 *
 * @param narrowed - As for {@link keepChain}.
 */
export function chainEvent(
  kind: "registration" | "revocation",
  { id, capabilityId, revocationId }: DelegationRecord,
  caller: Caller,
  change: ChainChange,
  { clock }: Pick<DelegationContext, "clock">,
  narrowed?: string,
): LedgerEvent {
  const path = [narrowed, revocationId].flatMap((one) =>
    one === undefined ? [] : [{ revocationId: one }],
  );
  return {
    kind,
    at: new Date(clock()).toISOString(),
    decision: "allowed",
    principal: caller.principal,
    invoker: caller.invoker,
    capability: capabilityId,
    path,
    change,
    record: id,
  };
}

export function noteDelegationRefusal(
  kind: "registration" | "revocation",
  { principal, invoker }: Caller,
  { problems }: DelegationRefusal,
  { ledger, observe, clock }: DelegationContext,
): void {
  const codes = [...new Set(problems.map(({ code, denial = code }) => denial))];
  const at = new Date(clock()).toISOString();
  ledger.note({ kind, at, decision: "refused", principal, invoker, codes });
  observe({ kind, decision: "refused", code: codes[0] ?? "", seconds: 0 });
}
