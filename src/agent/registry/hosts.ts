import { encodeBase64url } from "../../bytes/base64.js";
import { meant } from "../../checks/members.js";
import { digestOfText } from "../approvals/digest.js";
import { outcomeOf } from "./answering.js";
import { checkTexts } from "./asking.js";
import { newId } from "./granting.js";
import { registryEvent, withKey } from "./keeping.js";
import { hostWithKey } from "./looking.js";
import { checkNewHosts } from "./newcomers.js";
import { leave, type Outcome } from "./outcomes.js";
import type { HostRecord } from "./records.js";
import type { RegistryContext } from "./registry-context.js";
import { everyRecord, type RegistryDraft } from "./registry-store.js";
import type { HostCreation, HostEnrolment, HostProof } from "./requests.js";

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
  { hostKey, hostThumbprint, hostName, from }: HostProof,
  { id, alone }: { readonly id: string; readonly alone: boolean },
  context: RegistryContext,
): Promise<HostRecord> {
  const { settings, clock } = context;
  const now = clock();
  if (known?.status === "revoked") leave("host_revoked", "the host has been revoked");
  if (known?.status === "enrolling") leave("host_pending", "the host has not given its key yet");
  if (known !== undefined) {
    const name = known.named ? known.name : (hostName ?? known.name);
    const status = alone && known.principal === undefined ? "active" : known.status;
    return { ...known, ...(name === undefined ? {} : { name }), status, updated: now };
  }
  // A host that a user has made, and that proves its key by this, is no stranger.
  const enrolled = alone ? undefined : await enrolledUnder(draft, hostThumbprint);
  if (enrolled === undefined) {
    if (!settings.allowHosts) {
      const message =
        "hosts cannot register themselves here; their user makes them, with an enrolment token";
      leave("hosts_not_allowed", message);
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
  draft.note(registryEvent("host.registered", now, { record: id }));
  return host;
}

/** The defaults of a host that are still defaults, and still there. */
export function defaultsOf(
  { defaults }: Pick<HostRecord, "defaults">,
  { settings, terms }: Pick<RegistryContext, "settings" | "terms">,
): readonly string[] {
  return defaults.filter((name) => settings.defaults.includes(name) && terms?.has(name) === true);
}

/** @see Registry.createHost */
export async function createHost(
  asked: HostCreation,
  context: RegistryContext,
): Promise<Outcome<{ readonly host: HostRecord; readonly enrolmentToken?: string }>> {
  const { principal, name, key, operator } = asked;
  return outcomeOf("host.created", { principal, operator }, context, async () => {
    checkTexts({ hostName: name, loginHint: principal });
    const { settings, clock, random } = context;
    const defaults = defaultsFor(asked.defaults, context);
    const id = newId("host", context);
    const secret = encodeBase64url(random(32));
    // The id in it finds the host; the hash of all of it proves it.
    const enrolmentToken = `${id}.${secret}`;
    const now = clock();
    const enrolment = {
      hash: digestOfText(enrolmentToken),
      expires: now + settings.lifetimes.enrolment * 1000,
    };
    const host: HostRecord = {
      id,
      tenant: settings.tenant,
      principal,
      defaults,
      created: now,
      updated: now,
      ...(name === undefined ? {} : { name, named: true }),
      ...(key === undefined
        ? { status: "enrolling", enrolment }
        : { status: "active", key: key.key, thumbprint: key.thumbprint }),
    };
    await context.store.change(async (draft) => {
      const other = key === undefined ? undefined : await hostWithKey(draft, key.thumbprint);
      if (other !== undefined) leave("key_in_use", "another host has this key, or had it");
      const own = (await everyRecord(draft.hosts, { principal })).filter(isLasting(now));
      if (own.length >= settings.bounds.hostsPerUser) {
        const message = `the user has ${own.length} hosts, as many as may; revoke one first`;
        leave("limit_exceeded", message);
      }
      await draft.put("hosts", host);
      draft.note(registryEvent("host.created", now, { record: id, principal, operator }));
    });
    return { host, ...(key === undefined ? { enrolmentToken } : {}) };
  });
}

/** Returns whether a host counts: one whose enrolment token has expired gives no key any more. */
function isLasting(now: number): (host: HostRecord) => boolean {
  return ({ status, enrolment }) =>
    status !== "revoked" && (status !== "enrolling" || (enrolment?.expires ?? 0) > now);
}

function defaultsFor(
  given: readonly string[] | undefined,
  { settings, terms }: RegistryContext,
): readonly string[] {
  if (given === undefined) return settings.defaults;
  // A user cannot make a default of what the operator has not made one.
  const strange = given.filter((name) => !settings.defaults.includes(name));
  if (strange.length === 0) return [...new Set(given)];
  const [first = ""] = strange;
  const hint = meant(first.slice(0, 64), settings.defaults);
  const what = terms?.has(first) === true ? "is no default here" : "is no capability here";
  return leave("invalid_capabilities", `${JSON.stringify(first.slice(0, 64))} ${what}${hint}`, {
    capabilities: strange,
  });
}

/** @see Registry.enrollHost */
export async function enrolHost(
  asked: HostEnrolment,
  context: RegistryContext,
): Promise<Outcome<{ readonly host: HostRecord }>> {
  const { token, key, thumbprint, proven, name } = asked;
  const [id = ""] = token.slice(0, 256).split(".");
  return outcomeOf("host.enrolled", { asker: {} }, context, async () => {
    checkTexts({ hostName: name });
    return context.store.change(async (draft) => {
      const now = context.clock();
      const host = await draft.hosts.get(id);
      // Compared as hashes, so that the time reveals nothing about a guess.
      const { enrolment, status, principal } = host ?? {};
      const valid = status === "enrolling" && enrolment?.hash === digestOfText(token);
      if (host === undefined || !valid) {
        return leave(
          "enrolment_token_invalid",
          "the enrolment token is not valid, or has been used",
        );
      }
      if (enrolment.expires <= now) {
        leave(
          "enrolment_token_expired",
          "the enrolment token has expired; its user makes the host anew",
        );
      }
      const other = await hostWithKey(draft, thumbprint);
      if (other?.status === "revoked")
        leave("host_revoked", "the host with this key has been revoked");
      if (other !== undefined) leave("host_already_linked", "another host has this key");
      const { enrolment: _, ...rest } = host;
      const enrolled: HostRecord = {
        ...withKey(rest, { key, thumbprint }, proven),
        ...(name === undefined || rest.named ? {} : { name }),
        status: "active",
        updated: now,
      };
      await draft.put("hosts", enrolled);
      draft.note(registryEvent("host.enrolled", now, { record: id, principal }));
      return { host: enrolled };
    });
  });
}

/**
 * A host that a user takes on. If the user has enrolled a host under the same key, which had not been proven, this is
 * that host: its name and its defaults count, and its own record ends.
 */
export async function asEnrolled(
  draft: RegistryDraft,
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
    draft.note(registryEvent("host.merged", now, { record: other.id, principal }));
  }
  return known;
}

/** A host that a user has made, and that was enrolled under a key without proving it. */
async function enrolledUnder(
  draft: RegistryDraft,
  thumbprint: string,
): Promise<HostRecord | undefined> {
  for (const host of await everyRecord(draft.hosts, { thumbprint })) {
    if (await isEnrolled(draft, host, thumbprint)) return host;
  }
  return undefined;
}

async function isEnrolled(
  draft: RegistryDraft,
  { id, status, principal, unproven }: HostRecord,
  thumbprint: string,
): Promise<boolean> {
  if (unproven?.thumbprint !== thumbprint) return false;
  if (status !== "active" || principal === undefined) return false;
  // One that has agents was not enrolled lately: it has rotated its key, and stays.
  const [agent] = await draft.agents.find({ host: id, limit: 1 });
  return agent === undefined;
}
