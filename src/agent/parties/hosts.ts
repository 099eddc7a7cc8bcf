// Hosts: found by id and key, created within limits, and linked to users.

import type { PartiesContext } from "./context.js";
import { partyEvent } from "./events.js";
import type { HostRecord, Origin, PublicKey } from "./records.js";
import { throwRefusal } from "./refusals.js";
import type { HostProof } from "./requests.js";
import { everyRecord, type PartyDraft, type PartyView, takeTurn } from "./store.js";

/**
 * Returns the host that has proven this key. If there is none, returns the last host that was revoked with this
 * key.
 */
export async function hostWithKey(
  view: PartyView | PartyDraft,
  thumbprint: string,
): Promise<HostRecord | undefined> {
  const [holder] = await view.hosts.find({ held: thumbprint, limit: 1 });
  if (holder !== undefined) return holder;
  const found = await view.hosts.find({ thumbprint, latestFirst: true });
  return found.find(({ status }) => status === "revoked");
}

/** Returns the hosts that were given this key and have not proven it. */
export async function hostsGivenKey(
  view: PartyView | PartyDraft,
  thumbprint: string,
): Promise<readonly HostRecord[]> {
  const found = await view.hosts.find({ thumbprint });
  return found.filter(({ unproven }) => unproven?.thumbprint === thumbprint);
}

/** True if a host is active and linked to a user. Anyone can register an unlinked host. */
export function isUsersHost({ status, principal }: HostRecord): boolean {
  return status === "active" && principal !== undefined;
}

/** Returns the host with a new key in place of its old ones. */
export function hostGivenKey(host: HostRecord, given: PublicKey, proven: boolean): HostRecord {
  const { key: _, thumbprint: _old, unproven: _other, ...rest } = host;
  return proven ? { ...rest, ...given } : { ...rest, unproven: given };
}

/** Returns a host's defaults that the settings still allow and whose capabilities are still offered. */
export function currentDefaults(
  { defaults }: Pick<HostRecord, "defaults">,
  { settings, terms }: Pick<PartiesContext, "settings" | "terms">,
): readonly string[] {
  return defaults.filter((name) => settings.defaults.includes(name) && terms?.has(name) === true);
}

/**
 * Returns the host that proved its key: the known host with its updated properties, or a new host.
 *
 * @param known - The host as read in this transaction.
 * @param asked - `id` is for a new host; `alone` is `true` if the host's agent acts for no user.
 * @throws RefusedError
 */
export async function knownOrNewHost(
  draft: PartyDraft,
  known: HostRecord | undefined,
  { hostKey, hostThumbprint, hostName, from }: HostProof,
  { id, alone }: { readonly id: string; readonly alone: boolean },
  context: PartiesContext,
): Promise<HostRecord> {
  const { settings, clock } = context;
  const now = clock();
  if (known?.status === "revoked") throwRefusal("host_revoked", "the host has been revoked");
  if (known?.status === "enrolling")
    throwRefusal("host_pending", "the host has not given its key yet");
  if (known !== undefined) {
    const name = known.named ? known.name : (hostName ?? known.name);
    const status = alone && known.principal === undefined ? "active" : known.status;
    return { ...known, ...(name === undefined ? {} : { name }), status, updated: now };
  }
  // Do not count a host as unlinked if a user enrolled it, and it proves its key by this request.
  const enrolled = alone ? undefined : await enrolledHostWithKey(draft, hostThumbprint);
  if (enrolled === undefined) {
    if (!settings.allowHosts) {
      const message =
        "hosts cannot register themselves here; their user makes them, with an enrolment token";
      throwRefusal("hosts_not_allowed", message);
    }
    await checkNewHosts(draft, from, context);
  }
  const host: HostRecord = {
    id,
    tenant: settings.tenant,
    key: hostKey,
    thumbprint: hostThumbprint,
    ...(hostName === undefined ? {} : { name: hostName }),
    ...(from === undefined || enrolled !== undefined ? {} : { from }),
    status: alone ? "active" : "pending",
    defaults: settings.defaults,
    created: now,
    updated: now,
  };
  draft.note(partyEvent("host.registered", now, { record: id }));
  return host;
}

/**
 * Merges a host that is being linked to a user with a host that the user enrolled under the same key without a
 * proof. The merged host gets the enrolled host's name, and keeps only the defaults that both hosts have. The
 * record of the enrolled host ends.
 */
export async function mergedWithEnrolled(
  draft: PartyDraft,
  host: HostRecord,
  principal: string,
  now: number,
): Promise<HostRecord> {
  let known = host;
  if (host.thumbprint === undefined) return known;
  for (const other of await everyRecord(draft.hosts, { principal })) {
    if (!(await isEnrolled(draft, other, host.thumbprint))) continue;
    known = {
      ...known,
      ...(other.name === undefined ? {} : { name: other.name }),
      ...(other.named ? { named: true } : {}),
      defaults: known.defaults.filter((one) => other.defaults.includes(one)),
    };
    await draft.put("hosts", { ...other, status: "revoked", updated: now });
    draft.note(partyEvent("host.merged", now, { record: other.id, principal }));
  }
  return known;
}

/** Returns the host that a user enrolled under this key without a proof. */
async function enrolledHostWithKey(
  draft: PartyDraft,
  thumbprint: string,
): Promise<HostRecord | undefined> {
  for (const host of await everyRecord(draft.hosts, { thumbprint })) {
    if (await isEnrolled(draft, host, thumbprint)) return host;
  }
  return undefined;
}

async function isEnrolled(
  draft: PartyDraft,
  { id, status, principal, unproven }: HostRecord,
  thumbprint: string,
): Promise<boolean> {
  if (unproven?.thumbprint !== thumbprint) return false;
  if (status !== "active" || principal === undefined) return false;
  // A host with agents got this key by rotation, not by a new enrolment, so it is not merged.
  const [agent] = await draft.agents.find({ host: id, limit: 1 });
  return agent === undefined;
}

/**
 * Milliseconds for which a self-registered host or an agent counts against the limits, even if it has ended.
 * After this time, a flood of registrations no longer blocks other hosts and agents.
 */
export const COUNTED_MS: number = 60 * 60 * 1000;

/**
 * Refuses a new host if too many unlinked hosts have registered within an hour: from its address, from its
 * network, or in total.
 *
 * @param from - The origin of the request; if it is absent, only the total is checked.
 * @throws RefusedError with the number of seconds until the next host may register.
 */
async function checkNewHosts(
  draft: PartyDraft,
  from: Origin | undefined,
  { settings: { bounds }, clock }: Pick<PartiesContext, "settings" | "clock">,
): Promise<void> {
  const now = clock();
  // Make concurrent registrations from one network wait for each other; otherwise each would miss the others in
  // its count.
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
    const unlinked = await everyRecord(draft.hosts, { ...where, unlinkedSince: now - COUNTED_MS });
    const next = unlinked[unlinked.length - most];
    if (next === undefined) continue;
    const retryAfter = Math.max(1, Math.ceil((next.created + COUNTED_MS - now) / 1000));
    const hosts = most === 1 ? "one host" : `${most} hosts`;
    const message = `at most ${hosts} without a user may register${words} within an hour; wait ${retryAfter} s, or have a user approve one of them`;
    throwRefusal("rate_limited", message, { retryAfter });
  }
}

const ADDRESS = " from this address";

const NETWORK = " from this network of addresses";
