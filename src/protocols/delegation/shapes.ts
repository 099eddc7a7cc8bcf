import type { ChainState, DelegationVerdict } from "../../agent/delegation/chain-verdict.js";
import type { Delegation, DelegationRequest } from "../../agent/delegation/delegated-hop.js";
import type { HeldScopes } from "../../agent/delegation/delegations.js";
import { isObject, isTexts } from "../../bytes/json.js";
import { assertMembers } from "../../checks/members.js";

export type BodyReading<Read> =
  | { readonly ok: true; readonly read: Read }
  | { readonly ok: false; readonly field: string; readonly message: string };

/** Maximum number of scopes in one request. A hop cannot name more operations. */
const MOST_SCOPES = 256;
const LONGEST_ID = 256;

export function readDelegation(body: unknown): BodyReading<DelegationRequest> {
  const members = membersOf(body, ["delegateeAgentId", "scopes", "ttlSeconds"]);
  if (!members.ok) return members;
  const { delegateeAgentId: delegatee, scopes, ttlSeconds: ttl } = members.read;
  if (typeof delegatee !== "string" || delegatee === "" || delegatee.length > LONGEST_ID) {
    return wrong("delegateeAgentId", `must be a string of 1 to ${LONGEST_ID} characters`);
  }
  if (!isTexts(scopes) || scopes.length === 0 || scopes.length > MOST_SCOPES) {
    return wrong("scopes", `must be an array of 1 to ${MOST_SCOPES} strings`);
  }
  if (typeof ttl !== "number") return wrong("ttlSeconds", "must be a number");
  return { ok: true, read: { delegatee, scopes, ttl } };
}

/** Reads the body of a verification. The token in the body may be any string. */
export function readVerification(body: unknown): BodyReading<string> {
  const members = membersOf(body, ["delegationToken"]);
  if (!members.ok) return members;
  const { delegationToken: token } = members.read;
  return typeof token === "string"
    ? { ok: true, read: token }
    : wrong("delegationToken", "must be a string");
}

function membersOf(
  body: unknown,
  names: readonly string[],
): BodyReading<{ readonly [name: string]: unknown }> {
  if (!isObject(body)) return wrong("body", "must be a JSON object");
  try {
    assertMembers(body, names, "");
  } catch (error) {
    if (!(error instanceof TypeError)) throw error;
    const unknown = Object.keys(body).find((name) => !names.includes(name)) ?? "";
    return { ok: false, field: unknown.slice(0, 64), message: error.message.slice(0, 256) };
  }
  const missing = names.find((name) => !Object.hasOwn(body, name));
  return missing === undefined ? { ok: true, read: body } : wrong(missing, "is missing");
}

function wrong(field: string, what: string): Extract<BodyReading<never>, { ok: false }> {
  return { ok: false, field, message: `${field}: ${what}` };
}

/** Returns the answer to a delegation. */
export function delegationAnswer({ token, record }: Delegation): object {
  return {
    delegationToken: token,
    chainId: record.id,
    delegatorAgentId: record.delegator,
    delegateeAgentId: record.delegatee,
    scopes: record.scopes,
    expiresAt: time(record.expires),
  };
}

/**
 * Returns the answer to a verification. If the token is not a delegation of this issuer, the answer gives only
 * the reason.
 */
export function verdictAnswer(verdict: DelegationVerdict): object {
  const reason = verdict.valid ? {} : { reason: verdict.reason };
  const chain = verdict.chain === undefined ? {} : chainAnswer(verdict.chain);
  return { valid: verdict.valid, ...chain, ...reason };
}

function chainAnswer(chain: ChainState): object {
  return {
    chainId: chain.id,
    delegatorAgentId: chain.delegator ?? null,
    delegateeAgentId: chain.delegatee,
    scopes: chain.scopes,
    ...limitedMark(chain),
    audience: chain.audience,
    issuedAt: time(chain.issued),
    ...(chain.issuedSource === "token" ? {} : { issuedAtSource: chain.issuedSource }),
    expiresAt: time(chain.expires),
    revokedAt: chain.revoked === undefined ? null : time(chain.revoked),
  };
}

/**
 * Returns the answer to an introspection: the scopes of all the caller's capabilities together, and of each
 * capability.
 */
export function scopesAnswer(held: readonly HeldScopes[], agent: string | undefined): object {
  const scopes = [...new Set(held.flatMap((one) => one.scopes))].sort();
  const first = Math.min(...held.map(({ expires }) => expires));
  return {
    active: true,
    agentId: agent ?? null,
    scopes,
    expiresAt: held.length === 0 ? null : time(first),
    capabilities: held.map((one) => ({
      capabilityId: one.capability,
      scopes: one.scopes,
      ...limitedMark(one),
      expiresAt: time(one.expires),
    })),
  };
}

/**
 * Returns the property `argumentsLimited` if the arguments are limited too. SentryAgent's answers do not have
 * this property.
 */
function limitedMark({ argumentsLimited }: Pick<ChainState, "argumentsLimited">): object {
  return argumentsLimited ? { argumentsLimited } : {};
}

function time(milliseconds: number): string {
  return new Date(milliseconds).toISOString();
}
