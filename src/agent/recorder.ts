import type { VerifiedCapability } from "../capability/authorize.js";
import type { AgentContext } from "./agent-options.js";
import type { Presenter } from "./caller.js";
import type {
  Clearance,
  Judged,
  OperationInvocation,
  Refusal,
  SkillInvocation,
} from "./clearance.js";
import type { GrantedCapability } from "./issuance.js";
import type {
  IssuedCapability,
  Ledger,
  LedgerEvent,
  LedgerEventKind,
  LedgerHop,
} from "./ledger.js";
import { type AgentDenials, codesOf, MOST_DENIALS } from "./refusal.js";
import type { Operation, Skill } from "./skill.js";
import { TokenSearch } from "./token-search.js";

export type RecorderContext = Pick<
  AgentContext,
  "issuer" | "observe" | "clock" | "recordValues"
> & {
  readonly ledger: Pick<Ledger, "note" | "commit">;
};

/** The properties of an allowed call that are recorded. */
type Used = Pick<
  Clearance<Operation | Skill>,
  "asked" | "authority" | "capability" | "declared" | "handles" | "arguments"
>;

/** An event whose decision is not set. */
type Undecided = Omit<LedgerEvent, "decision">;

/** Writes decisions to the ledger, and reports them to an observer. */
export class Recorder {
  readonly #options: RecorderContext;

  constructor(options: RecorderContext) {
    this.#options = options;
  }

  /**
   * Starts a timer.
   * @returns A function that returns the elapsed seconds.
   */
  start(): () => number {
    const began = performance.now();
    return () => (performance.now() - began) / 1000;
  }

  /** @throws StorageError if the ledger cannot record the issuance; then nothing is issued. */
  async issued(
    caller: Presenter,
    granted: readonly Pick<GrantedCapability, "id" | "grant" | "resourceHandles">[],
    kept: readonly IssuedCapability[],
    purpose: string | undefined,
    seconds: number,
  ): Promise<void> {
    const { ledger } = this.#options;
    const event = this.#event("issuance", caller, purpose);
    const commits = granted.map(({ id: capability, grant, resourceHandles = [] }, at) => {
      const handles = resourceHandles.map(({ handle }) => handle);
      const one: LedgerEvent = { ...event, decision: "allowed", capability, grant, handles };
      return ledger.commit(one, kept.slice(at, at + 1));
    });
    await Promise.all(commits);
    this.#options.observe({ kind: "issuance", decision: "allowed", seconds });
  }

  notIssued(caller: Presenter, code: string, purpose: string | undefined, seconds: number): void {
    this.#refused(this.#event("issuance", caller, purpose), [code], seconds);
  }

  /**
   * Records an allowed call.
   * @param forgone - The reason why the call does not run after all; absent if it runs.
   */
  invoked(caller: Presenter, clearance: Used, seconds: number, forgone?: string): void {
    const { ledger, observe } = this.#options;
    const { asked, authority, capability, declared } = clearance;
    const skill = "id" in asked ? asked.id : undefined;
    const path = capability && this.#pathOf(capability);
    const event = { ...this.#call(caller, skill, clearance.arguments, clearance, path), declared };
    if (forgone !== undefined) this.#refused(event, [forgone], seconds);
    else {
      ledger.note({ ...event, decision: "allowed", authority });
      observe({ kind: "invocation", decision: "allowed", authority, seconds });
    }
  }

  notInvoked(
    caller: Presenter,
    invocation: SkillInvocation | OperationInvocation,
    answer: Refusal,
    seconds: number,
  ): void {
    const { denials, capability } = answer;
    const skill = "skill" in invocation ? invocation.skill : undefined;
    const path = capability && refusedPathOf(capability);
    const event = {
      ...this.#call(caller, skill, invocation.arguments, answer, path),
      denials: denials.slice(0, MOST_DENIALS).map(({ code, hop, rule }) => ({ code, hop, rule })),
    };
    this.#refused(event, codesOf(denials), seconds);
  }

  /**
   * Records the refusal of an admission, an attenuation or a revocation, or of a call for which the agent has
   * no usable grant.
   */
  refused(kind: LedgerEventKind, caller: Presenter, denials: AgentDenials, seconds = 0): void {
    this.#refused(this.#event(kind, caller), codesOf(denials), seconds);
  }

  /** @throws StorageError if the ledger cannot record the revocation. */
  async revoked(
    caller: Presenter,
    capability: string,
    revocationId: string,
    purpose: string | undefined,
  ): Promise<void> {
    const event: LedgerEvent = {
      ...this.#event("revocation", caller, purpose),
      decision: "allowed",
      capability,
      path: [{ revocationId }],
    };
    await this.#options.ledger.commit(event, [], { urgent: true });
    this.#options.observe({ kind: "revocation", decision: "allowed", seconds: 0 });
  }

  #refused(event: Undecided, codes: readonly string[], seconds: number): void {
    const { ledger, observe } = this.#options;
    ledger.note({ ...event, decision: "refused", codes });
    const [code = ""] = codes;
    observe({ kind: event.kind, decision: "refused", code, seconds });
  }

  #event(kind: LedgerEventKind, { principal, invoker }: Presenter, purpose?: string): Undecided {
    return { kind, at: this.#now(), principal, invoker, purpose };
  }

  /** Describes a call. If no principal was authenticated, records the capability's principal. */
  #call(
    { principal, invoker }: Presenter,
    skill: string | undefined,
    given: SkillInvocation["arguments"],
    { asked, capability, handles = [] }: Pick<Refusal, "asked" | "capability" | "handles">,
    path: readonly LedgerHop[] | undefined,
  ): Undecided {
    return {
      kind: "invocation",
      at: this.#now(),
      principal: principal ?? capability?.principal,
      invoker,
      capability: capability?.id,
      grant: capability?.grant,
      path,
      skill: skill?.slice(0, 128),
      operation: asked?.operation,
      values: this.#recordedOf(given),
      handles,
    };
  }

  /** Returns the argument values that the ledger keeps; `undefined` if there are none. */
  #recordedOf(given: SkillInvocation["arguments"]): LedgerEvent["values"] {
    const names = this.#options.recordValues.filter((name) => Object.hasOwn(given, name));
    if (names.length === 0) return undefined;
    return Object.fromEntries(names.map((name) => [name, given[name]]));
  }

  #now(): string {
    return new Date(this.#options.clock()).toISOString();
  }

  /**
   * Returns the hops of a capability. The contents of a hop are omitted if they contain a token of this issuer,
   * since the ledger must not store tokens.
   */
  #pathOf({ hops }: VerifiedCapability): readonly LedgerHop[] {
    const search = new TokenSearch((text) => this.#options.issuer.isAuthentic(text));
    return hops.map(({ revocationId, hop }) => {
      const isShown = hop !== undefined && search.look(hop) === "none";
      return isShown ? { revocationId, hop } : { revocationId };
    });
  }
}

function refusedPathOf({ revocationIds }: Judged): readonly LedgerHop[] {
  // The first id is the id of the identifier, which is not a hop.
  return revocationIds.slice(1).map((revocationId) => ({ revocationId }));
}
