import { formatTime } from "../../caveats/time.js";
import type { DelegationRecord } from "../registry/records.js";
import { type DelegationCaller, narrowedLink } from "./holding.js";
import type { DelegationContext } from "./options.js";
import { chainEvent, mostChains } from "./recording.js";
import { type DelegationRefusal, refusal } from "./refusal.js";

/**
 * Revokes a chain: its link first, so that a crash leaves a dead token; then the record. Repeatable.
 *
 * @throws StorageError
 */
export async function revokeChain(
  by: DelegationCaller,
  id: string,
  context: DelegationContext,
): Promise<{ readonly ok: true } | DelegationRefusal> {
  const record = await context.registry.read((view) => view.delegations.get(id));
  if (record === undefined) {
    return refusal("chain_unknown", "there is no chain of this id", "chain");
  }
  if (!(await isDelegator(by, record, context))) {
    return refusal("not_the_delegator", "only its delegator can revoke a chain", "chain");
  }
  if (record.revoked !== undefined) return { ok: true };
  const now = context.clock();
  const narrowed = await narrowedLink(by, context);
  if (record.expires > now) {
    const { revocations, maxRevocations } = context;
    const most = mostChains(maxRevocations, narrowed !== undefined);
    const until = formatTime(record.expires);
    const entry = { kind: "link", id: record.revocationId, until, at: formatTime(now) } as const;
    // Together, apart from the party itself: a holder can make as many narrowed copies as it likes.
    const who = [by.caller.principal, by.caller.invoker];
    const party = JSON.stringify(narrowed === undefined ? who : [...who, "narrowed"]);
    if ((await revocations.add(entry, { party, most })) === "over_quota") {
      const message = `${most} revocations by this caller stand in the list, as many as may, until their tokens have expired`;
      return refusal("too_many_revocations", message);
    }
  }
  await context.registry.change(async (draft) => {
    const present = await draft.delegations.get(id);
    if (present === undefined || present.revoked !== undefined) return;
    await draft.put("delegations", { ...present, revoked: now });
    const { caller } = by;
    draft.note(chainEvent("revocation", present, caller, "delegation.revoked", context, narrowed));
  });
  context.observe({ kind: "revocation", decision: "allowed", seconds: 0 });
  return { ok: true };
}

/** With an access token, the delegating agent for the same user; else a holder of what the chain is from. */
async function isDelegator(
  { caller, credential }: DelegationCaller,
  { delegator, principal, ancestors }: DelegationRecord,
  context: DelegationContext,
): Promise<boolean> {
  if (credential !== undefined) {
    const last = credential.token.chains[0].revocationIds.at(-1);
    return last !== undefined && ancestors.includes(last);
  }
  if (principal !== undefined && principal !== caller.principal) return false;
  return (await context.agents.byInvoker(caller.invoker))?.id === delegator;
}
