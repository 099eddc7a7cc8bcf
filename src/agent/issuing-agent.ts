import type { Json } from "../bytes/json.js";
import type { HopInit } from "../caveats/hop.js";
import type { Issuer } from "../issuer/issuer.js";
import type { RevocationEntry } from "../revocation/list.js";
import { type Admission, admit } from "./admission.js";
import { compileArgumentChecks } from "./arguments.js";
import type { Caller } from "./caller.js";
import { readCapabilityRequest } from "./capability-request.js";
import { assertMembers } from "./definition.js";
import {
  type Clearance,
  Gate,
  type GateContext,
  type Mode,
  type Refusal,
  type SkillInvocation,
  type UndeclaredAmbient,
} from "./gate.js";
import { expandGrants, type KnownGrant } from "./grant.js";
import { type GrantedCapability, issueOffers } from "./issuance.js";
import type { AuthorityKind, Ledger } from "./ledger.js";
import {
  type AttenuationOutcome,
  attenuatePresented,
  type Identification,
  type Introspection,
  identifyPresented,
  introspect,
  revocationOfPresented,
} from "./maintenance.js";
import { offersFor } from "./offer.js";
import type { Policy } from "./policy.js";
import type { PresentedCapability } from "./presented.js";
import { type Observation, Recorder } from "./recorder.js";
import type { AgentDenials, RefusedGrant, RequestDenial, RequestRefusal } from "./refusal.js";
import type { ResourceSource } from "./resources/resource.js";
import { checkSkills, type Skill } from "./skill.js";

export interface IssuingAgentOptions {
  /** Its grants are the agent's: each has a description, and operations that skills have. */
  readonly issuer: Issuer;
  /** Where revocations go: the store or list that the issuer looks them up in. */
  readonly revocations: { add(entry: RevocationEntry): void };
  readonly skills: readonly Skill[];
  readonly policy: Policy;
  /** Absent for an agent without resources. */
  readonly resources?: ResourceSource;
  readonly ledger: Ledger;
  /** Whether callers need capabilities; `require` unless given. */
  readonly mode?: Mode;
  /**
   * In the modes `advertise` and `prefer`, whether a call that presents no capability must declare
   * that it uses ambient authority: if `refused`, it must; `accepted` unless given.
   */
  readonly undeclaredAmbient?: UndeclaredAmbient;
  /** The name this agent goes by in `audience`; the issuer's unless given. */
  readonly audience?: string;
  /** Seconds that a capability lives if a request does not say; 15 minutes unless given. */
  readonly lifetime?: number;
  /** How many resources one capability may name, 256 at most and unless given. */
  readonly maxHandles?: number;
  /** Names of arguments whose values go into the ledger; none unless given. */
  readonly recordValues?: readonly string[];
  /** Told of every decision, for metrics. */
  readonly observe?: (observation: Observation) => void;
  /** Milliseconds since 1970; `Date.now` unless given. */
  readonly clock?: () => number;
}

type SettledOptions = IssuingAgentOptions &
  Required<Pick<IssuingAgentOptions, "lifetime" | "maxHandles">>;

/** What came of a request for capabilities. */
export type RequestOutcome =
  | {
      readonly ok: true;
      readonly capabilities: readonly GrantedCapability[];
      /** Grants under which nothing was issued, though others gave something. */
      readonly refused: readonly RefusedGrant[];
      /** Why there are no capabilities, where the query matched nothing. */
      readonly reason?: string;
    }
  | RequestRefusal;

/** What came of a call. */
export type InvocationOutcome =
  | {
      readonly ok: true;
      readonly result: Json;
      readonly authority: AuthorityKind;
      /** The capability that allowed it; absent where authority is ambient. */
      readonly capability?: string;
      /** Whether ambient authority was declared; absent where authority is not ambient. */
      readonly declared?: boolean;
    }
  | { readonly ok: false; readonly denials: AgentDenials };

/** What came of revoking a capability. */
export type RevocationOutcome =
  | {
      readonly ok: true;
      readonly capability: string;
      readonly revocationId: string;
      /** Why there was nothing to do. */
      readonly needless?: "revoked" | "expired";
    }
  | { readonly ok: false; readonly denials: AgentDenials };

/**
 * What an issuing agent does, whatever protocol it speaks: grants capabilities, runs skills for those
 * who have them, and writes down both. Made by {@link createIssuingAgent}.
 */
export class IssuingAgent {
  readonly grants: ReadonlyMap<string, KnownGrant>;
  readonly skills: ReadonlyMap<string, Skill>;
  readonly mode: Mode;
  readonly undeclaredAmbient: UndeclaredAmbient;
  readonly issuer: Issuer;
  readonly #options: SettledOptions;
  readonly #gate: Gate;
  readonly #context: GateContext;
  readonly #recorder: Recorder;
  readonly #clock: () => number;

  /** @internal */
  constructor(options: SettledOptions, context: GateContext) {
    this.#options = options;
    this.#context = context;
    this.grants = context.grants;
    this.skills = context.skills;
    this.mode = context.mode;
    this.undeclaredAmbient = context.undeclaredAmbient;
    this.issuer = options.issuer;
    this.#gate = new Gate(context);
    this.#clock = options.clock ?? Date.now;
    this.#recorder = new Recorder({
      ledger: options.ledger,
      clock: this.#clock,
      values: options.recordValues ?? [],
      isAuthentic: (text) => options.issuer.isAuthentic(text),
      observe: options.observe ?? (() => {}),
    });
  }

  /**
   * Grants capabilities: what grants, request and policy have in common.
   *
   * @param params - As the caller sent them.
   * @throws StorageError if the issuance could not be recorded; then nothing was issued.
   */
  async request(caller: Caller, params: Json): Promise<RequestOutcome> {
    const elapsed = this.#recorder.start();
    const now = this.#clock();
    const reading = readCapabilityRequest(params, now);
    const refuse = (denial: RequestDenial, purpose?: string): RequestOutcome => {
      this.#recorder.notIssued(caller, denial.code, purpose, elapsed());
      return { ok: false, denial };
    };
    if (!reading.ok) return refuse(reading.denial);
    const { request } = reading;
    const { purpose } = request.restrictions;
    const offers = await offersFor(request, caller.principal, {
      ...this.#context,
      skills: [...this.skills.values()],
    });
    if (!offers.ok) return refuse(offers.denial, purpose);
    const issuance = issueOffers(offers.offers, request, caller, {
      issuer: this.issuer,
      lifetime: this.#options.lifetime,
      maxLifetime: this.issuer.maxLifetime,
      maxHandles: this.#options.maxHandles,
      // Finding resources may have taken a while.
      now: this.#clock(),
    });
    if (!issuance.ok) return refuse(issuance.denial, purpose);
    const { granted, kept } = issuance;
    if (granted.length === 0) this.#recorder.notIssued(caller, "nothing_found", purpose, elapsed());
    else this.#recorder.issued(caller, granted, kept, purpose, elapsed());
    const { refused, reason } = offers;
    return {
      ok: true,
      capabilities: granted,
      refused,
      ...(reason === undefined ? {} : { reason }),
    };
  }

  /** Leave to run a skill, or every reason why not. Either is recorded; nothing has run. */
  async clear(caller: Caller, invocation: SkillInvocation): Promise<Clearance | Refusal> {
    const elapsed = this.#recorder.start();
    const answer = await this.#gate.clear(caller, invocation);
    this.#recorder.invoked(caller, invocation, answer, elapsed());
    return answer;
  }

  /**
   * Runs a skill that has been cleared.
   *
   * @throws What the skill throws.
   */
  run(clearance: Clearance, caller: Caller, signal: AbortSignal): Promise<Json> {
    const { skill, resources, principal, arguments: given } = clearance;
    return skill.run({ arguments: given, resources, caller, principal, signal });
  }

  /**
   * Runs a skill, if every check allows it: {@link IssuingAgent.clear}, then {@link IssuingAgent.run}.
   *
   * @param cleared - Called before the skill runs.
   * @throws What the skill throws; the signal's reason if it is aborted before the skill runs.
   */
  async invoke(
    caller: Caller,
    invocation: SkillInvocation,
    signal: AbortSignal = NEVER,
    cleared: (clearance: Clearance) => void = () => {},
  ): Promise<InvocationOutcome> {
    signal.throwIfAborted();
    const answer = await this.clear(caller, invocation);
    // Nobody waits for it any more, and it must not happen unseen.
    signal.throwIfAborted();
    if (!answer.allowed) return { ok: false, denials: answer.denials };
    cleared(answer);
    const result = await this.run(answer, caller, signal);
    const { authority, capability, declared } = answer;
    const id = capability === undefined ? {} : { capability: capability.id };
    return { ok: true, result, authority, ...id, ...(declared === undefined ? {} : { declared }) };
  }

  /**
   * Whether a caller may come in at all with what it presents: before a task is started, and before
   * one is looked at. Allows no skill by itself.
   *
   * @param declared - Whether the caller declares that it uses ambient authority.
   */
  async admit(
    caller: Caller,
    presented: readonly PresentedCapability[],
    declared = false,
  ): Promise<Admission | Refusal> {
    const elapsed = this.#recorder.start();
    const answer = await admit(caller, presented, declared, this.#context);
    if (!answer.allowed) this.#recorder.refused("invocation", caller, answer.denials, elapsed());
    return answer;
  }

  /**
   * Whose token a presented capability is: the id in its identifier, once its signatures hold. It may
   * have expired or be revoked.
   */
  identify(caller: Caller, presented: PresentedCapability): Identification {
    return identifyPresented(caller, presented, this.#context);
  }

  /** Narrows a capability for a caller that can not do so itself, by the same code as offline. */
  attenuate(caller: Caller, presented: PresentedCapability, hop: HopInit): AttenuationOutcome {
    const outcome = attenuatePresented(caller, presented, hop, this.#context);
    if ("denials" in outcome) this.#recorder.refused("issuance", caller, outcome.denials);
    return outcome;
  }

  /**
   * Revokes a presented capability, with all that descends from it.
   *
   * @throws StorageError if it could not be written.
   */
  revoke(caller: Caller, presented: PresentedCapability, reason?: string): RevocationOutcome {
    const found = revocationOfPresented(caller, presented, reason, this.#context);
    if (!found.ok) {
      this.#recorder.refused("revocation", caller, found.denials);
      return found;
    }
    const { entry, capability, needless } = found;
    if (needless !== undefined) return { ok: true, capability, revocationId: entry.id, needless };
    this.#options.revocations.add(entry);
    this.#recorder.revoked(caller, capability, entry.id, reason);
    return { ok: true, capability, revocationId: entry.id };
  }

  /** What a presented capability is good for now, for its holder. */
  introspect(caller: Caller, presented: PresentedCapability): Introspection {
    return introspect(caller, presented, this.#context);
  }
}

const OPTIONS: { readonly [Name in keyof IssuingAgentOptions]-?: true } = {
  issuer: true,
  revocations: true,
  skills: true,
  policy: true,
  resources: true,
  ledger: true,
  mode: true,
  undeclaredAmbient: true,
  audience: true,
  lifetime: true,
  maxHandles: true,
  recordValues: true,
  observe: true,
  clock: true,
};
const DEFAULT_LIFETIME = 15 * 60;
const MAX_HANDLES = 256;
const NEVER: AbortSignal = new AbortController().signal;

/**
 * An issuing agent.
 *
 * @throws TypeError naming the option that is wrong, such as `grants[1].operations[0]`.
 *
 * @example
 * ```ts
 * import { mkdtempSync } from "node:fs";
 * import { tmpdir } from "node:os";
 * import { join } from "node:path";
 * import { createIssuingAgent, PolicyTable } from "proviso/agent";
 * import { createIssuer, createKeyring, RevocationList } from "proviso/issuer";
 * import { openLedger } from "proviso/stores";
 *
 * const revocations = new RevocationList();
 * const ledger = await openLedger(join(mkdtempSync(join(tmpdir(), "proviso-")), "ledger.db"));
 * const agent = await createIssuingAgent({
 *   issuer: createIssuer({
 *     name: "clock-agent",
 *     keys: createKeyring(),
 *     revocations,
 *     grants: [{ id: "clock:read", description: "Tell the time", operations: ["tell"] }],
 *   }),
 *   revocations,
 *   ledger,
 *   policy: new PolicyTable({
 *     rules: [{ principal: "alice", grant: "clock:read", operations: ["tell"] }],
 *   }),
 *   skills: [
 *     {
 *       id: "tell_time",
 *       name: "Tell the time",
 *       description: "The year of the agent's clock",
 *       operation: "tell",
 *       reach: "none",
 *       input: { type: "object", additionalProperties: false },
 *       run: async () => ({ year: 2026 }),
 *     },
 *   ],
 * });
 * const alice = { principal: "alice", invoker: "assistant" };
 *
 * const bare = { skill: "tell_time", arguments: {}, capabilities: [] };
 * const refused = await agent.invoke(alice, bare);
 * refused.ok ? "" : refused.denials[0].code; // => "capability_missing"
 *
 * const request = await agent.request(alice, { grants: ["clock:read"], purpose: "set a watch" });
 * const capabilities = request.ok ? request.capabilities : [];
 * const outcome = await agent.invoke(alice, { ...bare, capabilities });
 * outcome.ok && outcome.result; // => { year: 2026 }
 * ledger.close();
 * ```
 */
export async function createIssuingAgent(options: IssuingAgentOptions): Promise<IssuingAgent> {
  assertMembers(options, Object.keys(OPTIONS), "options");
  const { issuer, mode = "require" } = options;
  const lifetime = options.lifetime ?? Math.min(DEFAULT_LIFETIME, issuer.maxLifetime);
  const { undeclaredAmbient = mode === "require" ? "refused" : "accepted" } = options;
  if (!["advertise", "prefer", "require"].includes(mode)) {
    throw new TypeError(`mode: must be "advertise", "prefer" or "require"`);
  }
  if (!["accepted", "refused"].includes(undeclaredAmbient)) {
    throw new TypeError(`undeclaredAmbient: must be "accepted" or "refused"`);
  }
  if (mode === "require" && undeclaredAmbient === "accepted") {
    throw new TypeError(
      'undeclaredAmbient: cannot be "accepted", since mode "require" accepts no ambient authority',
    );
  }
  if (!Number.isSafeInteger(lifetime) || lifetime < 1 || lifetime > issuer.maxLifetime) {
    throw new TypeError(`lifetime: must be 1 to ${issuer.maxLifetime} whole seconds`);
  }
  const maxHandles = options.maxHandles ?? MAX_HANDLES;
  if (!Number.isSafeInteger(maxHandles) || maxHandles < 1 || maxHandles > MAX_HANDLES) {
    throw new TypeError(`maxHandles: must be 1 to ${MAX_HANDLES}`);
  }
  if (issuer.grants === undefined) {
    throw new TypeError("issuer: must know its grants: createIssuer({ grants: […] })");
  }
  const grants = expandGrants([...issuer.grants.values()], options.skills);
  const skills = checkSkills(options.skills);
  return new IssuingAgent(
    { ...options, lifetime, maxHandles },
    {
      issuer,
      mode,
      undeclaredAmbient,
      audience: options.audience ?? issuer.name,
      grants: new Map(grants.map((grant) => [grant.id, grant])),
      skills,
      checks: await compileArgumentChecks(options.skills),
      policy: options.policy,
      resources: options.resources,
      ledger: options.ledger,
    },
  );
}
