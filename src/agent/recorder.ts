import type { Json } from "../bytes/json.js";
import type { VerifiedCapability } from "../capability/authorize.js";
import { TokenSearch } from "../capability/token-search.js";
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
import type { IssuedCapability, LedgerEvent, LedgerEventKind } from "./ledger.js";
import { type AgentDenials, codesOf } from "./refusal.js";
import type { Operation, Skill } from "./skill.js";

/** Writes decisions into the ledger, and passes them to an observer. */
export class Recorder {
  readonly #options: AgentContext;

  constructor(options: AgentContext) {
    this.#options = options;
  }

  /** A stop watch: call it for the seconds since. */
  start(): () => number {
    const began = performance.now();
    return () => (performance.now() - began) / 1000;
  }

  /** @throws StorageError if the ledger cannot record it: then nothing is issued. */
  async issued(
    caller: Presenter,
    granted: readonly Pick<GrantedCapability, "id" | "grant" | "resourceHandles">[],
    kept: readonly IssuedCapability[],
    purpose: string | undefined,
    seconds: number,
  ): Promise<void> {
    const { ledger } = this.#options;
    const commits = granted.map(({ id, grant, resourceHandles = [] }, at) => {
      const handles = resourceHandles.map(({ handle }) => handle);
      const about = { capability: id, grant, handles, ...inWords(purpose) };
      const event = this.#event("issuance", "allowed", caller, about);
      return ledger.commit(event, kept.slice(at, at + 1));
    });
    await Promise.all(commits);
    this.#options.observe({ kind: "issuance", decision: "allowed", seconds });
  }

  notIssued(caller: Presenter, code: string, purpose: string | undefined, seconds: number): void {
    this.#refused("issuance", caller, [code], seconds, inWords(purpose));
  }

  /** A call that was allowed. @param forgone - The code for which it does not run after all. */
  invoked(
    caller: Presenter,
    clearance: Clearance<Operation | Skill>,
    seconds: number,
    forgone?: string,
  ): void {
    const { ledger, observe } = this.#options;
    const kind = "invocation";
    const { asked, authority, capability, declared, handles } = clearance;
    const more = {
      ...this.#asked("id" in asked ? asked.id : undefined, asked, clearance.arguments),
      ...(capability === undefined ? {} : this.#pathOf(capability)),
      ...(declared === undefined ? {} : { declared }),
      handles,
    };
    if (forgone !== undefined) this.#refused(kind, caller, [forgone], seconds, more);
    else {
      ledger.note(this.#event(kind, "allowed", caller, { ...more, authority }));
      observe({ kind, decision: "allowed", authority, seconds });
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
    this.#refused("invocation", caller, codesOf(denials), seconds, {
      ...this.#asked(skill, asked, invocation.arguments),
      ...(capability === undefined ? {} : refusedPathOf(capability)),
      handles,
    });
  }

  /** A refusal of anything but a skill: of an admission, an attenuation or a revocation. */
  refused(kind: LedgerEventKind, caller: Presenter, denials: AgentDenials, seconds = 0): void {
    this.#refused(kind, caller, codesOf(denials), seconds, {});
  }

  /** @throws StorageError if the ledger cannot record it. */
  async revoked(
    caller: Presenter,
    capability: string,
    revocationId: string,
    purpose: string | undefined,
  ): Promise<void> {
    const about = { capability, path: [{ revocationId }], ...inWords(purpose) };
    const event = this.#event("revocation", "allowed", caller, about);
    await this.#options.ledger.commit(event, [], { urgent: true });
    this.#options.observe({ kind: "revocation", decision: "allowed", seconds: 0 });
  }

  #refused(
    kind: LedgerEventKind,
    caller: Presenter,
    codes: readonly string[],
    seconds: number,
    more: Partial<LedgerEvent>,
  ): void {
    const { ledger, observe } = this.#options;
    ledger.note(this.#event(kind, "refused", caller, { ...more, codes }));
    const [code = ""] = codes;
    observe({ kind, decision: "refused", code, seconds });
  }

  #event(
    kind: LedgerEventKind,
    decision: "allowed" | "refused",
    { principal, invoker }: Presenter,
    more: Partial<LedgerEvent>,
  ): LedgerEvent {
    const at = new Date(this.#options.clock()).toISOString();
    const who = {
      ...(principal === undefined ? {} : { principal }),
      ...(invoker === undefined ? {} : { invoker }),
    };
    return { kind, at, decision, ...more, ...who };
  }

  /** What was called, with the values that are recorded. */
  #asked(
    skill: string | undefined,
    known: Operation | undefined,
    given: SkillInvocation["arguments"],
  ): Partial<LedgerEvent> {
    const names = this.#options.recordValues.filter((name) => Object.hasOwn(given, name));
    const values = Object.fromEntries(names.map((name) => [name, given[name]]));
    return {
      ...(skill === undefined ? {} : { skill: skill.slice(0, 128) }),
      ...(known === undefined ? {} : { operation: known.operation }),
      ...(names.length === 0 ? {} : { values }),
    };
  }

  /** What each hop says, without hops that hold a token of this issuer: the ledger keeps no token. */
  #pathOf({ id, grant, principal, hops }: VerifiedCapability): Partial<LedgerEvent> {
    const search = new TokenSearch((text) => this.#options.issuer.isAuthentic(text));
    const path = hops.map(({ revocationId, hop }) => {
      const shown = hop !== undefined && (isShort(hop) || search.look(jsonOf(hop)) === "none");
      return shown ? { revocationId, hop } : { revocationId };
    });
    return { ...onBehalfOf(principal), capability: id, grant, path };
  }
}

/** Every form of a token has an identifier of at least 99 characters, and a signature of at least 32. */
const SHORTEST_TOKEN = 131;
// Hops of tokens that are known are the same objects at each call.
const short = new WeakMap<Hop, boolean>();

/** Whether a hop is too short to hold a token, in whatever form. */
function isShort(hop: Hop): boolean {
  const known = short.get(hop);
  if (known !== undefined) return known;
  const found = JSON.stringify(hop).length < SHORTEST_TOKEN;
  short.set(hop, found);
  return found;
}

function jsonOf(hop: Hop): Json {
  return JSON.parse(JSON.stringify(hop));
}

function inWords(purpose: string | undefined): Pick<LedgerEvent, "purpose"> {
  return purpose === undefined ? {} : { purpose };
}

/** The capability's principal, for calls that authenticate nothing but the capability. */
function onBehalfOf(principal: string | undefined): Pick<LedgerEvent, "principal"> {
  return principal === undefined ? {} : { principal };
}

function refusedPathOf({ id, grant, principal, revocationIds }: Judged): Partial<LedgerEvent> {
  // The first is the identifier's, which is no hop.
  const path = revocationIds.slice(1).map((revocationId) => ({ revocationId }));
  return { ...onBehalfOf(principal), capability: id, grant, path };
}
