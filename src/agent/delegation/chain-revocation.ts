import { formatTime } from "../../caveats/time.js";
import type { DelegationRecord } from "../parties/records.js";
import { chainEvent, mostChains } from "./chain-records.js";
import { type DelegationCaller, narrowedLink } from "./holdings.js";
import type { DelegationContext } from "./options.js";
import { type DelegationRefusal, delegationRefusal } from "./refusal.js";

/**
 * Revokes a delegation: first the link, then the record. If the process crashes in between, the token is
 * already invalid. The call can be repeated.
 *
 * @throws StorageError
 */
export async function revokeChain(
  by: DelegationCaller,
  id: string,
  context: DelegationContext,
): Promise<{ readonly ok: true } | DelegationRefusal> {
  const record = await context.parties.read((view) => view.delegations.get(id));
  if (record === undefined) {
    return delegationRefusal("chain_unknown", "there is no chain of this id", "chain");
  }
  if (!(await isDelegator(by, record, context))) {
    return delegationRefusal("not_the_delegator", "only its delegator can revoke a chain", "chain");
  }
  if (record.revoked !== undefined) return { ok: true };
  const now = context.clock();
  const narrowed = await narrowedLink(by, context);
  if (record.expires > now) {
    const { revocations, maxRevocations } = context;
    const most = mostChains(maxRevocations, narrowed !== undefined);
    const until = formatTime(record.expires);
    const entry = { kind: "link", id: record.revocationId, until, at: formatTime(now) } as const;
    // All narrowed copies of a party's capabilities share one separate limit, since a holder can make any
    // number of copies.
    const who = [by.caller.principal, by.caller.invoker];
    const party = JSON.stringify(narrowed === undefined ? who : [...who, "narrowed"]);
    if ((await revocations.add(entry, { party, most })) === "over_quota") {
      const message = `this caller already has ${most} live revocations, the maximum; wait until their tokens have expired`;
      return delegationRefusal("too_many_revocations", message);
    }
  }
  await context.parties.change(async (draft) => {
    const present = await draft.delegations.get(id);
    if (present === undefined || present.revoked !== undefined) return;
    await draft.put("delegations", { ...present, revoked: now });
    const { caller } = by;
    draft.note(chainEvent("revocation", present, caller, "delegation.revoked", context, narrowed));
  });
  context.observe({ kind: "revocation", decision: "allowed", seconds: 0 });
  return { ok: true };
}

/**
 * Returns whether the caller may revoke the delegation. With an access token, the caller must be the delegating
 * agent, acting for the same user. With a capability, the delegation must descend from it.
 */
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
