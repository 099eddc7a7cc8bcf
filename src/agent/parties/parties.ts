import { randomBytes } from "../../bytes/random.js";
import { assertArray, assertString } from "../../checks/kinds.js";
import { assertMembers } from "../../checks/members.js";
import { plainCopy, plainObject } from "../../checks/plain.js";
import type { GrantApproval } from "../../issuer/grant.js";
import type { RevocationSink, RevocationSource } from "../../revocation/source.js";
import type { Policy } from "../policy.js";
import { settlePendingApprovals } from "./agent-approvals.js";
import { claimAgent, reactivateAgent, requestGrants } from "./agent-requests.js";
import { currentAgent } from "./agents.js";
import { agentApprovalEffects } from "./approval-effects.js";
import { Approvals } from "./approvals.js";
import type { PartiesContext } from "./context.js";
import { digestOfJson } from "./digests.js";
import type { Actor } from "./events.js";
import { activeGrantsOf, currentGrant, isGrantRevoked, type ListedGrant } from "./grants.js";
import { createHost, enrolHost } from "./host-enrolment.js";
import { currentDefaults, hostsGivenKey, hostWithKey } from "./hosts.js";
import { agentProved, hostProved, rotateAgentKey, rotateHostKey } from "./keys.js";
import { LastUses } from "./last-uses.js";
import type { AgentGrant, AgentRecord, HostRecord } from "./records.js";
import type { Outcome } from "./refusals.js";
import { registerAgent } from "./registration.js";
import type {
  AgentAnswer,
  AskedAnswer,
  Claim,
  GrantRequest,
  HostCreation,
  HostEnrolment,
  NewKey,
  Registration,
} from "./requests.js";
import {
  type RevokedUser,
  revokeAgent,
  revokeGrant,
  revokeGrants,
  revokeHost,
  revokeUser,
} from "./revocations.js";
import { type ApprovedByRule, rulesInForce } from "./rules-in-force.js";
import { type PartySettings, type SettledSettings, settledSettings } from "./settings.js";
import {
  everyRecord,
  type Page,
  type PartyStore,
  RevokingStore,
  type SingleUse,
  type UseOutcome,
} from "./store.js";
import type { CapabilityTerms } from "./terms.js";

export interface PartiesOptions {
  readonly store: PartyStore;
  /** The sink and source of revocations: the store or list in which the issuer looks them up. */
  readonly revocations: RevocationSink & RevocationSource;
  /** Milliseconds since 1970; `Date.now` unless given. */
  readonly clock?: (() => number) | undefined;
  readonly random?: ((length: number) => Uint8Array) | undefined;
  /** The capabilities that can be requested; without it there are none, but everything else works. */
  readonly terms?: CapabilityTerms | undefined;
  /**
   * Grants of an issuing agent that no capability is of, and whose approvals it keeps: the rule of each is in force
   * when it is decided about.
   */
  readonly grants?: readonly ApprovedByRule[] | undefined;
  /** Asked before something becomes active, and again at each call; without it, at each call alone. */
  readonly policy?: Policy | undefined;
  readonly settings?: PartySettings | undefined;
}

const MEMBERS = [
  "store",
  "revocations",
  "clock",
  "random",
  "terms",
  "grants",
  "policy",
  "settings",
];

/**
 * Hosts, their agents, and what each may do: who gets what at once, what needs whose approval, what ends it.
 * Needs no skills and no policy. Refusals are values; the ledger has those of users' hosts, users and operators.
 *
 * Every method throws a StorageError if something cannot be read or written; then nothing has changed.
 */
export class Parties {
  readonly approvals: Approvals;
  readonly terms: CapabilityTerms | undefined;
  readonly settings: SettledSettings;
  readonly #rules: ReadonlyMap<string, GrantApproval | undefined>;
  readonly #context: PartiesContext;
  readonly #uses: LastUses;

  /** @throws TypeError naming the option or setting that is wrong. */
  constructor(options: PartiesOptions) {
    assertMembers(options, MEMBERS, "options");
    const { clock = Date.now, random = randomBytes, terms, policy, settings = {} } = options;
    const { revocations, grants = [] } = options;
    const store = new RevokingStore(options.store, revocations, clock);
    this.terms = terms;
    this.settings = settledSettings(settings, terms);
    const own = [...(terms?.values() ?? [])].map(({ grant: id, approval }) => ({ id, approval }));
    this.#rules = new Map([...own, ...grants].map(({ id, approval }) => [id, approval]));
    const context = { store, clock, random, terms, policy, revocations, settings: this.settings };
    const inForce = rulesInForce({ ...context, rules: this.#rules });
    this.approvals = new Approvals({
      store,
      clock,
      random,
      effects: agentApprovalEffects(context),
      inForce,
    });
    this.#context = { ...context, approvals: this.approvals };
    this.#uses = new LastUses(this.#context);
  }

  /** True if a grant of an issuing agent is approved by the very rule that was given here for it. */
  approvesBy({ id, approval }: ApprovedByRule): boolean {
    const rule = this.#rules.get(id);
    if (rule === undefined || approval === undefined) return rule === approval;
    return digestOfJson(rule) === digestOfJson(approval);
  }

  /** True if an active grant is not any more: its capability was revoked, or all of its principal from before. */
  isRevoked(grant: AgentGrant): boolean {
    return isGrantRevoked(grant, this.#context);
  }

  host(id: string): Promise<HostRecord | undefined> {
    return this.#context.store.read((view) => view.hosts.get(id));
  }

  /** The host that has proven the key; without one, the last host that was revoked with it. */
  hostByKey(thumbprint: string): Promise<HostRecord | undefined> {
    return this.#context.store.read((view) => hostWithKey(view, thumbprint));
  }

  /** Hosts that were given the key and have not proven it. */
  hostsGiven(thumbprint: string): Promise<readonly HostRecord[]> {
    return this.#context.store.read((view) => hostsGivenKey(view, thumbprint));
  }

  /** The capabilities that the agents of a host get without an approval. */
  defaultsOf(host: HostRecord): readonly string[] {
    return currentDefaults(host, this.#context);
  }

  /** The hosts of a user. */
  hostsOf(principal: string): Promise<readonly HostRecord[]> {
    return this.#context.store.read((view) => view.hosts.find({ principal }));
  }

  /** An agent as it is now: expired if its time is over. */
  async agent(id: string): Promise<AgentRecord | undefined> {
    const found = await this.#context.store.read((view) => view.agents.get(id));
    return found === undefined ? undefined : currentAgent(found, this.#context);
  }

  agentsOf(host: string): Promise<readonly AgentRecord[]> {
    return this.#context.store.read(async (view) =>
      (await everyRecord(view.agents, { host })).map((agent) => currentAgent(agent, this.#context)),
    );
  }

  /**
   * Returns an agent's granted, requested and denied capabilities, in the order of the requests, with their
   * current state.
   */
  async grantsOf(agent: string): Promise<readonly AgentGrant[]> {
    await settlePendingApprovals(agent, this.#context);
    const found = await this.#context.store.read((view) => everyRecord(view.grants, { agent }));
    return found.map((grant) => currentGrant(grant, this.#context));
  }

  /** Returns the granted, requested and denied capabilities of a host's agents, in the order of the requests. */
  grantsOfHost(host: string): Promise<readonly AgentGrant[]> {
    return this.#context.store.read(async (view) =>
      (await everyRecord(view.grants, { host })).map((grant) => currentGrant(grant, this.#context)),
    );
  }

  async grant(id: string): Promise<AgentGrant | undefined> {
    const found = await this.#context.store.read((view) => view.grants.get(id));
    return found === undefined ? undefined : currentGrant(found, this.#context);
  }

  /**
   * Makes a host: active with a key, whose signature the caller has verified; else by an enrolment token,
   * shown once.
   *
   * @param asked - `operator` where an operator of this installation makes it in the user's place.
   */
  async createHost(
    asked: HostCreation,
  ): Promise<Outcome<{ readonly host: HostRecord; readonly enrolmentToken?: string }>> {
    const own = plainAsked(asked);
    assertString(own.principal, "asked.principal");
    return createHost(own, this.#context);
  }

  /** Gives a host its key by the enrolment token. */
  async enrollHost(asked: HostEnrolment): Promise<Outcome<{ readonly host: HostRecord }>> {
    return enrolHost(plainAsked(asked), this.#context);
  }

  /**
   * Registers an agent and its new host. An agent of a linked host gets the requested defaults at once; its
   * other requests wait for approval, and so does any other agent.
   */
  async register(asked: Registration): Promise<Outcome<AskedAnswer>> {
    return registerAgent(plainAsked(asked), this.#context);
  }

  /** More for an active agent: defaults at once, everything else by an approval, with other grants untouched. */
  async requestGrants(agent: string, asked: GrantRequest): Promise<Outcome<AskedAnswer>> {
    assertString(agent, "agent");
    return requestGrants(agent, plainAsked(asked), this.#context);
  }

  /**
   * Makes an expired agent active again, with the host's defaults alone, but for those that people have revoked or
   * denied to it. One that is active stays as it is.
   */
  reactivate(agent: string): Promise<Outcome<AskedAnswer>> {
    return reactivateAgent(agent, this.#context);
  }

  /** Asks a user to take over an autonomous agent, which ends. Only it and its host can ask. */
  async claim(asked: Claim): Promise<Outcome<AskedAnswer>> {
    return claimAgent(plainAsked(asked), this.#context);
  }

  /** Gives an agent another key; the one before ends. */
  async rotateAgentKey(
    agent: string,
    key: NewKey,
  ): Promise<Outcome<{ readonly agent: AgentRecord }>> {
    assertString(agent, "agent");
    return rotateAgentKey(agent, plainAsked(key, "key"), this.#context);
  }

  /** Notes that an agent has signed under the key that it was given. */
  agentProved(agent: string, thumbprint: string): Promise<void> {
    return agentProved(agent, thumbprint, this.#context);
  }

  /** Gives a host another key; the one before ends. */
  async rotateHostKey(host: string, key: NewKey): Promise<Outcome<{ readonly host: HostRecord }>> {
    assertString(host, "host");
    return rotateHostKey(host, plainAsked(key, "key"), this.#context);
  }

  /**
   * Notes that a signature under a key has named this host, by an agent of it: if the host was given that key, it is
   * known by it from now on.
   *
   * @returns The host, if the key is its own; `undefined` otherwise.
   */
  hostProved(host: string, thumbprint: string): Promise<HostRecord | undefined> {
    return hostProved(host, thumbprint, this.#context);
  }

  /** Revokes an agent with all its grants and their tokens. A second time, it changes nothing. */
  async revokeAgent(agent: string, by: Actor): Promise<Outcome<AgentAnswer>> {
    assertString(agent, "agent");
    return revokeAgent(agent, plainAsked(by, "by"), this.#context);
  }

  /** Revokes a host with all its agents. */
  async revokeHost(
    host: string,
    by: Actor,
  ): Promise<Outcome<{ readonly host: HostRecord; readonly agentsRevoked: number }>> {
    assertString(host, "host");
    return revokeHost(host, plainAsked(by, "by"), this.#context);
  }

  /**
   * Revokes everything of a user, for example when the user is deleted: every token issued for the user up to
   * now, over any protocol, the pending approvals, and the user's hosts with all agents and grants. Later
   * grants are not affected, so first make sure that the user can no longer sign in.
   *
   * @param by - The user, or an operator.
   * @throws StorageError Then called again, it goes on.
   */
  async revokeUser(principal: string, by: Actor): Promise<RevokedUser> {
    assertString(principal, "principal");
    return revokeUser(principal, plainAsked(by, "by"), this.#context);
  }

  /** Revokes grants and requests by name. @returns `grants`: those that were not revoked before. */
  async revokeGrants(
    agent: string,
    names: readonly string[],
    by: Actor,
  ): Promise<Outcome<AgentAnswer>> {
    assertString(agent, "agent");
    assertArray(names, "names", "names of capabilities");
    return revokeGrants(agent, names, plainAsked(by, "by"), this.#context);
  }

  async revokeGrant(grant: string, by: Actor): Promise<Outcome<{ readonly grant: AgentGrant }>> {
    assertString(grant, "grant");
    return revokeGrant(grant, plainAsked(by, "by"), this.#context);
  }

  /** Returns the active grants on behalf of a user, with agent and host. */
  activeGrants(principal: string): Promise<readonly ListedGrant[]> {
    return activeGrantsOf(principal, this.#context);
  }

  /** Every agent grant, in the order of asking. */
  allGrants(page: Page = {}): Promise<readonly AgentGrant[]> {
    return this.#context.store.read(async (view) =>
      (await view.grants.find(page)).map((grant) => currentGrant(grant, this.#context)),
    );
  }

  /** Notes that an agent has been seen, and has used a grant: written once a minute at most. */
  used(agent: string, grant?: string): Promise<void> {
    return this.#uses.used(agent, grant);
  }

  /**
   * Records a use of a one-time value, such as a JWT's `jti`. The value may be used only if the result is
   * `first`.
   *
   * @throws TypeError if `expires` or `most` is no whole number.
   * @throws StorageError
   */
  useOnce(use: SingleUse): Promise<UseOutcome> {
    return this.#context.store.useOnce(use, this.#context.clock());
  }
}

/**
 * A copy of what a program asks for: plain JSON at every level.
 *
 * @throws TypeError naming the value that is not plain data.
 */
function plainAsked<Asked>(asked: Asked, where = "asked"): Asked {
  return plainCopy(plainObject(asked, where), where, "arguments");
}
