// Creation of hosts by users, and the enrolment by which such a host presents its key.

import { encodeBase64url } from "../../bytes/base64.js";
import { meant } from "../../checks/members.js";
import { digestOfText } from "../../macaroon/hmac.js";
import { outcomeOf } from "./answers.js";
import { newId, type PartiesContext } from "./context.js";
import { partyEvent } from "./events.js";
import { hostGivenKey, hostWithKey } from "./hosts.js";
import type { HostRecord } from "./records.js";
import { type Outcome, throwRefusal } from "./refusals.js";
import { checkTexts, type HostCreation, type HostEnrolment } from "./requests.js";
import { everyRecord } from "./store.js";

/** @see Parties.createHost */
export async function createHost(
  asked: HostCreation,
  context: PartiesContext,
): Promise<Outcome<{ readonly host: HostRecord; readonly enrolmentToken?: string }>> {
  const { principal, name, key, operator } = asked;
  return outcomeOf("host.created", { principal, operator }, context, async () => {
    checkTexts({ hostName: name, loginHint: principal });
    const { settings, clock, random } = context;
    const defaults = newHostDefaults(asked.defaults, context);
    const id = newId("host", context);
    const secret = encodeBase64url(random(32));
    // The id in the token identifies the host. The stored hash of the whole token shows whether a presented token is
    // genuine.
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
      if (other !== undefined) throwRefusal("key_in_use", "another host has this key, or had it");
      const own = (await everyRecord(draft.hosts, { principal })).filter(isCountedAt(now));
      if (own.length >= settings.bounds.hostsPerUser) {
        const message = `the user already has ${own.length} hosts, the maximum; revoke one first`;
        throwRefusal("limit_exceeded", message);
      }
      await draft.put("hosts", host);
      draft.note(partyEvent("host.created", now, { record: id, principal, operator }));
    });
    return { host, ...(key === undefined ? { enrolmentToken } : {}) };
  });
}

/**
 * Returns a test whether a host counts against its user's limit. A host that never enrolled does not count once
 * its token has expired.
 */
function isCountedAt(now: number): (host: HostRecord) => boolean {
  return ({ status, enrolment }) =>
    status !== "revoked" && (status !== "enrolling" || (enrolment?.expires ?? 0) > now);
}

function newHostDefaults(
  given: readonly string[] | undefined,
  { settings, terms }: PartiesContext,
): readonly string[] {
  if (given === undefined) return settings.defaults;
  // A user can only choose among the operator's defaults.
  const strange = given.filter((name) => !settings.defaults.includes(name));
  if (strange.length === 0) return [...new Set(given)];
  const [first = ""] = strange;
  const hint = meant(first.slice(0, 64), settings.defaults);
  const what = terms?.has(first) === true ? "is no default here" : "is no capability here";
  return throwRefusal(
    "invalid_capabilities",
    `${JSON.stringify(first.slice(0, 64))} ${what}${hint}`,
    {
      capabilities: strange,
    },
  );
}

/** @see Parties.enrollHost */
export async function enrolHost(
  asked: HostEnrolment,
  context: PartiesContext,
): Promise<Outcome<{ readonly host: HostRecord }>> {
  const { token, key, thumbprint, proven, name } = asked;
  const [id = ""] = token.slice(0, 256).split(".");
  return outcomeOf("host.enrolled", { asker: {} }, context, async () => {
    checkTexts({ hostName: name });
    return context.store.change(async (draft) => {
      const now = context.clock();
      const host = await draft.hosts.get(id);
      // Compare hashes, so that timing reveals nothing about a guess.
      const { enrolment, status, principal } = host ?? {};
      const valid = status === "enrolling" && enrolment?.hash === digestOfText(token);
      if (host === undefined || !valid) {
        return throwRefusal(
          "enrolment_token_invalid",
          "the enrolment token is not valid, or has been used",
        );
      }
      if (enrolment.expires <= now) {
        throwRefusal(
          "enrolment_token_expired",
          "the enrolment token has expired; the user must create the host again",
        );
      }
      const other = await hostWithKey(draft, thumbprint);
      if (other?.status === "revoked")
        throwRefusal("host_revoked", "the host with this key has been revoked");
      if (other !== undefined) throwRefusal("host_already_linked", "another host has this key");
      const { enrolment: _, ...rest } = host;
      const enrolled: HostRecord = {
        ...hostGivenKey(rest, { key, thumbprint }, proven),
        ...(name === undefined || rest.named ? {} : { name }),
        status: "active",
        updated: now,
      };
      await draft.put("hosts", enrolled);
      draft.note(partyEvent("host.enrolled", now, { record: id, principal }));
      return { host: enrolled };
    });
  });
}
