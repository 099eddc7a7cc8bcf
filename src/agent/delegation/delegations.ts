// The entry point of this folder. A delegation is one more hop, which lets one agent use a capability for a
// limited time.

import { limitsArguments } from "../../caveats/operation-authority.js";
import { assertArray, assertString, notA } from "../../checks/kinds.js";
import { knownMembers } from "../../checks/members.js";
import { plainCopy } from "../../checks/plain.js";
import { assertCaller, type Caller } from "../caller.js";
import { type AuthenticCapability, branded } from "../presented.js";
import type { AgentDenial } from "../refusal.js";
import { authorityOf } from "./chain.js";
import { noteDelegationRefusal } from "./chain-records.js";
import { revokeChain } from "./chain-revocation.js";
import { type DelegationVerdict, verifyDelegation } from "./chain-verdict.js";
import {
  type Delegation,
  type DelegationRequest,
  delegate,
  operationsHeld,
} from "./delegated-hop.js";
import {
  type DelegationCaller,
  type Holding,
  holderOf,
  holdingsOf,
  isBound,
  lifeDenials,
} from "./holdings.js";
import { type DelegationContext, type DelegationOptions, delegationContext } from "./options.js";
import type { DelegationRefusal } from "./refusal.js";

/**
 * The party that a capability identifies if it is presented as credentials, or the reason why the capability is
 * not accepted.
 */
export type CapabilityIdentity =
  | {
      readonly ok: true;
      /**
       * The party that the capability was issued to. For a bound capability, the invoker is the agent that it
       * is bound to.
       */
      readonly caller: Caller;
      readonly credential: AuthenticCapability;
      /** True if the capability is bound to agents. A bound capability does not prove who presents it. */
      readonly bound: boolean;
    }
  | { readonly ok: false; readonly denial: AgentDenial };

/** The scopes of a caller's capability, even if it is bound and so cannot be delegated. */
export interface HeldScopes {
  readonly capability: string;
  readonly scopes: readonly string[];
  /** True if hops limit the arguments of calls within the scopes. */
  readonly argumentsLimited: boolean;
  /** Milliseconds since 1970. */
  readonly expires: number;
}

/** Delegation between agents, independent of the protocol. Made by {@link createDelegations}. */
export class Delegations {
  readonly #context: DelegationContext;

  /** @internal */
  constructor(options: DelegationOptions) {
    this.#context = delegationContext(options);
  }

  /**
   * Identifies the party that presents a capability as credentials; `undefined` if the string is no capability.
   * @throws StorageError
   */
  async identify(text: string): Promise<CapabilityIdentity | undefined> {
    assertString(text, "text");
    const authentic = this.#context.agent.issuer.authenticate(text);
    if (!authentic.ok) {
      const { denial } = authentic;
      return NO_CAPABILITY.includes(denial.code) ? undefined : { ok: false, denial };
    }
    const { token } = authentic;
    const authority = authorityOf(token);
    const [denial] = lifeDenials(token, authority, this.#context);
    if (denial !== undefined) return { ok: false, denial };
    const holder = await holderOf(token.identifier, this.#context);
    if (holder === undefined) return { ok: false, denial: HOLDER_UNKNOWN };
    const credential = branded({ ok: true, token } as const);
    const { invokers: [invoker] = [] } = authority;
    const caller = invoker === undefined ? holder : { ...holder, invoker };
    return { ok: true, caller, credential, bound: isBound(authority) };
  }

  /**
   * Delegates the caller's capability.
   *
   * @throws TypeError naming the part of the request that is not plain data, is unknown, or has the wrong type.
   * @throws StorageError; then nothing was delegated.
   */
  async delegate(
    by: DelegationCaller,
    request: DelegationRequest,
  ): Promise<Delegation | DelegationRefusal> {
    const who = plainBy(by);
    const outcome = await delegate(who, plainRequest(request), this.#context);
    if (!outcome.ok) noteDelegationRefusal("registration", who.caller, outcome, this.#context);
    return outcome;
  }

  /**
   * Verifies a string as a delegation that was made by this issuer or offline.
   *
   * @throws StorageError
   */
  async verify(by: DelegationCaller, text: string): Promise<DelegationVerdict> {
    assertString(text, "text");
    return verifyDelegation(plainBy(by), text, this.#context);
  }

  /**
   * Revokes a delegation on behalf of its delegator.
   *
   * @param id - A UUID in lower case.
   * @throws StorageError
   */
  async revoke(
    by: DelegationCaller,
    id: string,
  ): Promise<{ readonly ok: true } | DelegationRefusal> {
    assertString(id, "id");
    const who = plainBy(by);
    const outcome = await revokeChain(who, id, this.#context);
    if (!outcome.ok) noteDelegationRefusal("revocation", who.caller, outcome, this.#context);
    return outcome;
  }

  /**
   * Returns the scopes of the presented capability or, with an access token, of at most 64 live capabilities of the
   * caller. Also returns the caller's id as an agent, if the issuer knows the agent.
   *
   * @throws StorageError
   */
  async introspect(
    by: DelegationCaller,
  ): Promise<{ readonly agent?: string; readonly held: readonly HeldScopes[] }> {
    const { caller, credential } = plainBy(by);
    const holdings =
      credential === undefined
        ? await holdingsOf(caller, MOST_SHOWN, this.#context)
        : [{ token: credential.token, authority: authorityOf(credential.token) }];
    const agent = await this.#context.agents.byInvoker(caller.invoker);
    const held = holdings.map((holding) => this.#scopesOf(holding));
    return { ...(agent === undefined ? {} : { agent: agent.id }), held };
  }

  #scopesOf({ token, authority }: Pick<Holding, "token" | "authority">): HeldScopes {
    const { id, grant } = token.identifier;
    const operations = operationsHeld(grant, authority.operations, this.#context);
    const scopes = this.#context.scopes.write(grant, operations);
    const argumentsLimited = operations.some((one) => limitsArguments(authority, one));
    const expires = Date.parse(authority.expires ?? "");
    return { capability: id, scopes, argumentsLimited, expires };
  }
}

/**
 * Copies a caller.
 *
 * @throws TypeError naming the value that is not plain data, is unknown, or has the wrong type.
 */
function plainBy(by: DelegationCaller): DelegationCaller {
  const own = knownMembers(by, ["caller", "credential", "picked"], "by");
  assertCaller(own.caller);
  return own;
}

/**
 * Copies a request.
 *
 * @throws TypeError naming the value that is not plain data, is unknown, or has the wrong type.
 */
function plainRequest(request: DelegationRequest): DelegationRequest {
  const own = knownMembers(request, ["delegatee", "scopes", "ttl"], "request");
  const { delegatee, ttl } = own;
  assertString(delegatee, "request.delegatee");
  if (typeof ttl !== "number") throw notA("request.ttl", "a number of seconds", ttl);
  assertArray(own.scopes, "request.scopes", "strings");
  const scopes = plainCopy(own.scopes, "request.scopes");
  for (const [at, scope] of scopes.entries()) assertString(scope, `request.scopes[${at}]`);
  return { delegatee, ttl, scopes };
}

/** Maximum number of capabilities that an introspection reports. */
const MOST_SHOWN = 64;
/** Denial codes of strings that are not capabilities of any issuer. */
const NO_CAPABILITY: readonly AgentDenial["code"][] = ["token_malformed", "token_truncated"];

const HOLDER_UNKNOWN: AgentDenial = {
  code: "capability_unknown",
  rule: "id",
  message: "this issuer has no record of the agent that the capability was issued to",
};

/**
 * Creates the delegations of an issuing agent.
 *
 * @throws TypeError naming the option that is wrong, or the grants whose scopes are ambiguous.
 *
 * @example
 * ```ts
 * import { mkdtempSync } from "node:fs";
 * import { tmpdir } from "node:os";
 * import { join } from "node:path";
 * import { createIssuingAgent, createPolicyTable } from "proviso/agent";
 * import { createDelegations } from "proviso/delegation";
 * import { createIssuer, createKeyring } from "proviso/issuer";
 * import { createStores, openLedger, openParties, openRevocations } from "proviso/stores";
 *
 * const database = await createStores(join(mkdtempSync(join(tmpdir(), "proviso-")), "proviso.db"));
 * const revocations = await openRevocations(database);
 * const ledger = openLedger(database);
 * const grants = [{ id: "agents", description: "Agents", operations: ["read", "write"] }];
 * const agent = await createIssuingAgent({
 *   issuer: createIssuer({ name: "agents-service", keys: createKeyring(), revocations, grants }),
 *   policy: createPolicyTable({ rules: [{ principal: "alice", grant: "agents", operations: "*" }] }),
 *   revocations,
 *   ledger,
 *   skills: [],
 *   operations: ["read", "write"].map((operation) => ({ operation, reach: "none" })),
 * });
 * const delegations = createDelegations({
 *   agent,
 *   parties: openParties(database),
 *   revocations,
 *   ledger,
 *   agents: [{ id: "orchestrator" }, { id: "summarizer" }],
 * });
 *
 * const caller = { principal: "alice", invoker: "orchestrator" };
 * await agent.request(caller, { grants: ["agents"], purpose: "a report" });
 * const asked = { delegatee: "summarizer", scopes: ["agents:read"], ttl: 600 };
 * const made = await delegations.delegate({ caller }, asked);
 * const token = made.ok ? made.token : "";
 * const verdict = await delegations.verify({ caller }, token);
 * verdict.chain?.scopes; // => ["agents:read"]
 *
 * await delegations.revoke({ caller }, verdict.chain?.id ?? "");
 * (await delegations.verify({ caller }, token)).valid; // => false
 * await ledger.close();
 * await database.close();
 * ```
 */
export function createDelegations(options: DelegationOptions): Delegations {
  return new Delegations(options);
}
