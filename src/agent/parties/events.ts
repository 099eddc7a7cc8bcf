// Ledger events about hosts, agents, grants and approvals.

import type { LedgerEvent } from "../ledger.js";
import type { AgentGrant, Approval } from "./records.js";

/** The acting party: a user, the agent, its host, or an operator of this installation. */
export interface Actor {
  readonly principal?: string | undefined;
  readonly agent?: string | undefined;
  readonly host?: string | undefined;
  readonly operator?: boolean | undefined;
}

export interface EventSubject {
  /** The id of the record that the event is about. */
  readonly record?: string | undefined;
  readonly principal?: string | undefined;
  /** True if an operator of this installation acted. */
  readonly operator?: boolean | undefined;
  /** The agent's id. */
  readonly agent?: string | undefined;
  readonly grant?: AgentGrant | undefined;
  readonly purpose?: string | undefined;
  /** The codes of a refusal; absent for a completed action. */
  readonly codes?: readonly string[] | undefined;
}

/**
 * Returns a ledger event about a host, an agent or a grant.
 *
 * @param change - The event's name, such as `agent.activated`.
 * @param now - Milliseconds since 1970.
 */
export function partyEvent(change: string, now: number, about: EventSubject): LedgerEvent {
  const {
    record = about.grant?.id,
    principal,
    operator,
    agent = about.grant?.agent,
    grant,
    purpose,
    codes,
  } = about;
  return {
    kind: "registration",
    at: new Date(now).toISOString(),
    change,
    decision: codes === undefined ? "allowed" : "refused",
    ...(record === undefined ? {} : { record }),
    ...(principal === undefined ? {} : { principal }),
    ...(operator === true ? { operator } : {}),
    ...(agent === undefined ? {} : { invoker: agent }),
    ...(purpose === undefined ? {} : { purpose }),
    ...(codes === undefined ? {} : { codes }),
    ...(grant === undefined
      ? {}
      : {
          capability: grant.capabilityId,
          grant: grant.grant,
          operation: grant.operation,
          skill: grant.capability,
        }),
  };
}

/** Returns a ledger event about an approval. */
export function approvalEvent(
  { id, subject, cause }: Pick<Approval, "id" | "subject" | "cause">,
  change: string,
  now: number,
  { principal = subject.principal, operator }: Actor = {},
): LedgerEvent {
  const { agent, purpose, asked } = subject;
  const [only, ...more] = asked;
  return {
    kind: "approval",
    at: new Date(now).toISOString(),
    change,
    record: id,
    decision: /denied|expired|cancelled/.test(change) ? "refused" : "allowed",
    invoker: agent.id,
    ...(principal === undefined ? {} : { principal }),
    ...(operator === true ? { operator } : {}),
    ...(purpose === undefined ? {} : { purpose }),
    ...(cause === undefined ? {} : { codes: [cause] }),
    ...(only !== undefined && more.length === 0 ? { grant: only.grant } : {}),
  };
}
