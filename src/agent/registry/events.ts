import type { LedgerEvent } from "../ledger.js";
import type { AgentGrant } from "./records.js";

/** What an event of the registry is about. */
export interface Concerned {
  /** The id of the record. */
  readonly record?: string | undefined;
  readonly principal?: string | undefined;
  /** Whether an operator of this installation did it. */
  readonly operator?: boolean | undefined;
  /** The agent's id. */
  readonly agent?: string | undefined;
  readonly grant?: AgentGrant | undefined;
  readonly purpose?: string | undefined;
  /** Why it was refused; absent for what was done. */
  readonly codes?: readonly string[] | undefined;
}

/**
 * An event of the registry, for the ledger.
 *
 * @param change - Such as `agent.activated`.
 * @param now - Milliseconds since 1970.
 */
export function registryEvent(change: string, now: number, about: Concerned): LedgerEvent {
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
    ...{ kind: "registration", at: new Date(now).toISOString(), change },
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
          ...{ capability: grant.capabilityId, grant: grant.grant, operation: grant.operation },
          skill: grant.capability,
        }),
  };
}
