import type { Json } from "../bytes/json.js";
import type { VerifiedCapability } from "../capability/authorize.js";
import type { HopInit } from "../caveats/hop.js";
import { assertOptionalString, assertString } from "../checks/kinds.js";
import type { Issuer } from "../issuer/issuer.js";
import { type Admission, admit } from "./admission.js";
import type { AgentContext } from "./agent-options.js";
import { collectCapabilities } from "./approved-capabilities.js";
import { ownInvocation, skillArguments } from "./arguments.js";
import { assertCaller, assertPresenter, type Caller, type Presenter } from "./caller.js";
import { clearCall, clearOperation } from "./clear-call.js";
import type {
  Clearance,
  Mode,
  OperationInvocation,
  Refusal,
  SkillInvocation,
  UndeclaredAmbient,
} from "./clearance.js";
import { ClearanceLostError, type InvocationOutcome } from "./clearance.js";
import { type Coverage, coverageOf } from "./coverage.js";
import type { KnownGrant } from "./grant.js";
import { executeGrant, type GrantExecution, type GrantToken, grantToken } from "./grant-tokens.js";
import type { RevocationOutcome } from "./maintenance.js";
import {
  type AttenuationOutcome,
  attenuatePresented,
  type Introspection,
  introspect,
  revokePresented,
} from "./maintenance.js";
import type { Parties } from "./parties/parties.js";
import type { AgentGrant } from "./parties/records.js";
import { type AuthenticatedCapability, authenticateAll, type Presented } from "./presented.js";
import { Recorder } from "./recorder.js";
import type { RequestOutcome } from "./requested-capabilities.js";
import { requestCapabilities } from "./requested-capabilities.js";
import type { Operation, Skill } from "./skill.js";
import { resultAsJson } from "./skill-result.js";

/** Issues capabilities, runs skills and records both, for every protocol. Made by {@link createIssuingAgent}. */
export class IssuingAgent {
  readonly grants: ReadonlyMap<string, KnownGrant>;
  readonly skills: ReadonlyMap<string, Skill>;
  readonly mode: Mode;
  readonly undeclaredAmbient: UndeclaredAmbient;
  readonly issuer: Issuer;
  /** The name by which the `audience` of a hop refers to this agent. */
  readonly audience: string;
  /** Hosts, agents and approvals, if the agent has them. */
  readonly parties: Parties | undefined;
  readonly #context: AgentContext;
  readonly #recorder: Recorder;
  /** Clearances that are neither used nor given up, each with the duration of its decision in seconds. */
  readonly #leaves = new WeakMap<Clearance<Operation>, number>();

  /** @internal */
  constructor(context: AgentContext) {
    this.#context = context;
    this.grants = context.grants;
    this.skills = context.skills;
    this.mode = context.mode;
    this.undeclaredAmbient = context.undeclaredAmbient;
    this.issuer = context.issuer;
    this.audience = context.audience;
    this.parties = context.parties;
    this.#recorder = new Recorder(context);
  }

  /**
   * Issues capabilities for what grants, request and policy all allow.
   *
   * @param params - The request as parsed JSON, not yet checked.
   * @param id - An id that the caller chose for the request. Repeating the request with the same id opens no
   *   second approval.
   * @returns The issued capabilities, and the pending approval for the other requested grants.
   * @throws TypeError naming the place where `params` is not plain JSON.
   * @throws StorageError if the issuance could not be recorded; then nothing was issued.
   */
  async request(caller: Caller, params: Json, id?: string): Promise<RequestOutcome> {
    assertCaller(caller);
    assertOptionalString(id, "id");
    return requestCapabilities(caller, params, id, this.#context, this.#recorder);
  }

  /**
   * Returns the capabilities of an approval to the party that requested them, the same capabilities each time.
   * Returns `pending` until the approval is decided.
   *
   * @throws StorageError if the issuance could not be recorded; the next call continues it.
   */
  async collect(caller: Caller, approval: string): Promise<RequestOutcome> {
    assertCaller(caller);
    assertString(approval, "approval");
    return collectCapabilities(caller, approval, this.#context, this.#recorder);
  }

  /**
   * Makes a new token for a registered agent's grant. The token is for the same capability each time, with a
   * hop for each party that set limits. If the capability has a location, the token is valid only at that
   * service.
   *
   * @returns `undefined` unless grant, agent and host are active, the capability is still offered, and the
   *   policy permits it.
   * @throws StorageError if the issuance cannot be recorded.
   */
  grantToken(grant: Pick<AgentGrant, "id">): Promise<GrantToken | undefined> {
    return grantToken(grant.id, this.#context, this.#recorder);
  }

  /**
   * Runs an Agent-Auth capability with the presented token. Without one, tries tokens for the agent's stored
   * grants one after another.
   *
   * @throws As {@link IssuingAgent.invoke} does.
   */
  executeGrant(asked: GrantExecution): Promise<InvocationOutcome> {
    return executeGrant(asked, this.#context, this.#recorder, (caller, invocation) =>
      this.invoke(caller, invocation, asked.signal),
    );
  }

  /**
   * Verifies each distinct token once, so that other methods need not verify it again. Records nothing; the
   * other methods refuse invalid tokens.
   *
   * @throws StorageError if the ledger cannot be read.
   */
  async authenticate(
    caller: Presenter,
    presented: readonly Presented[],
  ): Promise<readonly AuthenticatedCapability[]> {
    assertPresenter(caller);
    return authenticateAll(presented, caller, this.#context);
  }

  /**
   * Returns the permission to run a skill once, or the reasons for a refusal. A refusal is recorded immediately. A
   * permission is recorded when {@link IssuingAgent.run} uses it, or {@link IssuingAgent.forgo} gives it up.
   * The arguments are copied and frozen; the skill runs with that copy.
   *
   * @throws TypeError naming the part of the call that is not plain JSON, or has the wrong type.
   */
  async clear(caller: Caller, invocation: SkillInvocation): Promise<Clearance | Refusal> {
    assertCaller(caller);
    const own = ownInvocation(invocation, SKILL_CALL);
    assertString(own.skill, "invocation.skill");
    return this.#cleared(caller, own, () => clearCall(caller, own, this.#context));
  }

  /** Like {@link IssuingAgent.clear}, for an operation that outside code runs after {@link IssuingAgent.begin}. */
  async clearOperation(
    caller: Presenter,
    invocation: OperationInvocation,
  ): Promise<Clearance<Operation> | Refusal> {
    assertPresenter(caller);
    const own = ownInvocation(invocation, OPERATION_CALL);
    assertString(own.operation, "invocation.operation");
    return this.#cleared(caller, own, () => clearOperation(caller, own, this.#context));
  }

  async #cleared<Of extends Operation>(
    caller: Presenter,
    invocation: SkillInvocation | OperationInvocation,
    clear: () => Promise<Clearance<Of> | Refusal>,
  ): Promise<Clearance<Of> | Refusal> {
    const elapsed = this.#recorder.start();
    const answer = await clear();
    if (answer.allowed) {
      this.#leaves.set(answer, elapsed());
      Object.freeze(answer);
    } else this.#recorder.notInvoked(caller, invocation, answer, elapsed());
    return answer;
  }

  /**
   * Uses up a clearance and records the call. The calling code must then run the cleared call.
   *
   * @throws TypeError if the clearance was used already, or another agent gave it.
   * @throws ClearanceLostError if the capability is no longer valid.
   */
  async begin(clearance: Clearance<Operation>, caller: Presenter): Promise<void> {
    const seconds = this.#leaves.get(clearance);
    if (seconds === undefined)
      throw new TypeError("a call needs a clearance for each time it runs");
    this.#leaves.delete(clearance);
    // The capability may have been revoked since the clearance, for example while a task was stored.
    await this.issuer.catchUp();
    const denials = clearance.lost?.();
    this.#recorder.invoked(caller, clearance, seconds, denials?.[0].code);
    if (denials !== undefined) throw new ClearanceLostError(denials);
  }

  /**
   * Runs a cleared skill.
   *
   * @param ending - An object with the signal that the skill gets, such as an `AbortController`.
   * @returns The skill's result as JSON.
   * @throws TypeError if `ending` has no signal. Also throws the errors of {@link IssuingAgent.begin} and of
   *   the skill.
   * @throws SkillResultError (recognized by its name) if the skill has run but its result cannot be written as
   *   JSON.
   */
  async run(
    clearance: Clearance,
    caller: Caller,
    ending: { readonly signal: AbortSignal },
  ): Promise<Json> {
    if (!("signal" in ending)) throw new TypeError('ending: must have a "signal"');
    await this.begin(clearance, caller);
    const { asked, resources, principal, arguments: given } = clearance;
    const own = skillArguments(given);
    const { signal } = ending;
    const result: unknown = await asked.run({
      arguments: own,
      resources,
      caller,
      principal,
      signal,
    });
    return resultAsJson(result);
  }

  /**
   * Records that a cleared skill does not run. Does nothing if the clearance was already used.
   * @param code - The reason, such as `timed_out`.
   */
  forgo(clearance: Clearance<Operation>, caller: Presenter, code: string): void {
    const seconds = this.#leaves.get(clearance);
    if (seconds === undefined) return;
    this.#leaves.delete(clearance);
    this.#recorder.invoked(caller, clearance, seconds, code);
  }

  /**
   * Calls {@link IssuingAgent.clear}, then {@link IssuingAgent.run}.
   *
   * @param cleared - Called with the clearance before the skill runs.
   * @throws As {@link IssuingAgent.run} does, or the signal's reason if it is aborted before the skill runs.
   */
  async invoke(
    caller: Caller,
    invocation: SkillInvocation,
    signal: AbortSignal = NEVER,
    cleared: (clearance: Clearance) => void = () => {},
  ): Promise<InvocationOutcome> {
    signal.throwIfAborted();
    const answer = await this.clear(caller, invocation);
    if (!answer.allowed) return { ok: false, denials: answer.denials };
    if (signal.aborted) {
      // The caller no longer waits for the result, but the call is recorded nevertheless.
      const timedOut = signal.reason instanceof Error && signal.reason.name === "TimeoutError";
      this.forgo(answer, caller, timedOut ? "timed_out" : "cancelled");
      signal.throwIfAborted();
    }
    cleared(answer);
    let result: Json;
    try {
      result = await this.run(answer, caller, { signal });
    } catch (error) {
      if (error instanceof ClearanceLostError) return { ok: false, denials: error.denials };
      throw error;
    }
    const { authority, capability, declared } = answer;
    const id = capability === undefined ? {} : { capability: capability.id };
    return { ok: true, result, authority, ...id, declared };
  }

  /**
   * Admits a caller to start or see a task with its capabilities, or returns the reasons for a refusal. An
   * admission alone allows no skill.
   *
   * @param declared - `true` if the caller declares that it uses ambient authority.
   */
  async admit<By extends Presenter>(
    caller: By,
    presented: readonly Presented[],
    declared = false,
  ): Promise<Admission<By> | Refusal> {
    assertPresenter(caller);
    const elapsed = this.#recorder.start();
    const answer = await admit(caller, presented, declared, this.#context);
    if (!answer.allowed) this.#recorder.refused("invocation", caller, answer.denials, elapsed());
    return answer;
  }

  /** Returns a test of what admitted capabilities together allow. */
  coverage(capabilities: readonly VerifiedCapability[]): Coverage {
    return coverageOf(capabilities, this.#context.handles);
  }

  /**
   * Narrows a capability on behalf of a caller that cannot do so offline.
   *
   * @throws TypeError if the hop is invalid.
   */
  async attenuate(caller: Caller, presented: Presented, hop: HopInit): Promise<AttenuationOutcome> {
    assertPresenter(caller);
    const outcome = await attenuatePresented(caller, presented, hop, this.#context);
    if ("denials" in outcome) this.#recorder.refused("issuance", caller, outcome.denials);
    return outcome;
  }

  /**
   * Revokes a presented capability and all capabilities that were narrowed from it. A caller with too many
   * revocations is refused, unless it revokes a whole capability that was issued to it.
   *
   * @throws StorageError if the revocation could not be written.
   */
  async revoke(caller: Caller, presented: Presented, reason?: string): Promise<RevocationOutcome> {
    assertPresenter(caller);
    assertOptionalString(reason, "reason");
    const outcome = await revokePresented(caller, presented, reason, this.#context);
    if (!outcome.ok) this.#recorder.refused("revocation", caller, outcome.denials);
    else if (outcome.needless === undefined) {
      await this.#recorder.revoked(caller, outcome.capability, outcome.revocationId, reason);
    }
    return outcome;
  }

  /** Returns what a presented capability allows its holder now. */
  async introspect(caller: Presenter, presented: Presented): Promise<Introspection> {
    assertPresenter(caller);
    return introspect(caller, presented, this.#context);
  }
}

const ASKED = ["arguments", "capabilities", "declared"];
const SKILL_CALL = ["skill", ...ASKED];
const OPERATION_CALL = ["operation", "listing", ...ASKED];

const NEVER: AbortSignal = new AbortController().signal;
