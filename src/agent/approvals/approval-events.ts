import type { LedgerEvent } from "../ledger.js";
import type { Approval } from "./approval.js";

/** Who did something: a user, the agent, its host, or an operator of this installation. */
export interface Actor {
  readonly principal?: string | undefined;
  readonly agent?: string | undefined;
  readonly host?: string | undefined;
  readonly operator?: boolean | undefined;
}

/** An event of an approval, as it stands in the ledger. */
export function approvalEvent(
  { id, subject }: Pick<Approval, "id" | "subject">,
  change: string,
  now: number,
  { principal = subject.principal, operator }: Actor = {},
): LedgerEvent {
  const { agent, purpose, asked } = subject;
  const [only, ...more] = asked;
  return {
    ...{ kind: "approval", at: new Date(now).toISOString(), change, record: id },
    decision: /denied|expired|cancelled/.test(change) ? "refused" : "allowed",
    invoker: agent.id,
    ...(principal === undefined ? {} : { principal }),
    ...(operator === true ? { operator } : {}),
    ...(purpose === undefined ? {} : { purpose }),
    ...(only !== undefined && more.length === 0 ? { grant: only.grant } : {}),
  };
}
