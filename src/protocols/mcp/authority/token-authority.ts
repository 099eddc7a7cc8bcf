import { handlesIn } from "../../../agent/arguments.js";
import type { Refusal } from "../../../agent/clearance.js";
import type { Observation } from "../../../agent/ledger.js";
import { Recorder, type RecorderContext } from "../../../agent/recorder.js";
import type { AgentDenial, AgentDenials } from "../../../agent/refusal.js";
import type { JsonObject } from "../../../bytes/json.js";
import { type AuthenticToken, capabilityOfToken } from "../../../capability/authentic-token.js";
import type { Decision } from "../../../capability/authorize.js";
import type { VerifiedCapability } from "../../../capability/verified-capability.js";
import type { Hop } from "../../../caveats/hop.js";
import type { Invocation } from "../../../caveats/invocation.js";
import { meetOf } from "../../../caveats/meet.js";
import { parseTime } from "../../../caveats/time.js";
import { NotPlainError } from "../../../checks/plain.js";
import { ChangeWatch } from "./change-watch.js";
import {
  type GateAuthority,
  type GateCall,
  type GateDecision,
  type GateRefusal,
  type Presented,
  UNAVAILABLE,
} from "./gate-authority.js";
import { isOfArguments, remedied } from "./gate-remedies.js";
import { linkDenials } from "./resolve-paths.js";
import { NOTHING_PRESENTED, TokenReader, type TokenReaderOptions } from "./token-reader.js";

export interface TokenAuthorityOptions extends TokenReaderOptions {
  /** The revocation list of the issuer. `version` grows with each change of the list. */
  readonly revocations: { readonly version: number };
  /** Records the decisions. */
  readonly ledger: RecorderContext["ledger"];
  /** The grant that tokens must have, such as `mcp`. */
  readonly grant: string;
  /** The name of this gate in the `audience` of tokens; the issuer's name unless given. */
  readonly audience?: string | undefined;
  /** Names of the arguments whose values are written to the ledger; no values unless given. */
  readonly recordValues?: readonly string[] | undefined;
  /**
   * Returns the folder from which a server reads relative paths. The gate then follows symbolic links, and refuses a
   * path that leads out of the folders that the tokens allow. If this function is not given, or returns `undefined`,
   * the gate does not follow links.
   */
  readonly folderOf?: ((server: string | undefined) => string | undefined) | undefined;
  /** Called with every decision, for metrics. */
  readonly observe?: ((observation: Observation) => void) | undefined;
  /** Returns the present time in milliseconds since 1970; `Date.now` unless given. */
  readonly clock?: (() => number) | undefined;
}

/** Allows a call if every presented token allows it. Made by {@link createTokenAuthority}. */
class TokenAuthority implements GateAuthority {
  readonly #options: TokenAuthorityOptions;
  readonly #reader: TokenReader;
  readonly #recorder: Recorder;
  readonly #watch: ChangeWatch;

  constructor(options: TokenAuthorityOptions) {
    const { issuer, ledger, recordValues = [], clock = Date.now } = options;
    const { observe = () => {} } = options;
    this.#options = options;
    this.#reader = new TokenReader(options);
    this.#recorder = new Recorder({ issuer, ledger, recordValues, observe, clock });
    this.#watch = new ChangeWatch(() => this.#state());
  }

  present(given: readonly string[]): Presented {
    return this.#reader.present(given);
  }

  texts(given: readonly string[]): readonly string[] {
    return this.#reader.texts(given);
  }

  async standing(presented: Presented): Promise<AgentDenials | undefined> {
    if (!presented.ok) return presented.denials;
    await this.#options.issuer.catchUp();
    return this.#standing(presented.tokens);
  }

  async decide(presented: Presented, call: GateCall): Promise<GateDecision> {
    const seconds = this.#recorder.start();
    if (!presented.ok) return this.#refused(call, [{ denials: presented.denials }], seconds);
    await this.#options.issuer.catchUp();
    const judged = presented.tokens.map((token) =>
      this.#judge(token, call.operation, call.arguments),
    );
    const refusals = judged.flatMap((decision, at): Reasons[] =>
      decision.allowed ? [] : [numbered(decision, at, judged.length)],
    );
    if (refusals.length > 0) {
      const { denials } = this.#refused(call, refusals, seconds);
      const standing = this.#standing(presented.tokens);
      if (standing !== undefined) return { allowed: false, denials: standing };
      return this.holds(presented, call.operation)
        ? this.#remedied(call, presented, judged, denials)
        : { allowed: false, denials: [UNAVAILABLE] };
    }
    const [first, ...others] = judged.flatMap((one) => (one.allowed ? [one.capability] : []));
    const [denial, ...more] = this.#linkDenials(call, presented.tokens);
    if (first === undefined || denial !== undefined) {
      const denials: AgentDenials = [denial ?? NOTHING_PRESENTED, ...more];
      return this.#refused(call, [{ denials, capability: first }], seconds);
    }
    for (const capability of [first, ...others])
      this.#recorder.invoked({}, used(call, capability), seconds());
    return { allowed: true, capabilities: [first, ...others] };
  }

  refuse(presented: Presented, call: GateCall, denials: AgentDenials): GateRefusal {
    const capability = presented.ok ? capabilityOfToken(presented.tokens[0]) : undefined;
    return this.#refused(call, [{ denials, capability }], this.#recorder.start());
  }

  catchUp(): Promise<void> {
    return this.#options.issuer.catchUp();
  }

  holds(presented: Presented, operation: string): boolean {
    if (!presented.ok) return false;
    return presented.tokens.every((token) => {
      const decision = this.#judge(token, operation, {});
      return decision.allowed || decision.denials.every(isOfArguments);
    });
  }

  hops(presented: Presented): readonly Hop[] {
    if (!presented.ok) return [];
    return presented.tokens.flatMap(({ chains }) =>
      chains.flatMap(({ links }) =>
        links.flatMap((link) => (link.kind === "hop" ? [link.hop] : [])),
      ),
    );
  }

  expiresAt(presented: Presented): number | undefined {
    if (!presented.ok) return undefined;
    const ends = presented.tokens.map((token) => parseTime(capabilityOfToken(token).expires));
    return Math.min(...ends.map((end) => end ?? 0));
  }

  holder(presented: Presented): string {
    if (!presented.ok) return "";
    const ids = presented.tokens.map(({ chains: [own] }) => own.revocationIds.at(-1));
    return [...new Set(ids)].sort().join(" ");
  }

  onChange(listener: () => void): () => void {
    return this.#watch.add(listener);
  }

  async close(): Promise<void> {
    this.#watch.close();
  }

  /** Returns the denials that every call would get: judges the operation "", and drops what depends on the call. */
  #standing(tokens: readonly AuthenticToken[]): AgentDenials | undefined {
    const [denial, ...more] = tokens.flatMap((token, at): readonly AgentDenial[] => {
      const decision = this.#judge(token, "", {});
      if (decision.allowed) return [];
      return numbered(decision, at, tokens.length).denials.filter(
        (one) => !isOfOperation(one) && !isOfArguments(one),
      );
    });
    return denial === undefined ? undefined : [denial, ...more];
  }

  /** Judges a call by one token. Refuses arguments that are not plain data. */
  #judge(token: AuthenticToken, operation: string, given: JsonObject): Judged {
    const { issuer, grant, audience = issuer.name } = this.#options;
    const invocation: Invocation = {
      grant,
      operation,
      arguments: given,
      resourceHandles: handlesIn(given),
      audience,
    };
    try {
      return issuer.authorize(token, invocation);
    } catch (error) {
      if (!(error instanceof NotPlainError)) {
        return { allowed: false, denials: [this.#reader.keyDenial(error)] };
      }
      const { message } = error;
      return {
        allowed: false,
        denials: [{ code: "arguments_invalid", rule: "arguments", message }],
      };
    }
  }

  #linkDenials(call: GateCall, tokens: readonly AuthenticToken[]): readonly AgentDenial[] {
    const folder = this.#options.folderOf?.(call.server);
    return folder === undefined ? [] : linkDenials(call, tokens, folder);
  }

  /** Adds remedies to the denials of a refused call. */
  #remedied(
    call: GateCall,
    presented: Extract<Presented, { ok: true }>,
    judged: readonly Judged[],
    denials: AgentDenials,
  ): GateRefusal {
    const { ownTokens, grant } = this.#options;
    const { tokens } = presented;
    return remedied(call, denials, {
      grant,
      // The host cannot leave out the gate's own token.
      isChoice: ownTokens === undefined,
      answers: tokens.map((token, at) => ({
        id: token.identifier.id,
        allowed: judged[at]?.allowed === true && this.#linkDenials(call, [token]).length === 0,
      })),
      authority: () => meetOf([this.hops(presented)]),
      isAllowed: (given) =>
        tokens.every((token) => this.#judge(token, call.operation, given).allowed) &&
        this.#linkDenials({ ...call, arguments: given }, tokens).length === 0,
    });
  }

  #refused(call: GateCall, refusals: readonly Reasons[], seconds: () => number): GateRefusal {
    const asked = { operation: call.operation, reach: "none" } as const;
    for (const { denials, capability } of refusals) {
      const refusal: Refusal = { allowed: false, denials, capability, asked };
      const invocation = { operation: call.operation, arguments: call.arguments, capabilities: [] };
      this.#recorder.notInvoked({}, invocation, refusal, seconds());
    }
    const [first = NOTHING_PRESENTED, ...more] = refusals.flatMap(({ denials }) => denials);
    return { allowed: false, denials: [first, ...more] };
  }

  /** Returns a string that changes when the entries of a list may have changed. */
  #state(): string {
    const presented = this.present([]);
    const tokens = presented.ok ? presented.tokens : [];
    const valid = tokens.map((token) => this.#options.issuer.isStillValid(token));
    const links = tokens.map(({ chains }) =>
      chains.map(({ revocationIds }) => revocationIds.at(-1)),
    );
    return JSON.stringify([this.#options.revocations.version, valid, links]);
  }
}

type Reasons = Pick<Refusal, "denials" | "capability">;

type Judged = Decision | ({ readonly allowed: false } & Reasons);

/** Returns whether a denial depends on the operation: a hop or the grant lacks it. */
function isOfOperation({ code, rule }: AgentDenial): boolean {
  return code === "operation_denied" || (code === "grant_denied" && rule === "operations");
}

/** Adds the index of a token to its denials, if the call has several tokens. */
function numbered({ denials, capability }: Reasons, at: number, tokens: number): Reasons {
  if (tokens === 1) return { denials, capability };
  const [first, ...more] = denials.map((denial) => ({ ...denial, capability: at }));
  return { denials: [first ?? denials[0], ...more], capability };
}

function used(call: GateCall, capability: VerifiedCapability): Parameters<Recorder["invoked"]>[1] {
  return {
    asked: { operation: call.operation, reach: "none" },
    authority: "capability",
    arguments: call.arguments,
    capability,
    handles: [],
  };
}

/**
 * Makes the authority of a gate from an issuer, such as the issuer of a home or of a service with its own keys.
 *
 * Give the issuer a list of grants only if the list contains `grant`; the issuer then refuses operations that this
 * grant does not have.
 */
export function createTokenAuthority(options: TokenAuthorityOptions): GateAuthority {
  return new TokenAuthority(options);
}
