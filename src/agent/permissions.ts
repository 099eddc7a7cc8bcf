import type { AgentContext } from "./agent-options.js";
import type { Presenter } from "./caller.js";
import { forInvoker, type Permission } from "./policy.js";

/**
 * What the policy allows now to the agent that the capability was issued to, in any hands. For one that the
 * ledger does not know, no rule that names invokers counts.
 *
 * @throws StorageError if the ledger cannot be read.
 */
export async function permissionsOf(
  capability: string,
  principal: string,
  grant: string,
  { policy, ledger }: Pick<AgentContext, "policy" | "ledger">,
): Promise<readonly Permission[]> {
  const all = await policy.permissions(principal, grant);
  if (all.every(({ invokers }) => invokers === undefined)) return all;
  return forInvoker(all, (await ledger.issued(capability))?.invoker);
}

/** What the policy allows now, under a grant, to a caller that asks itself; nothing to an unknown principal. */
export async function ownPermissions(
  { principal, invoker }: Presenter,
  grant: string,
  { policy }: Pick<AgentContext, "policy">,
): Promise<readonly Permission[]> {
  if (principal === undefined) return [];
  return forInvoker(await policy.permissions(principal, grant), invoker);
}
