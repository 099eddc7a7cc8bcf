import { leave } from "./outcomes.js";
import type { Origin } from "./records.js";
import type { RegistryContext } from "./registry-context.js";
import { everyRecord, type RegistryDraft, takeTurn } from "./registry-store.js";

/**
 * Milliseconds for which a host that registers itself, and an agent, counts though it has ended: a flood of them
 * keeps others out no longer.
 */
export const COUNTED: number = 60 * 60 * 1000;

/**
 * Refuses a new host while too many that no user has taken on have registered within an hour: from its address, from
 * its network, or in all.
 *
 * @param from - Where it registers from; without it, only all hosts together are counted.
 * @throws Refused with the seconds until the oldest of them counts no longer.
 */
export async function checkNewHosts(
  draft: RegistryDraft,
  from: Origin | undefined,
  { settings: { bounds }, clock }: Pick<RegistryContext, "settings" | "clock">,
): Promise<void> {
  const now = clock();
  // Hosts that register at the same time from one network are counted one after the other.
  if (from !== undefined) await takeTurn(draft, ["new-hosts", from.network], now);
  const shares = [
    ...(from === undefined
      ? []
      : [
          { where: { address: from.address }, most: bounds.pendingHostsPerAddress, words: ADDRESS },
          { where: { network: from.network }, most: bounds.pendingHostsPerNetwork, words: NETWORK },
        ]),
    { where: {}, most: bounds.pendingHosts, words: "" },
  ];
  for (const { where, most, words } of shares) {
    const unlinked = await everyRecord(draft.hosts, { ...where, unlinkedSince: now - COUNTED });
    const next = unlinked[unlinked.length - most];
    if (next === undefined) continue;
    const retryAfter = Math.max(1, Math.ceil((next.created + COUNTED - now) / 1000));
    const hosts = most === 1 ? "one host" : `${most} hosts`;
    const message = `${hosts} that no user has taken on may register${words} within an hour, and no more; wait ${retryAfter} s, or have a user approve one of them`;
    leave("rate_limited", message, { retryAfter });
  }
}

const ADDRESS = " from this address";
const NETWORK = " from this network of addresses";
