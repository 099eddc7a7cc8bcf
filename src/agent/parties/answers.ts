// Answers to requests of hosts and agents: records refusals, and repeats earlier answers.

import { type OpenedApproval, RequestReusedError } from "./approval-requests.js";
import type { PartiesContext } from "./context.js";
import { digestOfJson } from "./digests.js";
import { type EventSubject, partyEvent } from "./events.js";
import { hostWithKey, isUsersHost } from "./hosts.js";
import type { AgentGrant, AgentRecord, HostRecord } from "./records.js";
import { type Outcome, RefusedError, throwRefusal } from "./refusals.js";
import type { AskedAnswer } from "./requests.js";
import type { PartyDraft, PartyView } from "./store.js";

const DAY = 24 * 60 * 60 * 1000;

/** The host or the agent that sends a request; neither is set while the sender is unknown. */
interface Asker {
  readonly agent?: string | undefined;
  readonly host?: string | undefined;
  /** The thumbprint of the host's key. */
  readonly thumbprint?: string | undefined;
}

/**
 * Performs an action. If the action is refused, records and returns the refusal. Refusals of unlinked hosts are
 * not recorded by this function, because anyone can make such hosts and send any number of requests. The server
 * of the protocol records a limited number of them.
 *
 * @param about - The subject of the ledger event. If `asker` is absent, as for a user or an operator, every refusal is
 *   recorded.
 */
export async function outcomeOf<Answer extends object>(
  change: string,
  { asker, ...about }: EventSubject & { readonly asker?: Asker },
  { store, clock }: PartiesContext,
  act: () => Promise<Answer>,
): Promise<Outcome<Answer>> {
  try {
    return { ok: true, ...(await act()) };
  } catch (error) {
    const refusal =
      error instanceof RefusedError
        ? error.refusal
        : error instanceof RequestReusedError
          ? ({ ok: false, code: "request_reused", message: error.message } as const)
          : undefined;
    if (refusal === undefined) throw error;
    const isStranger =
      asker !== undefined && !(await store.read((view) => isUsersAsker(view, asker)));
    if (isStranger) return refusal;
    const event = partyEvent(change, clock(), { ...about, codes: [refusal.code] });
    await store.change(async (draft) => draft.note(event));
    return refusal;
  }
}

/** Returns whether the sender's host is linked to a user. */
async function isUsersAsker(
  view: PartyView,
  { agent, host: id, thumbprint }: Asker,
): Promise<boolean> {
  const place = agent === undefined ? id : (await view.agents.get(agent))?.host;
  const host =
    thumbprint === undefined
      ? await view.hosts.get(place ?? "")
      : await hostWithKey(view, thumbprint);
  return host !== undefined && isUsersHost(host);
}

/** A request that may be sent again under the same idempotency key. */
export interface RepeatableRequest {
  /** A hash of the sender and the idempotency key; absent if the request has no key. */
  readonly id?: string;
  readonly digest: string;
}

/**
 * @param asker - The host's thumbprint or the agent's id. Equal idempotency keys of different senders are independent.
 * @param asked - The request without its idempotency key.
 */
export function repeatableRequest(
  asker: string,
  key: string | undefined,
  asked: object,
  { approvals }: PartiesContext,
): RepeatableRequest {
  const digest = digestOfJson(asked);
  return key === undefined
    ? { digest }
    : { id: approvals.requestId("parties", asker, key), digest };
}

/**
 * Returns the earlier answer to the same request, rebuilt from the current records. Returns `undefined` for a
 * new request.
 *
 * @throws RefusedError if the idempotency key was used for another request.
 */
export async function repeatedAnswer(
  draft: PartyDraft,
  { id, digest }: RepeatableRequest,
  { approvals, clock }: PartiesContext,
): Promise<AskedAnswer | undefined> {
  const known = id === undefined ? undefined : await draft.requests.get(id);
  if (known === undefined || known.expires <= clock()) return undefined;
  if (known.digest !== digest) {
    const message = "the idempotency key was used for another request; choose a new one";
    throwRefusal("request_reused", message, { path: "idempotencyKey" });
  }
  const [hostId = "", agentId = "", approvalId = "", ...grantIds] = known.made;
  const host = await draft.hosts.get(hostId);
  const agent = await draft.agents.get(agentId);
  if (host === undefined || agent === undefined) return undefined;
  const grants: AgentGrant[] = [];
  for (const one of grantIds) {
    const grant = await draft.grants.get(one);
    if (grant !== undefined) grants.push(grant);
  }
  const approval = approvalId === "" ? undefined : await draft.approvals.get(approvalId);
  const opened = approval === undefined ? {} : await approvals.reopened(draft, approval);
  return { host, agent, grants, ...opened };
}

/** Stores the ids from which a repeated answer is rebuilt. */
export async function keepRepeatedAnswer(
  draft: PartyDraft,
  { id, digest }: RepeatableRequest,
  made: {
    readonly host: HostRecord;
    readonly agent: AgentRecord;
    readonly grants: readonly AgentGrant[];
  } & Partial<OpenedApproval>,
  { clock }: PartiesContext,
): Promise<void> {
  if (id === undefined) return;
  const { host, agent, grants, approval } = made;
  const ids = [host.id, agent.id, approval?.id ?? "", ...grants.map((grant) => grant.id)];
  const now = clock();
  await draft.put("requests", { id, digest, made: ids, created: now, expires: now + DAY });
}
