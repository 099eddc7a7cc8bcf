import type { Caller, Presenter } from "../../agent/caller.js";
import type { IssuingAgent } from "../../agent/issuing-agent.js";
import type { Introspection } from "../../agent/maintenance.js";
import { type AuthenticatedCapability, MAX_PRESENTED } from "../../agent/presented.js";
import { type AgentDenial, type AgentDenials, isPassing } from "../../agent/refusal.js";
import type { JsonObject } from "../../bytes/json.js";
import { allowsArgument } from "../../caveats/argument-domain.js";
import { argumentName } from "../../caveats/argument-pointer.js";
import { schemaWithin } from "../../caveats/narrowed-schema.js";
import {
  authorityOver,
  deadArguments,
  leftOfArgument,
  type OperationAuthority,
} from "../../caveats/operation-authority.js";
import { type CallTarget, type CapabilityName, grantOf, namingOf } from "./plugin.js";
import { ofArguments } from "./request.js";

/** A token of a session, which is authenticated once, and the result of its latest introspection. */
interface Held {
  readonly presented: AuthenticatedCapability;
  /** The token's grant; an empty string if the token could not be authenticated. */
  readonly grant: string;
  introspection: Introspection;
}

/** The outcome for one capability: enabled, or the reason why not. */
export type Verdict =
  | { readonly enabled: true }
  | { readonly enabled: false; readonly code: string; readonly reason: string };

export type Opening =
  | { readonly ok: true; readonly authority: SessionAuthority }
  | { readonly ok: false; readonly denials: AgentDenials };

interface PresentedTokens {
  readonly tokens: readonly string[];
  /** True if the peer declares ambient authority. */
  readonly declared: boolean;
}

/** The authority of a session: tokens that were authenticated at its handshake, or ambient authority. */
export class SessionAuthority {
  /**
   * The party that presents the tokens, as authenticated by the transport; for ambient authority, the party configured in
   * the host.
   */
  readonly presenter: Presenter;
  readonly declared: boolean;
  readonly #agent: IssuingAgent;
  /** Absent for ambient authority. */
  readonly #held: readonly Held[] | undefined;

  private constructor(
    agent: IssuingAgent,
    presenter: Presenter,
    declared: boolean,
    held?: readonly Held[],
  ) {
    this.#agent = agent;
    this.presenter = presenter;
    this.declared = declared;
    this.#held = held;
  }

  /**
   * Authenticates the tokens of a handshake. A repeated token is authenticated only once.
   *
   * @param ambient - The party for which peers without tokens act; `undefined` if tokens are required.
   * @returns The session's authority; or denials, because no token is active, too many tokens are for one grant, or a
   *   peer without tokens may not use ambient authority.
   * @throws StorageError if the ledger cannot be read.
   */
  static async open(
    agent: IssuingAgent,
    { tokens, declared }: PresentedTokens,
    presenter: Presenter,
    ambient: Caller | undefined,
  ): Promise<Opening> {
    if (tokens.length === 0) {
      if (ambient === undefined) return { ok: false, denials: [tokenMissing()] };
      const admission = await agent.admit(ambient, [], declared);
      if (!admission.allowed) return { ok: false, denials: admission.denials };
      return { ok: true, authority: new SessionAuthority(agent, ambient, declared) };
    }
    const held: Held[] = [];
    for (const token of new Set(tokens)) {
      for (const presented of await agent.authenticate(presenter, [{ token }])) {
        const grant = presented.ok ? presented.token.identifier.grant : "";
        held.push({
          presented,
          grant,
          introspection: await agent.introspect(presenter, presented),
        });
      }
    }
    const active = held.filter(({ introspection }) => introspection.active);
    for (const { grant } of active) {
      // A call is judged with all tokens of its grant, and the number of tokens for one call is limited.
      const own = active.filter((other) => other.grant === grant);
      if (own.length > MAX_PRESENTED) return { ok: false, denials: [tooMany(grant)] };
    }
    if (active.length === 0) {
      // `admit` records the refusal in the ledger.
      const admission = await agent.admit(
        presenter,
        held.slice(0, MAX_PRESENTED).map(({ presented }) => presented),
      );
      const denials = admission.allowed ? ([tokenMissing()] as const) : admission.denials;
      return { ok: false, denials };
    }
    return { ok: true, authority: new SessionAuthority(agent, presenter, false, held) };
  }

  /** Introspects the active tokens again, without verifying their signatures again. */
  async look(): Promise<void> {
    for (const held of this.#held ?? []) {
      // A token that became inactive stays inactive.
      if (!held.introspection.active) continue;
      const introspection = await this.#agent.introspect(this.presenter, held.presented);
      if (introspection.active || !isPassing(introspection.denials))
        held.introspection = introspection;
    }
  }

  /**
   * Returns whether the tokens allow at least one of the operations that the plugins serve, and if not, why.
   *
   * @param operations - The operations that the plugins serve.
   */
  verdict(name: CapabilityName, operations: readonly string[]): Verdict {
    if (this.#held === undefined) return { enabled: true };
    const grant = grantOf(name);
    const own = this.#held.filter((held) => held.grant === grant);
    if (own.length === 0) {
      return { enabled: false, code: "token_missing", reason: `no token is of the grant ${grant}` };
    }
    const introspection = own.map((held) => held.introspection);
    const left = introspection.some(
      (one) =>
        one.active &&
        operations.some((operation) => one.authority.operations?.includes(operation) ?? true),
    );
    if (left) return { enabled: true };
    const dead = introspection.flatMap((one) => (one.active ? [] : [one.denials[0]]));
    const [denial] = dead;
    if (denial === undefined || dead.length < own.length) {
      const reason = "the token's restrictions leave none of the operations that are served";
      return { enabled: false, code: "operations_none", reason };
    }
    return { enabled: false, code: denial.code, reason: denial.message };
  }

  /** Returns the active tokens for a capability; an empty array for ambient authority. */
  presentedFor(name: CapabilityName): readonly AuthenticatedCapability[] {
    const grant = grantOf(name);
    const own = (this.#held ?? []).filter(
      (held) => held.grant === grant && held.introspection.active,
    );
    return own.map(({ presented }) => presented);
  }

  /** Returns whether the tokens allow at least one call of an operation; see {@link PluginCall.mayCall}. */
  mayCall(capability: CapabilityName, operation: string, named: CallTarget): boolean {
    return this.#held === undefined || this.#allowing(capability, operation, named).length > 0;
  }

  /** Narrows a JSON Schema to the arguments that the tokens allow; see {@link PluginCall.narrowed}. */
  narrowed(
    capability: CapabilityName,
    operation: string,
    named: CallTarget,
    input: JsonObject,
  ): JsonObject {
    const [only, ...more] = this.#allowing(capability, operation, named);
    // For several tokens, the schema would need an `anyOf` at its root, which model APIs refuse.
    if (only === undefined || more.length > 0) return input;
    return schemaWithin(input, ofArguments(only, capability));
  }

  /**
   * Returns the limits that each token sets on arguments. Leaves out tokens that allow no call of the operation with
   * this name and server.
   */
  #allowing(
    capability: CapabilityName,
    operation: string,
    { name, server }: CallTarget,
  ): readonly OperationAuthority[] {
    const grant = grantOf(capability);
    const named = [[namingOf(capability).called, name] as const, ["server", server] as const];
    return (this.#held ?? []).flatMap(({ grant: own, introspection }) => {
      if (own !== grant || !introspection.active) return [];
      if (introspection.authority.operations?.includes(operation) === false) return [];
      const over = authorityOver(operation, introspection.authority);
      if (deadArguments(over).length > 0) return [];
      const isAllowed = named.every(
        ([member, value]) =>
          value === undefined ||
          allowsArgument(leftOfArgument(over, argumentName([member])), value),
      );
      return isAllowed ? [over] : [];
    });
  }

  /**
   * The principals of the active tokens, without duplicates; for ambient authority, the principal that the host
   * configures.
   */
  get principals(): readonly string[] {
    const all =
      this.#held === undefined
        ? [this.presenter.principal]
        : this.#held.map(({ introspection }) =>
            introspection.active ? introspection.principal : undefined,
          );
    return [...new Set(all)].filter((one) => one !== undefined);
  }

  get isAmbient(): boolean {
    return this.#held === undefined;
  }

  /** The earliest expiry of an active token, in milliseconds since 1970; `undefined` if no token is active. */
  get nextExpiry(): number | undefined {
    const moments = (this.#held ?? []).flatMap(({ introspection }) =>
      introspection.active ? [Date.parse(introspection.expires)] : [],
    );
    return moments.length === 0 ? undefined : Math.min(...moments);
  }
}

function tokenMissing(): AgentDenial {
  const message = 'the handshake presents no token in "auth_token", and this host requires one';
  return { code: "capability_missing", rule: "auth_token", message };
}

function tooMany(grant: string): AgentDenial {
  const message = `a session may present at most ${MAX_PRESENTED} tokens of one grant, ${grant}`;
  return { code: "token_too_large", rule: "auth_token", message };
}
