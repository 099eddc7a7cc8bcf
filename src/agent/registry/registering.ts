import { answeredBefore, keepAnswer, outcomeOf, type Repeatable, repeatable } from "./answering.js";
import { checkTexts, readAsked, type Wanted } from "./asking.js";
import { forgetAgents } from "./forgetting.js";
import { autonomousPrincipal, newGrant, newId, permittedOf, standingOf } from "./granting.js";
import { COUNTED, defaultsOf, hostFor } from "./hosts.js";
import { activated, registryEvent } from "./keeping.js";
import { hostWithKey, seenAgent } from "./looking.js";
import { keepAnswered } from "./opening.js";
import { leave, type Outcome } from "./outcomes.js";
import type { AgentRecord, HostRecord } from "./records.js";
import type { RegistryContext } from "./registry-context.js";
import { everyRecord, type RegistryDraft } from "./registry-store.js";
import type { AskedAnswer, Registration } from "./requests.js";

/** What a registration rests on that is found out before the change. */
interface Facts {
  readonly ids: { readonly host: string; readonly agent: string };
  readonly principal: string | undefined;
  readonly permitted: ReadonlySet<string>;
  readonly repeat: Repeatable;
}

/** @see Registry.register */
export async function registerAgent(
  asked: Registration,
  context: RegistryContext,
): Promise<Outcome<AskedAnswer>> {
  const asker = { thumbprint: asked.hostThumbprint };
  const about = { asker, purpose: asked.purpose?.slice(0, 512) };
  return outcomeOf("agent.registered", about, context, async () => {
    const { settings, store } = context;
    checkTexts(asked);
    if (!settings.modes.includes(asked.mode)) {
      leave("unsupported_mode", `this server has no agents that are ${asked.mode}`);
    }
    const { idempotencyKey, ...request } = asked;
    const repeat = repeatable(asked.hostThumbprint, idempotencyKey, request, context);
    // Another registration may come between, and link the host to a user.
    for (;;) {
      const facts = await factsOf(asked, repeat, context);
      const answer = await store.change((draft) => register(draft, asked, facts, context));
      if (answer !== undefined) return answer;
    }
  });
}

async function factsOf(
  asked: Registration,
  repeat: Repeatable,
  context: RegistryContext,
): Promise<Facts> {
  const host = await context.store.read((view) => hostWithKey(view, asked.hostThumbprint));
  const ids = { host: host?.id ?? newId("host", context), agent: newId("agent", context) };
  const alone = asked.mode === "autonomous" ? autonomousPrincipal(ids.host) : undefined;
  const principal = host?.principal ?? alone;
  const wanted = wantedOf(asked, host?.defaults ?? context.settings.defaults, context);
  const terms = wanted.map(({ term }) => term);
  const permitted = await permittedOf(principal, ids.agent, terms, context);
  return { ids, principal, permitted, repeat };
}

/** What is asked for, or the host's defaults, of which those count that are still there. */
function wantedOf(
  { capabilities = [] }: Registration,
  defaults: readonly string[],
  context: RegistryContext,
): readonly Wanted[] {
  if (capabilities.length > 0) return readAsked(capabilities, context);
  return readAsked(
    defaultsOf({ defaults }, context).map((name) => ({ name })),
    context,
  );
}

async function register(
  draft: RegistryDraft,
  asked: Registration,
  facts: Facts,
  context: RegistryContext,
): Promise<AskedAnswer | undefined> {
  const alone = asked.mode === "autonomous";
  const seen = await hostWithKey(draft, asked.hostThumbprint);
  // First of all: what is read after this is not older, and whatever else happens to the host and its agents at
  // the same time is a conflict.
  if (seen !== undefined) await draft.put("hosts", seen);
  const before = await answeredBefore(draft, facts.repeat, context);
  if (before !== undefined) return before;
  const host = await hostFor(draft, seen, asked, { id: facts.ids.host, alone }, context);
  if (alone && host.principal !== undefined) {
    leave("unsupported_mode", "the host is linked to a user: its agents act for that user");
  }
  if (host.id !== facts.ids.host) return undefined;
  const principal = host.principal ?? (alone ? autonomousPrincipal(host.id) : undefined);
  if (principal !== facts.principal) return undefined;
  await draft.put("hosts", host);
  const known = await agentWithKey(draft, host, asked, context);
  const agent = known ?? newAgent(asked, host, facts.ids.agent, context);
  const waiting =
    known === undefined ? undefined : await waitingAnswer(draft, host, known, context);
  const answer = waiting ?? (await grantAll(draft, asked, host, agent, facts, context));
  await keepAnswer(draft, facts.repeat, answer, context);
  return answer;
}

/** An agent that is pending and asks again gets the approval that it waits for. */
async function waitingAnswer(
  draft: RegistryDraft,
  host: HostRecord,
  agent: AgentRecord,
  { approvals, clock }: RegistryContext,
): Promise<AskedAnswer | undefined> {
  const waiting = { agent: agent.id, state: "pending" } as const;
  for (const one of await draft.approvals.find(waiting)) {
    if (one.expires <= clock()) await approvals.expireIn(draft, one);
  }
  const [open] = await draft.approvals.find({ ...waiting, openAt: clock(), limit: 1 });
  if (open === undefined) return undefined;
  const grants = await draft.grants.find({ agent: agent.id });
  return { host, agent, grants, ...(await approvals.reopened(draft, open)) };
}

async function grantAll(
  draft: RegistryDraft,
  asked: Registration,
  host: HostRecord,
  given: AgentRecord,
  { permitted }: Facts,
  context: RegistryContext,
): Promise<AskedAnswer> {
  const now = context.clock();
  const { purpose } = asked;
  const wanted = wantedOf(asked, host.defaults, context);
  const defaults = defaultsOf(host, context);
  const granting = { host, agent: given, defaults, permitted, ended: new Set<string>() };
  const made = wanted.map((one) =>
    newGrant(one, given, standingOf(one.term, granting), purpose, context),
  );
  // An agent that no user has taken on waits, even if it asks for nothing.
  const unlinked = asked.mode === "delegated" && host.principal === undefined;
  const needsApproval =
    unlinked || host.status !== "active" || made.some(({ status }) => status === "pending");
  const agent: AgentRecord = needsApproval ? given : activated(given, host, now, context);
  const about = { record: agent.id, agent: agent.id, principal: host.principal, purpose };
  const event = registryEvent("agent.registered", now, about);
  const answer = { host, agent, grants: made };
  return keepAnswered(draft, answer, needsApproval ? asked : undefined, event, context);
}

/** The host's pending agent that has the key; `undefined` where the key is free. */
async function agentWithKey(
  draft: RegistryDraft,
  host: HostRecord,
  { agentThumbprint, mode }: Registration,
  context: RegistryContext,
): Promise<AgentRecord | undefined> {
  const kept = await everyRecord(draft.agents, { host: host.id });
  await forgetAgents(draft, kept);
  const agents = kept.map((agent) => seenAgent(agent, context));
  const same = agents.find(
    ({ status, thumbprint }) => status !== "revoked" && thumbprint === agentThumbprint,
  );
  if (same?.status === "pending" && same.mode === mode) return same;
  if (same !== undefined) leave("agent_exists", "an agent of this host has this key already");
  const since = context.clock() - COUNTED;
  const counted = agents.filter(
    ({ status, created }) => !ENDED.includes(status) || created > since,
  );
  if (counted.length < context.settings.bounds.agentsPerHost) return undefined;
  return leave(
    "limit_exceeded",
    `the host has ${counted.length} agents that have not ended or are not an hour old, as many as it may`,
  );
}

const ENDED: readonly string[] = ["revoked", "rejected", "claimed"];

function newAgent(
  { agentKey: key, agentThumbprint: thumbprint, name, mode }: Registration,
  host: HostRecord,
  id: string,
  { settings, clock }: RegistryContext,
): AgentRecord {
  const now = clock();
  return {
    ...{
      id,
      host: host.id,
      tenant: settings.tenant,
      name,
      mode,
      status: "pending",
      key,
      thumbprint,
    },
    ...{ created: now, updated: now },
  };
}
