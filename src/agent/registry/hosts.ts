import { registryEvent } from "./events.js";
import { everyRecord } from "./every-record.js";
import { leave } from "./outcomes.js";
import type { HostRecord } from "./records.js";
import type { RegistryContext } from "./registry-context.js";
import type { RegistryDraft } from "./registry-store.js";
import type { HostProof } from "./requests.js";

/**
 * The host that proved to have a key, known or made.
 *
 * @param known - As the change has read it.
 * @param asked - The id of a new one, and whether its agents act for no user.
 * @throws Refused
 */
export async function hostFor(
  draft: RegistryDraft,
  known: HostRecord | undefined,
  { hostKey, hostThumbprint, hostName }: HostProof,
  { id, alone }: { readonly id: string; readonly alone: boolean },
  context: RegistryContext,
): Promise<HostRecord> {
  const { settings, clock } = context;
  const now = clock();
  if (known?.status === "revoked") leave("host_revoked", "the host has been revoked");
  if (known?.status === "enrolling") leave("host_pending", "the host has not given its key yet");
  if (known !== undefined) {
    const name = hostName ?? known.name;
    const status = alone && known.principal === undefined ? "active" : known.status;
    return { ...known, ...(name === undefined ? {} : { name }), status, updated: now };
  }
  if (!settings.allowHosts) {
    const message =
      "hosts cannot register themselves here; their user makes them, with an enrolment token";
    leave("hosts_not_allowed", message);
  }
  await checkHosts(draft, settings.bounds.pendingHosts, now);
  const host: HostRecord = {
    ...{ id, tenant: settings.tenant, key: hostKey, thumbprint: hostThumbprint },
    ...(hostName === undefined ? {} : { name: hostName }),
    ...{
      status: alone ? "active" : "pending",
      defaults: settings.defaults,
      created: now,
      updated: now,
    },
  };
  draft.note(registryEvent("host.registered", now, { record: id }));
  return host;
}

/**
 * Milliseconds for which a host that registers itself, and an agent, counts though it has ended: a flood of them
 * keeps others out no longer.
 */
export const COUNTED: number = 60 * 60 * 1000;

async function checkHosts(draft: RegistryDraft, most: number, now: number): Promise<void> {
  const unlinkedSince = now - COUNTED;
  const unlinked = (await everyRecord(draft.hosts, { unlinkedSince })).length;
  if (unlinked < most) return;
  const message = `${unlinked} hosts have registered within an hour that no user has taken on, as many as may`;
  leave("limit_exceeded", message);
}

/** The defaults of a host that are still defaults, and still there. */
export function defaultsOf(
  { defaults }: Pick<HostRecord, "defaults">,
  { settings, terms }: Pick<RegistryContext, "settings" | "terms">,
): readonly string[] {
  return defaults.filter((name) => settings.defaults.includes(name) && terms?.has(name) === true);
}
