import { randomBytes } from "../../bytes/random.js";
import { assertArray, assertString } from "../../checks/kinds.js";
import { assertMembers } from "../../checks/members.js";
import { plainCopy, plainObject } from "../../checks/plain.js";
import type { GrantApproval } from "../../issuer/grant.js";
import type { RevocationSink, RevocationSource } from "../../revocation/source.js";
import type { Policy } from "../policy.js";
import { settlePendingApprovals } from "./agent-approvals.js";
import { currentAgent } from "./agents.js";
import { agentApprovalEffects } from "./approval-effects.js";
import { Approvals } from "./approvals.js";
import { claimAgent } from "./claims.js";
import type { PartiesContext } from "./context.js";
import { digestOfJson } from "./digests.js";
import type { Actor } from "./events.js";
import { requestGrants } from "./grant-requests.js";
import { activeGrantsOf, currentGrant, isGrantRevoked, type ListedGrant } from "./grants.js";
import { createHost, enrolHost } from "./host-enrolment.js";
import { currentDefaults, hostsGivenKey, hostWithKey } from "./hosts.js";
import { agentProved, hostProved, rotateAgentKey, rotateHostKey } from "./keys.js";
import { LastUses } from "./last-uses.js";
import { reactivateAgent } from "./reactivation.js";
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
  /** The store or list in which revocations are written and looked up. The issuer must use the same store or list. */
  readonly revocations: RevocationSink & RevocationSource;
  /** Returns the current time in milliseconds since 1970; `Date.now` unless given. */
  readonly clock?: (() => number) | undefined;
  readonly random?: ((length: number) => Uint8Array) | undefined;
  /** The capabilities that can be requested; none unless given. All other methods work without capabilities. */
  readonly terms?: CapabilityTerms | undefined;
  /**
   * Grants of the issuing agent that do not correspond to Agent-Auth capabilities, but need approvals. When an
   * approval is decided, the current rule of each of its grants is checked.
   */
  readonly grants?: readonly ApprovedByRule[] | undefined;
  /** The policy, checked before a grant becomes active. Without it, the policy is checked only at each call. */
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
 * Manages hosts, their agents and each agent's grants. Decides what needs no approval, whose approval a grant
 * needs, and what ends a grant. Works without skills and without a policy. Refusals are returned as values. The
 * ledger records the refusals of linked hosts, users and operators.
 *
 * Every method throws a StorageError if the store cannot be read or written; then nothing has changed.
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

  /** True if these parties have the same approval settings for the grant, or if neither they nor the grant has any. */
  approvesBy({ id, approval }: ApprovedByRule): boolean {
    const rule = this.#rules.get(id);
    if (rule === undefined || approval === undefined) return rule === approval;
    return digestOfJson(rule) === digestOfJson(approval);
  }

  /** True if an active grant has been revoked: its capability, or all capabilities of its principal. */
  isRevoked(grant: AgentGrant): boolean {
    return isGrantRevoked(grant, this.#context);
  }

  host(id: string): Promise<HostRecord | undefined> {
    return this.#context.store.read((view) => view.hosts.get(id));
  }

  /**
   * Returns the host that has proven this key. If there is none, returns the last host that was revoked with
   * this key.
   */
  hostByKey(thumbprint: string): Promise<HostRecord | undefined> {
    return this.#context.store.read((view) => hostWithKey(view, thumbprint));
  }

  /** Returns the hosts that were given this key and have not proven it. */
  hostsGiven(thumbprint: string): Promise<readonly HostRecord[]> {
    return this.#context.store.read((view) => hostsGivenKey(view, thumbprint));
  }

  /** Returns the capabilities that a host's agents get without an approval. */
  defaultsOf(host: HostRecord): readonly string[] {
    return currentDefaults(host, this.#context);
  }

  /** Returns the hosts of a user. */
  hostsOf(principal: string): Promise<readonly HostRecord[]> {
    return this.#context.store.read((view) => view.hosts.find({ principal }));
  }

  /** Returns an agent with its current status: `expired` after its expiry, `revoked` after its whole lifetime. */
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
   * Returns an agent's active, pending, denied and revoked grants in their current state, in the order of the
   * requests.
   */
  async grantsOf(agent: string): Promise<readonly AgentGrant[]> {
    await settlePendingApprovals(agent, this.#context);
    const found = await this.#context.store.read((view) => everyRecord(view.grants, { agent }));
    return found.map((grant) => currentGrant(grant, this.#context));
  }

  /** Returns the grants of all agents of a host in their current state, in the order of the requests. */
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
   * Creates a host. If `key` is given, the host is active; the calling code must have verified a signature with
   * the key. Without a key, the answer has an enrolment token, which is returned only once.
   *
   * @param asked - `operator` is `true` if an operator of this installation creates the host in the user's
   *   place.
   */
  async createHost(
    asked: HostCreation,
  ): Promise<Outcome<{ readonly host: HostRecord; readonly enrolmentToken?: string }>> {
    const own = plainAsked(asked);
    assertString(own.principal, "asked.principal");
    return createHost(own, this.#context);
  }

  /** Sets the key of a host, which proves itself by its enrolment token. */
  async enrollHost(asked: HostEnrolment): Promise<Outcome<{ readonly host: HostRecord }>> {
    return enrolHost(plainAsked(asked), this.#context);
  }

  /**
   * Registers an agent, and its host if the host is new. A delegated agent of a linked host gets the requested
   * defaults without an approval. If the agent requests more, or if its host is not linked, the agent is
   * pending until an approval. An autonomous agent gets only defaults.
   */
  async register(asked: Registration): Promise<Outcome<AskedAnswer>> {
    return registerAgent(plainAsked(asked), this.#context);
  }

  /**
   * Requests more grants for an active agent. A delegated agent gets them after an approval. An autonomous
   * agent gets only its host's defaults, without an approval. Existing grants do not change.
   */
  async requestGrants(agent: string, asked: GrantRequest): Promise<Outcome<AskedAnswer>> {
    assertString(agent, "agent");
    return requestGrants(agent, plainAsked(asked), this.#context);
  }

  /**
   * Reactivates an expired agent. The agent gets only the host's defaults, without those that people have
   * revoked or denied to the agent. An active agent stays unchanged.
   */
  reactivate(agent: string): Promise<Outcome<AskedAnswer>> {
    return reactivateAgent(agent, this.#context);
  }

  /**
   * Asks a user to take over an autonomous agent. The agent ends when the user approves. Only the agent and its host
   * may ask.
   */
  async claim(asked: Claim): Promise<Outcome<AskedAnswer>> {
    return claimAgent(plainAsked(asked), this.#context);
  }

  /** Replaces an agent's key; the old key no longer works. */
  async rotateAgentKey(
    agent: string,
    key: NewKey,
  ): Promise<Outcome<{ readonly agent: AgentRecord }>> {
    assertString(agent, "agent");
    return rotateAgentKey(agent, plainAsked(key, "key"), this.#context);
  }

  /** Records that an agent has signed with its new key. */
  agentProved(agent: string, thumbprint: string): Promise<void> {
    return agentProved(agent, thumbprint, this.#context);
  }

  /** Replaces a host's key; the old key no longer works. */
  async rotateHostKey(host: string, key: NewKey): Promise<Outcome<{ readonly host: HostRecord }>> {
    assertString(host, "host");
    return rotateHostKey(host, plainAsked(key, "key"), this.#context);
  }

  /**
   * Records that a key has signed a JWT that names this host. If the host was given the key and has not proven it yet,
   * the key is proven from now on, unless another unrevoked host has proven it.
   *
   * @returns The host, if the key is its key; otherwise `undefined`.
   */
  hostProved(host: string, thumbprint: string): Promise<HostRecord | undefined> {
    return hostProved(host, thumbprint, this.#context);
  }

  /** Revokes an agent with all its grants and their tokens. Repeating the call changes nothing. */
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
   * Revokes everything of a user, for example when the user is deleted. This includes every token issued for
   * the user up to now over any protocol, pending approvals, and the user's hosts with all agents and grants.
   * Later grants are not affected, so first make sure that the user can no longer sign in.
   *
   * @param by - The user, or an operator.
   * @throws StorageError if the store fails. Another call continues where this call stopped.
   */
  async revokeUser(principal: string, by: Actor): Promise<RevokedUser> {
    assertString(principal, "principal");
    return revokeUser(principal, plainAsked(by, "by"), this.#context);
  }

  /**
   * Revokes an agent's active and pending grants of the named capabilities.
   * @returns The newly revoked grants, in `grants`.
   */
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

  /** Returns the active grants on behalf of a user, each with its agent and host. */
  activeGrants(principal: string): Promise<readonly ListedGrant[]> {
    return activeGrantsOf(principal, this.#context);
  }

  /** Returns all agents' grants, in the order of the requests. */
  allGrants(page: Page = {}): Promise<readonly AgentGrant[]> {
    return this.#context.store.read(async (view) =>
      (await view.grants.find(page)).map((grant) => currentGrant(grant, this.#context)),
    );
  }

  /**
   * Records a use of an agent, and of a grant if given. A use is written at most once a minute, or once in a tenth of
   * the agents' idle lifetime if that is shorter.
   */
  used(agent: string, grant?: string): Promise<void> {
    return this.#uses.used(agent, grant);
  }

  /**
   * Records a use of a one-time value, such as a JWT's `jti`. Accept the value only if the result is `first`.
   *
   * @throws TypeError if `expires` or `most` is not an integer.
   * @throws StorageError
   */
  useOnce(use: SingleUse): Promise<UseOutcome> {
    return this.#context.store.useOnce(use, this.#context.clock());
  }
}

/**
 * Returns a copy of an argument that must be plain JSON at every level.
 *
 * @throws TypeError naming the value that is not plain data.
 */
function plainAsked<Asked>(asked: Asked, where = "asked"): Asked {
  return plainCopy(plainObject(asked, where), where, "arguments");
}
