import type { Json } from "../bytes/json.js";
import type { VerifiedCapability } from "../capability/authorize.js";
import type { Hop } from "../caveats/hop.js";
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

/** Writes decisions to the ledger, and reports them to an observer. */
export class Recorder {
  readonly #options: RecorderContext;
  // Paths by verified capability: repeated calls with one token have the same capability object. A path is cached only
  // if every hop is too short to contain a token. Longer hops are searched again at each call, since a new key can turn
  // a string into a valid token.
  readonly #short = new WeakMap<VerifiedCapability, readonly LedgerHop[]>();

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
    const commits = granted.map(({ id, grant, resourceHandles = [] }, at) => {
      const event = this.#event("issuance", "allowed", caller, purpose);
      event.capability = id;
      event.grant = grant;
      event.handles = resourceHandles.map(({ handle }) => handle);
      return ledger.commit(event, kept.slice(at, at + 1));
    });
    await Promise.all(commits);
    this.#options.observe({ kind: "issuance", decision: "allowed", seconds });
  }

  notIssued(caller: Presenter, code: string, purpose: string | undefined, seconds: number): void {
    this.#refused(this.#event("issuance", "refused", caller, purpose), [code], seconds);
  }

  /**
   * Records an allowed call.
   * @param forgone - The reason why the call does not run after all; absent if it runs.
   */
  invoked(caller: Presenter, clearance: Used, seconds: number, forgone?: string): void {
    const { ledger, observe } = this.#options;
    const { asked, authority, capability, declared, handles } = clearance;
    const event = this.#event("invocation", forgone === undefined ? "allowed" : "refused", caller);
    this.#ask(event, "id" in asked ? asked.id : undefined, asked, clearance.arguments);
    if (capability !== undefined) rest(event, capability, this.#pathOf(capability));
    if (declared !== undefined) event.declared = declared;
    event.handles = handles;
    if (forgone !== undefined) this.#refused(event, [forgone], seconds);
    else {
      event.authority = authority;
      ledger.note(event);
      observe({ kind: "invocation", decision: "allowed", authority, seconds });
    }
  }

  notInvoked(
    caller: Presenter,
    invocation: SkillInvocation | OperationInvocation,
    answer: Refusal,
    seconds: number,
  ): void {
    const { denials, capability, asked, handles = [] } = answer;
    const skill = "skill" in invocation ? invocation.skill : undefined;
    const event = this.#event("invocation", "refused", caller);
    this.#ask(event, skill, asked, invocation.arguments);
    if (capability !== undefined) rest(event, capability, refusedPathOf(capability));
    event.handles = handles;
    event.denials = denials
      .slice(0, MOST_DENIALS)
      .map(({ code, hop, rule }) => ({ code, hop, rule }));
    this.#refused(event, codesOf(denials), seconds);
  }

  /**
   * Records the refusal of an admission, an attenuation or a revocation, or of a call for which the agent has
   * no usable grant.
   */
  refused(kind: LedgerEventKind, caller: Presenter, denials: AgentDenials, seconds = 0): void {
    this.#refused(this.#event(kind, "refused", caller), codesOf(denials), seconds);
  }

  /** @throws StorageError if the ledger cannot record the revocation. */
  async revoked(
    caller: Presenter,
    capability: string,
    revocationId: string,
    purpose: string | undefined,
  ): Promise<void> {
    const event = this.#event("revocation", "allowed", caller, purpose);
    event.capability = capability;
    event.path = [{ revocationId }];
    await this.#options.ledger.commit(event, [], { urgent: true });
    this.#options.observe({ kind: "revocation", decision: "allowed", seconds: 0 });
  }

  #refused(event: Draft, codes: readonly string[], seconds: number): void {
    const { ledger, observe } = this.#options;
    event.codes = codes;
    ledger.note(event);
    const [code = ""] = codes;
    observe({ kind: event.kind, decision: "refused", code, seconds });
  }

  #event(
    kind: LedgerEventKind,
    decision: "allowed" | "refused",
    { principal, invoker }: Presenter,
    purpose?: string,
  ): Draft {
    const event: Draft = { kind, at: new Date(this.#options.clock()).toISOString(), decision };
    if (principal !== undefined) event.principal = principal;
    if (invoker !== undefined) event.invoker = invoker;
    if (purpose !== undefined) event.purpose = purpose;
    return event;
  }

  /** Sets the skill, its operation, and the argument values that the ledger keeps. */
  #ask(
    event: Draft,
    skill: string | undefined,
    known: Operation | undefined,
    given: SkillInvocation["arguments"],
  ): void {
    const names = this.#options.recordValues.filter((name) => Object.hasOwn(given, name));
    if (skill !== undefined) event.skill = skill.slice(0, 128);
    if (known !== undefined) event.operation = known.operation;
    if (names.length > 0) {
      event.values = Object.fromEntries(names.map((name) => [name, given[name]]));
    }
  }

  /**
   * Returns the hops of a capability. The contents of a hop are omitted if they contain a token of this issuer,
   * since the ledger must not store tokens.
   */
  #pathOf(capability: VerifiedCapability): readonly LedgerHop[] {
    const known = this.#short.get(capability);
    if (known !== undefined) return known;
    const search = new TokenSearch((text) => this.#options.issuer.isAuthentic(text));
    let allShort = true;
    const path = capability.hops.map(({ revocationId, hop }) => {
      if (hop === undefined) return Object.freeze({ revocationId });
      const short = isShort(hop);
      allShort &&= short;
      const shown = short || search.look(jsonOf(hop)) === "none";
      return Object.freeze(shown ? { revocationId, hop } : { revocationId });
    });
    Object.freeze(path);
    if (allShort) this.#short.set(capability, path);
    return path;
  }
}

/** A ledger event under construction. Assigning its properties is several times faster than spreading objects. */
type Draft = { -readonly [Name in keyof LedgerEvent]: LedgerEvent[Name] };

/** Sets the capability of a call. If no principal was authenticated, records the capability's principal. */
function rest(event: Draft, { id, grant, principal }: Judged, path: readonly LedgerHop[]): void {
  if (principal !== undefined) event.principal ??= principal;
  event.capability = id;
  event.grant = grant;
  event.path = path;
}

/** Length of the shortest token in any form, in characters: 99 for the identifier and 32 for the signature. */
const SHORTEST_TOKEN = 131;

/** Returns whether a hop is too short to contain a token in any form. */
function isShort(hop: Hop): boolean {
  return JSON.stringify(hop).length < SHORTEST_TOKEN;
}

function jsonOf(hop: Hop): Json {
  return JSON.parse(JSON.stringify(hop));
}

function refusedPathOf({ revocationIds }: Judged): readonly LedgerHop[] {
  // The first id is the id of the identifier, which is not a hop.
  return revocationIds.slice(1).map((revocationId) => ({ revocationId }));
}
